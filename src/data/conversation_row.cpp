#include "data/conversation_row.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "tools/tool_spec.h"

namespace hone {
namespace {

class RowReader {
 public:
  explicit RowReader(const Json& row) : row_(row) {}

  Result<ConversationRow> Read() {
    HONE_ASSIGN_OR_RETURN(read_.conversation, ConversationFromJson(row_));
    messages_ = row_.Find("messages")->AsArray();
    ReadTools();
    ReadWeights();
    ReadArguments();
    PairResults();
    CheckTurns();
    if (!problems_.empty()) {
      return Error(ErrorCode::kInvalidArgument, fmt::format("{}", fmt::join(problems_, "\n")));
    }
    Cut();
    return std::move(read_);
  }

 private:
  std::vector<Message>& said() { return read_.conversation.messages; }
  void Add(std::string where, std::string_view problem) {
    problems_.push_back(fmt::format("{}: {}", where, problem));
  }
  static std::string Place(size_t message) { return fmt::format("messages[{}]", message); }
  static std::string Place(size_t message, size_t call) {
    return fmt::format("messages[{}].tool_calls[{}]", message, call);
  }

  void ReadTools() {
    const Json* tools = row_.Find("tools");
    if (tools == nullptr) return;
    const Result<std::vector<ToolSpec>> specs = ToolSpecsFromJson(*tools);
    if (!specs.ok()) return Add("tools", specs.error().message());
    for (const ToolSpec& spec : *specs) {
      Result<ArgumentChecker> checker = ArgumentChecker::For(spec);
      if (!checker.ok()) {
        Add("tools", fmt::format("{}: {}", spec.name, checker.error().message()));
        continue;
      }
      tools_.emplace(spec.name, std::move(*checker));
    }
  }

  void ReadWeights() {
    for (size_t i = 0; i < said().size(); ++i) {
      const bool assistant = said()[i].role == Role::kAssistant;
      const Json* weight = messages_[i].Find("weight");
      const bool given = weight != nullptr && !weight->is_null();
      if (given && !(weight->is_number() && (weight->AsDouble() == 0 || weight->AsDouble() == 1))) {
        Add(Place(i) + ".weight", "is 0 (read, not imitated) or 1");
      }
      read_.imitated.push_back(assistant && !(given && *weight == Json(0)) &&
                               !(given && weight->is_number() && weight->AsDouble() == 0));
    }
  }

  // Arguments as text are read, and held against the tool.
  void ReadArguments() {
    for (size_t i = 0; i < said().size(); ++i) {
      for (size_t c = 0; c < said()[i].calls.size(); ++c) {
        MessageCall& call = said()[i].calls[c];
        if (call.arguments.is_string()) {
          Result<Json> parsed = ParseJson(call.arguments.AsString());
          if (!parsed.ok() || !parsed->is_object()) {
            Add(Place(i, c), "the arguments are text that is no JSON object");
            continue;
          }
          call.arguments = std::move(*parsed);
        }
        CheckCall(Place(i, c), call);
      }
    }
  }

  void CheckCall(const std::string& where, const MessageCall& call) {
    if (tools_.empty()) return;
    const auto tool = tools_.find(call.name);
    if (tool == tools_.end()) {
      std::vector<std::string> names;
      for (const auto& [name, checker] : tools_) names.push_back(name);
      return Add(where,
                 fmt::format("there is no tool \"{}\"{}", call.name, DidYouMean(call.name, names)));
    }
    if (const auto problem = tool->second.Problem(call.arguments)) {
      Add(where, fmt::format("{}: {}", call.name, *problem));
    }
  }

  // The id by which a result names its call; nothing for one that names none.
  std::optional<std::string> IdOf(const Json& json, const char* key) const {
    const Json* id = json.Find(key);
    if (id == nullptr || !id->is_string() || id->AsString().empty()) return std::nullopt;
    return id->AsString();
  }

  void PairResults() {
    for (size_t i = 0; i < said().size(); ++i) {
      if (said()[i].role == Role::kTool) {
        Add(Place(i), "is the result of no call before it");
        continue;
      }
      size_t end = i + 1;
      while (end < said().size() && said()[end].role == Role::kTool) ++end;
      const size_t calls = said()[i].calls.size(), results = end - i - 1;
      if (calls > 0) {
        if (results == calls) PairOne(i);
        // Calls at the very end need no results: nobody goes on from there.
        if (results != calls && !(results == 0 && end == said().size())) {
          Add(Place(i),
              fmt::format("has {} {}, and {} {} behind it", calls, calls == 1 ? "call" : "calls",
                          results, results == 1 ? "result stands" : "results stand"));
        }
        i = end - 1;
      }
    }
  }

  // The results of messages[turn], which has as many calls.
  void PairOne(size_t turn) {
    const Json* written = messages_[turn].Find("tool_calls");
    const size_t count = said()[turn].calls.size();
    std::map<std::string, size_t> by_id;
    for (size_t c = 0; c < count; ++c) {
      if (const auto id = IdOf(written->AsArray()[c], "id")) by_id.emplace(*id, c);
    }
    std::vector<size_t> call_of(count);
    std::vector<bool> answered(count, false);
    for (size_t r = 0; r < count; ++r) {
      const size_t place = turn + 1 + r;
      const auto id = IdOf(messages_[place], "tool_call_id");
      call_of[r] = r;
      if (id && !by_id.empty()) {
        const auto named = by_id.find(*id);
        if (named == by_id.end()) {
          return Add(Place(place), fmt::format("tool_call_id \"{}\" is of no call before it", *id));
        }
        call_of[r] = named->second;
      }
      if (answered[call_of[r]])
        return Add(Place(place), "answers a call that has a result already");
      answered[call_of[r]] = true;
      const std::string& name = said()[turn].calls[call_of[r]].name;
      std::string& told = said()[place].name;
      if (!told.empty() && told != name) {
        return Add(Place(place),
                   fmt::format("is a result of \"{}\", but the call is to \"{}\"", told, name));
      }
      told = name;
    }
    std::vector<Message> ordered(count);
    for (size_t r = 0; r < count; ++r) ordered[call_of[r]] = said()[turn + 1 + r];
    std::move(ordered.begin(), ordered.end(), said().begin() + static_cast<long>(turn) + 1);
  }

  void CheckTurns() {
    for (size_t i = 0; i < said().size(); ++i) {
      const Message& message = said()[i];
      if (read_.imitated[i] && message.calls.empty() && message.content.empty()) {
        Add(Place(i), "an assistant's turn that neither says nor calls anything");
      }
    }
    if (std::none_of(read_.imitated.begin(), read_.imitated.end(), [](bool one) { return one; })) {
      Add("messages", "there is no assistant's turn to be imitated");
    }
  }

  // Nothing is learned from what follows the last turn that is imitated.
  void Cut() {
    size_t end = read_.imitated.size();
    while (end > 0 && !read_.imitated[end - 1]) --end;
    said().resize(end);
    read_.imitated.resize(end);
  }

  const Json& row_;
  Json::Array messages_;
  ConversationRow read_;
  std::map<std::string, ArgumentChecker> tools_;
  std::vector<std::string> problems_;
};

}  // namespace

Result<ConversationRow> RowFromMessages(const Json& row) { return RowReader(row).Read(); }

}  // namespace hone
