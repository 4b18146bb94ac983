#include "simulate/fidelity.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/rng.h"
#include "simulate/write_effects.h"

namespace hone {
namespace {

constexpr size_t kMostNumbers = 20, kMostTexts = 50, kBins = 10;
constexpr int kResamples = 32;

// One call, as it was and as it was played.
struct Pair {
  const RecordedCall* recorded = nullptr;
  CheckedPlay played;
  bool changed_by_write = false;
};

// The leaves of a value by path; with `places`, of each place of an array, else of all alike.
void Leaves(const Json& value, const std::string& path, bool places,
            std::vector<std::pair<std::string, Json>>* out) {
  if (value.is_object()) {
    for (const auto& [name, member] : value.AsObject()) {
      Leaves(member, path.empty() ? name : path + "." + name, places, out);
    }
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.AsArray().size(); ++i) {
      Leaves(value.AsArray()[i], places ? fmt::format("{}[{}]", path, i) : path + "[]", places,
             out);
    }
  } else {
    out->emplace_back(path, value);
  }
}

std::map<std::string, Json> LeafMap(const std::string& content) {
  std::vector<std::pair<std::string, Json>> leaves;
  Leaves(ValueOf(content), "", true, &leaves);
  return {leaves.begin(), leaves.end()};
}

// The answer to the same call before its writes, where that is known.
const PlayedResult* Before(const RecordedCall& call) {
  if (call.writes.empty() || call.known.empty()) return nullptr;
  const KnownResult& last = call.known.back();
  return last.tool == call.tool && last.arguments == call.arguments ? &last.answer : nullptr;
}

bool ShowsWhatChanged(const RecordedCall& call, const PlayedResult& played) {
  const auto before = LeafMap(Before(call)->content), after = LeafMap(call.answer.content),
             shown = LeafMap(played.content);
  for (const auto& [path, value] : after) {
    const auto old = before.find(path);
    if (old != before.end() && old->second == value) continue;
    const auto now = shown.find(path);
    if (now == shown.end() || now->second != value) return false;
  }
  return true;
}

double ShareOfLeaves(const std::string& recorded, const std::string& played) {
  const auto real = LeafMap(recorded), made = LeafMap(played);
  std::map<std::string, bool> all;
  for (const auto& [path, value] : real) {
    const auto found = made.find(path);
    all[path] = found != made.end() && found->second == value;
  }
  for (const auto& [path, value] : made) all.emplace(path, false);
  if (all.empty()) return 1;
  double right = 0;
  for (const auto& [path, equal] : all) right += equal;
  return right / static_cast<double>(all.size());
}

// Of all pairs of answers to different arguments, the share that is the same.
double CollisionRate(const std::vector<std::pair<std::string, std::string>>& answers) {
  auto pairs = [](const std::map<std::string, int64_t>& counts) {
    double sum = 0;
    for (const auto& [key, count] : counts) {
      sum += static_cast<double>(count) * static_cast<double>(count - 1) / 2;
    }
    return sum;
  };
  std::map<std::string, int64_t> contents, arguments, both;
  for (const auto& [asked, content] : answers) {
    ++contents[content];
    ++arguments[asked];
    ++both[asked + "\n" + content];
  }
  const auto count = static_cast<double>(answers.size());
  const double different = count * (count - 1) / 2 - pairs(arguments);
  return different <= 0 ? 0 : (pairs(contents) - pairs(both)) / different;
}

// Into which drawer a value of a field goes, as the record's values suggest.
class Drawers {
 public:
  explicit Drawers(const std::vector<Json>& recorded) {
    std::map<std::string, int64_t> different;
    bool numbers = !recorded.empty();
    for (const Json& value : recorded) {
      ++different[DumpJson(value)];
      numbers &= Number(value).has_value();
    }
    numbers_ = numbers && different.size() > kMostNumbers;
    lengths_ = !numbers && different.size() > kMostTexts;
    if (!numbers_) return;
    std::vector<double> sorted;
    for (const Json& value : recorded) sorted.push_back(*Number(value));
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 1; i < kBins; ++i) edges_.push_back(sorted[i * sorted.size() / kBins]);
  }

