#include "data/preference_file.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/bytes/byte_order_mark.h"
#include "base/json_lines.h"
#include "base/strings.h"
#include "data/conversation_shapes.h"

namespace hone {
namespace {

bool IsFrom(const Json& message, std::string_view role) {
  const Json* found = message.Find("role");
  return found != nullptr && found->is_string() && found->AsString() == role;
}

// A text is one message.
Result<Json::Array> MessagesIn(const Json& row, std::string_view key, std::string_view role) {
  const Json* found = row.Find(key);
  if (found == nullptr) return Json::Array();
  if (found->is_array()) return found->AsArray();
  if (found->is_string()) {
    return Json::Array{Json::Of({{"role", role}, {"content", found->AsString()}})};
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{}: is neither a text nor a list of messages", key));
}

// How much two conversations begin with alike, up to a turn of the assistant in both.
size_t CommonBeginning(const Json::Array& a, const Json::Array& b) {
  const size_t shorter = std::min(a.size(), b.size());
  size_t common = 0;
  while (common < shorter && a[common] == b[common]) ++common;
  const auto goes_on = [&](size_t at) {
    return at < shorter && IsFrom(a[at], "assistant") && IsFrom(b[at], "assistant");
  };
  while (common > 0 && !goes_on(common)) --common;
  return common;
}

Result<ConversationRow> Continued(const Json::Array& prompt, const Json::Array& continuation,
                                  const Json* tools) {
  Json::Array messages;
  for (const Json& message : prompt) {
    messages.push_back(message);
    if (IsFrom(message, "assistant")) messages.back().Set("weight", 0);
  }
  messages.insert(messages.end(), continuation.begin(), continuation.end());
  Json row = Json::Of({{"messages", std::move(messages)}});
  if (tools != nullptr && !tools->is_null()) row.Set("tools", *tools);
  HONE_ASSIGN_OR_RETURN(const ShapedRow shaped, ToMessages(row));
  return RowFromMessages(shaped.row);
}

Result<PreferenceRow> RowOf(const Json& json) {
  const auto bad = [](std::string problem) {
    return Error(ErrorCode::kInvalidArgument, std::move(problem));
  };
  if (!json.is_object()) return bad("is no object");
  for (const char* key : {"chosen", "rejected"}) {
    if (json.Find(key) == nullptr) return bad(fmt::format("{}: is missing", key));
  }
  HONE_ASSIGN_OR_RETURN(Json::Array prompt, MessagesIn(json, "prompt", "user"));
  HONE_ASSIGN_OR_RETURN(Json::Array chosen, MessagesIn(json, "chosen", "assistant"));
  HONE_ASSIGN_OR_RETURN(Json::Array rejected, MessagesIn(json, "rejected", "assistant"));
  if (chosen == rejected) return bad("chosen and rejected say the same");
  if (prompt.empty()) {
    const auto common = static_cast<std::ptrdiff_t>(CommonBeginning(chosen, rejected));
    if (common == 0) return bad("prompt: is missing, and both begin otherwise");
    prompt.assign(chosen.begin(), chosen.begin() + common);
    chosen.erase(chosen.begin(), chosen.begin() + common);
    rejected.erase(rejected.begin(), rejected.begin() + common);
  }
  const Json* tools = json.Find("tools");
  PreferenceRow row;
  for (const auto& [key, messages, out] : {std::tuple("chosen", &chosen, &row.chosen),
                                           std::tuple("rejected", &rejected, &row.rejected)}) {
    Result<ConversationRow> read = Continued(prompt, *messages, tools);
    if (!read.ok()) return bad(fmt::format("{}: {}", key, read.error().message()));
    *out = *std::move(read);
  }
  return row;
}

int64_t CallsIn(const Json& conversation) {
  int64_t calls = 0;
  for (const Json& message : conversation.Find("messages")->AsArray()) {
    const Json* made = message.Find("tool_calls");
    if (made != nullptr && made->is_array()) calls += std::ssize(made->AsArray());
  }
  return calls;
}

Json PairOf(const Json& chosen, const Json& rejected, std::string_view because) {
  Json::Array good = chosen.Find("messages")->AsArray(), bad = rejected.Find("messages")->AsArray();
  const auto common = static_cast<std::ptrdiff_t>(CommonBeginning(good, bad));
  Json row = Json::Of({{"prompt", Json::Array(good.begin(), good.begin() + common)},
                       {"chosen", Json::Array(good.begin() + common, good.end())},
                       {"rejected", Json::Array(bad.begin() + common, bad.end())},
                       {"because", because}});
  if (const Json* tools = chosen.Find("tools")) row.Set("tools", *tools);
  return row;
}

// What can be compared of a task.
struct Candidate {
  const Json* conversation = nullptr;
  bool right = false;
  int64_t calls = 0, tokens = 0, sample = 0;

  auto Order() const { return std::tuple(!right, calls, tokens, sample); }
};

void AddPairs(std::vector<Candidate> candidates, int64_t most, std::vector<Json>* pairs) {
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.Order() < b.Order(); });
  if (candidates.empty() || !candidates[0].right) return;
  const Candidate& best = candidates[0];
  int64_t made = 0;
  const auto add = [&](const Candidate& worse, std::string_view because) {
    if (made >= most) return;
    Json pair = PairOf(*best.conversation, *worse.conversation, because);
    if (pair.Find("prompt")->AsArray().empty()) return;  // they were asked otherwise
    pairs->push_back(std::move(pair));
    ++made;
  };
  for (const Candidate& one : candidates) {
    if (!one.right) add(one, "right");
  }
  for (auto one = candidates.rbegin(); one != candidates.rend(); ++one) {
    if (one->right && one->calls > best.calls) add(*one, "efficient");
  }
}

}  // namespace

