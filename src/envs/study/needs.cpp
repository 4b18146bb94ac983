#include "envs/study/needs.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "envs/data_env.h"
#include "tools/builtin/builtin.h"
#include "tools/builtin/search_index.h"

namespace hone::study {
namespace {

constexpr std::pair<std::string_view, Need::Kind> kNeeds[] = {{"document", Need::Kind::kDocument},
                                                              {"nothing", Need::Kind::kNothing},
                                                              {"value", Need::Kind::kValue}};

// Whether one of the lines is a passage of this title.
bool HasPassage(std::string_view lines, std::string_view title) {
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    if (line.starts_with(title) && line.substr(title.size()).starts_with(": ")) return true;
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return false;
}

bool AsksFor(std::string_view name, const Call& call) {
  const std::vector<std::string> asked = QueryWords(TextArgument(call.arguments, "query"));
  const std::vector<std::string> wanted = QueryWords(name);
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const std::string& word) { return IsOneOf(word, asked); });
}

}  // namespace

Json NeedToJson(const Need& need) {
  for (const auto& [key, kind] : kNeeds) {
    if (kind == need.kind) return Json::Of({{std::string(key), need.what}});
  }
  return Json();
}

Result<Need> NeedFromJson(const Json& json) {
  for (const auto& [key, kind] : kNeeds) {
    const Json* what = json.is_object() ? json.Find(key) : nullptr;
    if (what != nullptr && what->is_string()) return Need{kind, what->AsString()};
  }
  return Error(ErrorCode::kInvalidArgument,
               "wants {\"document\": title}, {\"nothing\": name} or {\"value\": text}");
}

bool Brings(const Need& need, const Call& call, const ToolResult& result) {
  if (result.status != CallStatus::kOk) return false;
  const bool search = call.arguments.is_object() && call.arguments.Find("query") != nullptr;
  switch (need.kind) {
    case Need::Kind::kDocument: return search && HasPassage(result.content, need.what);
    case Need::Kind::kNothing: return search && AsksFor(need.what, call);
    case Need::Kind::kValue:
      return !search &&
             IsRightAnswer(
                 AnswerRule::kText,
                 std::string_view(result.content).substr(result.content.find_last_of('\n') + 1),
                 Json(need.what));
  }
  return false;
}

}  // namespace hone::study
