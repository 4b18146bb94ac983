#include "app/views/data_view.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "data/conversation_mixture.h"

namespace hone {
namespace {

Json SpreadJson(const Spread& spread) {
  return Json::Of(
      {{"sum", spread.sum}, {"median", spread.median}, {"p90", spread.high}, {"max", spread.most}});
}

std::string SpreadText(const Spread& spread) {
  return fmt::format("{} in all; {} in the middle, {} for nine of ten, {} at most", spread.sum,
                     spread.median, spread.high, spread.most);
}

}  // namespace

Spread Spread::Of(std::vector<int64_t> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  Spread spread;
  for (const int64_t value : values) spread.sum += value;
  spread.median = values[values.size() / 2];
  spread.high = values[std::min(values.size() - 1, values.size() * 9 / 10)];
  spread.most = values.back();
  return spread;
}

DataStatistics StatisticsOf(const ConversationFile& file) {
  DataStatistics statistics{
      .rows = std::ssize(file.rows), .shapes = file.shapes, .problems = std::ssize(file.problems)};
  std::set<std::string> seen;
  std::vector<int64_t> turns, characters;
  for (const ConversationRow& row : file.rows) {
    if (!seen.insert(NameOf(row)).second) ++statistics.repeated;
    int64_t spoken = 0, length = std::ssize(row.text);
    for (size_t i = 0; i < row.conversation.messages.size(); ++i) {
      const Message& message = row.conversation.messages[i];
      length += std::ssize(message.content);
      for (const MessageCall& call : message.calls) {
        length += std::ssize(DumpJson(call.arguments));
        ++statistics.calls[call.name];
      }
      if (message.role != Role::kAssistant) continue;
      ++spoken;
      if (row.imitated[i]) ++statistics.imitated;
      if (!message.calls.empty()) ++statistics.calling;
      if (message.calls.size() > 1) ++statistics.parallel;
      if (message.reasoning && !message.reasoning->empty()) ++statistics.thoughtful;
    }
    turns.push_back(spoken);
    characters.push_back(length);
  }
  statistics.turns = Spread::Of(std::move(turns));
  statistics.characters = Spread::Of(std::move(characters));
  return statistics;
}

Json DataJson(const DataStatistics& statistics) {
  Json shapes = Json::Object(), calls = Json::Object();
  for (const auto& [shape, count] : statistics.shapes) shapes.Set(RowShapeName(shape), count);
  for (const auto& [name, count] : statistics.calls) calls.Set(name, count);
  Json json = Json::Of({{"rows", statistics.rows},
                        {"problems", statistics.problems},
                        {"repeated", statistics.repeated},
                        {"shapes", std::move(shapes)},
                        {"turns", SpreadJson(statistics.turns)},
                        {"characters", SpreadJson(statistics.characters)},
                        {"imitated_turns", statistics.imitated},
                        {"calling_turns", statistics.calling},
                        {"parallel_turns", statistics.parallel},
                        {"thoughtful_turns", statistics.thoughtful},
                        {"calls", std::move(calls)}});
  if (statistics.tokens) json.Set("tokens", SpreadJson(*statistics.tokens));
  return json;
}

std::string DataView(const DataStatistics& statistics, const Terminal& terminal) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{} {}\n", terminal.Bold(Padded(name, 15)), value);
  };
  std::string shapes;
  for (const auto& [shape, count] : statistics.shapes) {
    shapes += fmt::format("{}{} {}", shapes.empty() ? "" : ", ", count, RowShapeName(shape));
  }
  line("conversations", fmt::format("{} ({})", statistics.rows, shapes));
  if (statistics.problems > 0) {
    line("problems",
         terminal.Red(fmt::format("{}", statistics.problems)) + "; hone data check lists them");
  }
  if (statistics.repeated > 0) {
    line("repeated", fmt::format("{} say what an earlier one says", statistics.repeated));
  }
  line("turns", SpreadText(statistics.turns));
  line("", fmt::format("{} are imitated; {} call tools, {} of them several at once; {} think",
                       statistics.imitated, statistics.calling, statistics.parallel,
                       statistics.thoughtful));
  line("characters", SpreadText(statistics.characters));
  if (statistics.tokens) line("tokens", SpreadText(*statistics.tokens));
  std::vector<std::pair<int64_t, std::string>> tools;
  for (const auto& [name, count] : statistics.calls) tools.emplace_back(-count, name);
  std::sort(tools.begin(), tools.end());
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < std::min(tools.size(), kShown); ++i) {
    line(i == 0 ? "calls" : "",
         fmt::format("{:>7}  {}", -tools[i].first, Printable(tools[i].second)));
  }
  if (tools.size() > kShown) line("", fmt::format("and {} tools more", tools.size() - kShown));
  return text;
}

}  // namespace hone