  std::string Of(const Json& value) const {
    if (numbers_) {
      const std::optional<double> number = Number(value);
      if (!number) return "no number";
      return std::to_string(std::upper_bound(edges_.begin(), edges_.end(), *number) -
                            edges_.begin());
    }
    const std::string text = DumpJson(value);
    return lengths_ ? std::to_string(text.size()) : text;
  }

 private:
  // Digits in quotes are a number too: a phone, a code.
  static std::optional<double> Number(const Json& value) {
    if (value.is_number()) return value.AsDouble();
    if (!value.is_string() || value.AsString().empty() || value.AsString().size() > 15)
      return std::nullopt;
    double number = 0;
    for (const char c : value.AsString()) {
      if (c < '0' || c > '9') return std::nullopt;
      number = number * 10 + (c - '0');
    }
    return number;
  }

  bool numbers_ = false, lengths_ = false;
  std::vector<double> edges_;
};

// Drawers by number, as they come up.
class DrawerNumbers {
 public:
  size_t NumberOf(const std::string& drawer) {
    return numbers_.emplace(drawer, numbers_.size()).first->second;
  }
  size_t size() const { return numbers_.size(); }

 private:
  std::map<std::string, size_t> numbers_;
};

double TotalVariation(const std::vector<size_t>& a, const std::vector<size_t>& b, size_t drawers) {
  if (a.empty() || b.empty()) return a.size() == b.size() ? 0 : 1;
  std::vector<double> difference(drawers, 0);
  for (const size_t drawer : a) difference[drawer] += 1 / static_cast<double>(a.size());
  for (const size_t drawer : b) difference[drawer] -= 1 / static_cast<double>(b.size());
  double sum = 0;
  for (const double part : difference) sum += std::abs(part);
  return sum / 2;
}

// The mean variation between two samples of the record, of its size and of the other's. The two
// halves of a record would be one such pair, and tell little: a mean of many does not jump about.
double Noise(const std::vector<size_t>& recorded, size_t others, size_t drawers, Rng rng) {
  if (recorded.empty() || others == 0) return 0;
  double sum = 0;
  for (int i = 0; i < kResamples; ++i) {
    std::vector<size_t> a(recorded.size()), b(others);
    for (size_t& drawn : a) drawn = recorded[rng.Below(recorded.size())];
    for (size_t& drawn : b) drawn = recorded[rng.Below(recorded.size())];
    sum += TotalVariation(a, b, drawers);
  }
  return sum / kResamples;
}

std::vector<FieldFidelity> FieldsOf(const std::vector<const Pair*>& pairs) {
  struct Values {
    std::vector<Json> recorded, played;
    int64_t equal = 0;
  };
  std::map<std::string, Values> fields;
  for (const Pair* pair : pairs) {
    std::map<std::string, std::vector<Json>> recorded, played;
    auto gather = [](const PlayedResult& answer, std::map<std::string, std::vector<Json>>* out) {
      std::vector<std::pair<std::string, Json>> leaves;
      if (answer.status == CallStatus::kOk) Leaves(ValueOf(answer.content), "", false, &leaves);
      for (auto& [path, value] : leaves) (*out)[path].push_back(std::move(value));
    };
    gather(pair->recorded->answer, &recorded);
    if (pair->played.fault.empty()) gather(pair->played.answer, &played);
    for (const auto& [path, values] : recorded) {
      fields[path].equal += played[path] == values;
      std::vector<Json>& all = fields[path].recorded;
      all.insert(all.end(), values.begin(), values.end());
    }
    for (const auto& [path, values] : played) {
      std::vector<Json>& all = fields[path].played;
      all.insert(all.end(), values.begin(), values.end());
    }
  }
  std::vector<FieldFidelity> out;
  for (const auto& [path, values] : fields) {
    const Drawers drawers(values.recorded);
    DrawerNumbers numbers;
    std::vector<size_t> recorded, played;
    for (const Json& value : values.recorded) {
      recorded.push_back(numbers.NumberOf(drawers.Of(value)));
    }
    for (const Json& value : values.played) played.push_back(numbers.NumberOf(drawers.Of(value)));
    out.push_back({.field = path,
                   .values = static_cast<int64_t>(recorded.size()),
                   .equal = static_cast<double>(values.equal) / static_cast<double>(pairs.size()),
                   .total_variation = TotalVariation(recorded, played, numbers.size()),
                   .noise = Noise(recorded, played.size(), numbers.size(),
                                  Rng(0).Split("noise").Split(path))});
  }
  return out;
}