Result<std::vector<PreferenceRow>> ReadPreferences(std::string_view text, std::string_view name) {
  std::vector<PreferenceRow> rows;
  std::string problems;
  const auto add = [&](int64_t line, const Result<Json>& json) {
    Result<PreferenceRow> row = json.ok() ? RowOf(*json) : Result<PreferenceRow>(json.error());
    if (row.ok()) {
      rows.push_back(*std::move(row));
      return;
    }
    problems +=
        fmt::format("{}{}:{}: {}", problems.empty() ? "" : "\n", name, line, row.error().message());
  };
  text = WithoutByteOrderMark(text);
  if (TrimLeft(text).starts_with('[')) {
    HONE_ASSIGN_OR_RETURN(const Json array, ParseJson(text));
    int64_t number = 0;
    for (const Json& row : array.AsArray()) add(++number, row);
  } else {
    ForEachJsonLine(text, add);
  }
  if (rows.empty() && problems.empty())
    problems = fmt::format("{}: there are no pairs in it", name);
  if (!problems.empty()) return Error(ErrorCode::kInvalidArgument, std::move(problems));
  return rows;
}

std::vector<Json> PreferencePairsOf(const std::vector<PlayedAttempt>& attempts,
                                    const AttemptChoice& choice, int64_t most_per_task) {
  std::map<int64_t, std::vector<Candidate>> tasks;
  std::set<std::pair<int64_t, std::string>> seen;
  for (const PlayedAttempt& attempt : attempts) {
    if (attempt.conversation.is_null()) continue;
    if (!seen.emplace(attempt.task, DumpJson(attempt.conversation)).second) continue;
    tasks[attempt.task].push_back({.conversation = &attempt.conversation,
                                   .right = IsWanted(attempt, choice),
                                   .calls = CallsIn(attempt.conversation),
                                   .tokens = attempt.tokens,
                                   .sample = attempt.sample});
  }
  std::vector<Json> pairs;
  for (auto& [task, candidates] : tasks) AddPairs(std::move(candidates), most_per_task, &pairs);
  return pairs;
}

}  // namespace hone