ToolFidelity Summary(const std::string& name, const std::vector<const Pair*>& pairs) {
  ToolFidelity out{.tool = name, .calls = static_cast<int64_t>(pairs.size())};
  double exact = 0, fields = 0, first_valid = 0, valid = 0, agree = 0, refused = 0,
         played_refused = 0;
  std::vector<std::pair<std::string, std::string>> recorded_answers, played_answers;
  for (const Pair* pair : pairs) {
    const RecordedCall& call = *pair->recorded;
    const CheckedPlay& play = pair->played;
    const bool real_error = call.answer.status != CallStatus::kOk;
    refused += real_error;
    const std::string asked = DumpJson(call.arguments, JsonStyle::kCanonical);
    if (!real_error) recorded_answers.emplace_back(asked, call.answer.content);
    out.reads_after_writes += pair->changed_by_write;
    first_valid += play.invalid == 0 && play.fault.empty();
    if (!play.fault.empty()) {
      ++out.faults;
      continue;
    }
    valid += 1;
    const bool made_error = play.answer.status != CallStatus::kOk;
    played_refused += made_error;
    agree += real_error == made_error;
    if (!made_error) played_answers.emplace_back(asked, play.answer.content);
    exact +=
        real_error == made_error && ValueOf(call.answer.content) == ValueOf(play.answer.content);
    if (real_error == made_error) fields += ShareOfLeaves(call.answer.content, play.answer.content);
    if (pair->changed_by_write && !made_error) {
      out.reads_after_writes_right += ShowsWhatChanged(call, play.answer);
    }
  }
  const auto count = static_cast<double>(std::max<int64_t>(out.calls, 1));
  out.exact = exact / count;
  out.fields = fields / count;
  out.schema_valid = first_valid / count;
  out.answered_valid = valid / count;
  out.error_agreement = agree / count;
  out.recorded_errors = refused / count;
  out.simulated_errors = played_refused / count;
  out.recorded_collisions = CollisionRate(recorded_answers);
  out.simulated_collisions = CollisionRate(played_answers);
  return out;
}

Json ToolJson(const ToolFidelity& tool) {
  Json::Array fields;
  for (const FieldFidelity& field : tool.by_field) {
    fields.push_back(Json::Of({{"field", field.field},
                               {"values", field.values},
                               {"equal", field.equal},
                               {"total_variation", field.total_variation},
                               {"noise", field.noise}}));
  }
  return Json::Of({{"tool", tool.tool},
                   {"calls", tool.calls},
                   {"faults", tool.faults},
                   {"exact", tool.exact},
                   {"fields", tool.fields},
                   {"first_try_valid", tool.schema_valid},
                   {"valid", tool.answered_valid},
                   {"error_agreement", tool.error_agreement},
                   {"recorded_errors", tool.recorded_errors},
                   {"simulated_errors", tool.simulated_errors},
                   {"recorded_collisions", tool.recorded_collisions},
                   {"simulated_collisions", tool.simulated_collisions},
                   {"reads_after_writes", tool.reads_after_writes},
                   {"reads_after_writes_right", tool.reads_after_writes_right},
                   {"by_field", std::move(fields)}});
}

std::vector<Pair> PlayAll(const JournaledCalls& held_out, const Toolbox& toolbox, Player* player,
                          const CheckOptions& options, int threads) {
  std::vector<Pair> pairs;
  for (const RecordedCall& call : held_out.calls) {
    const Toolbox::Tool* tool = toolbox.Find(call.tool);
    if (tool == nullptr || tool->spec.computable) continue;
    const PlayedResult* before = Before(call);
    pairs.push_back({.recorded = &call,
                     .changed_by_write = tool->spec.effect == Effect::kReads && before != nullptr &&
                                         before->status == CallStatus::kOk &&
                                         call.answer.status == CallStatus::kOk &&
                                         *before != call.answer});
  }
  AnswerChecker checker;
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> workers;
  for (int t = 0; t < std::max(threads, 1); ++t) {
    workers.emplace_back([&] {
      for (size_t i = next++; i < pairs.size(); i = next++) {
        const RecordedCall& call = *pairs[i].recorded;
        const std::string key = player->version() + QuestionHash(call.environment_seed, call.tool,
                                                                 call.arguments, call.writes);
        pairs[i].played = PlayChecked(player,
                                      {.spec = &toolbox.Find(call.tool)->spec,
                                       .arguments = call.arguments,
                                       .writes = call.writes,
                                       .known = call.known},
                                      key, options, &checker);
      }
    });
  }
  workers.clear();
  return pairs;
}

}  // namespace

Json FidelityReport::ToJson() const {
  Json::Array list;
  for (const ToolFidelity& tool : tools) list.push_back(ToolJson(tool));
  return Json::Of({{"tools", std::move(list)}, {"all", ToolJson(all)}});
}

std::string FidelityReport::Table() const {
  std::string out =
      fmt::format("{:<18}{:>7}{:>8}{:>8}{:>8}{:>8}{:>9}{:>13}{:>12}\n", "tool", "calls", "exact",
                  "fields", "valid", "faults", "errors=", "collisions", "after write");
  auto line = [&](const ToolFidelity& tool) {
    out += fmt::format(
        "{:<18}{:>7}{:>7.1f}%{:>7.1f}%{:>7.1f}%{:>8}{:>8.1f}%{:>6.3f}/{:<6.3f}{:>12}\n", tool.tool,
        tool.calls, 100 * tool.exact, 100 * tool.fields, 100 * tool.answered_valid, tool.faults,
        100 * tool.error_agreement, tool.simulated_collisions, tool.recorded_collisions,
        tool.reads_after_writes == 0
            ? std::string("-")
            : fmt::format("{}/{}", tool.reads_after_writes_right, tool.reads_after_writes));
  };
  for (const ToolFidelity& tool : tools) line(tool);
  if (tools.size() > 1) line(all);
  out += fmt::format("\n{:<36}{:>8}{:>8}{:>12}{:>8}\n", "field", "values", "equal", "variation",
                     "noise");
  for (const ToolFidelity& tool : tools) {
    for (const FieldFidelity& field : tool.by_field) {
      out += fmt::format("{:<36}{:>8}{:>7.1f}%{:>12.3f}{:>8.3f}\n", tool.tool + " " + field.field,
                         field.values, 100 * field.equal, field.total_variation, field.noise);
    }
  }
  return out;
}

FidelityReport MeasureFidelity(const JournaledCalls& held_out, const Toolbox& toolbox,
                               Player* player, const CheckOptions& options, int threads) {
  const std::vector<Pair> pairs = PlayAll(held_out, toolbox, player, options, threads);
  std::map<std::string, std::vector<const Pair*>> by_tool;
  std::vector<const Pair*> all;
  for (const Pair& pair : pairs) {
    by_tool[pair.recorded->tool].push_back(&pair);
    all.push_back(&pair);
  }
  FidelityReport report;
  for (const auto& [name, own] : by_tool) {
    report.tools.push_back(Summary(name, own));
    report.tools.back().by_field = FieldsOf(own);
  }
  report.all = Summary("all", all);
  report.all.recorded_collisions = report.all.simulated_collisions = 0;
  return report;
}

}  // namespace hone
