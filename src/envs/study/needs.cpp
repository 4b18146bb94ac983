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

// Of a query for a name, beside the name: "page count", "trade of".
constexpr size_t kMoreWords = 2;

// How many of the lines are passages of this title.
int64_t PassagesIn(std::string_view lines, std::string_view title) {
  int64_t passages = 0;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    if (line.starts_with(title) && line.substr(title.size()).starts_with(": ")) ++passages;
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return passages;
}

// The whole question has the words of the name, too, but does not ask for it.
bool AsksFor(std::string_view name, const Call& call) {
  const std::vector<std::string> asked = QueryWords(TextArgument(call.arguments, "query"));
  const std::vector<std::string> wanted = QueryWords(name);
  return asked.size() <= wanted.size() + kMoreWords &&
         std::all_of(wanted.begin(), wanted.end(),
                     [&](const std::string& word) { return IsOneOf(word, asked); });
}

// The last number of the last line, or nothing.
std::string_view LastNumber(std::string_view text) {
  text = text.substr(text.find_last_of('\n') + 1);
  size_t end = text.size();
  while (end > 0 && !IsDigit(text[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && (IsDigit(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  if (begin > 0 && begin < end && text[begin - 1] == '-') --begin;
  return text.substr(begin, end - begin);
}

}  // namespace

Json NeedToJson(const Need& need) {
  for (const auto& [key, kind] : kNeeds) {
    if (kind != need.kind) continue;
    Json json = Json::Of({{std::string(key), need.what}});
    if (need.lines != 1) json.Set("lines", need.lines);
    return json;
  }
  return Json();
}

Result<Need> NeedFromJson(const Json& json) {
  for (const auto& [key, kind] : kNeeds) {
    const Json* what = json.is_object() ? json.Find(key) : nullptr;
    if (what == nullptr || !what->is_string()) continue;
    Need need{kind, what->AsString()};
    if (const Json* lines = json.Find("lines")) {
      if (!lines->is_integer() || lines->AsInteger() < 1) break;
      need.lines = lines->AsInteger();
    }
    return need;
  }
  return Error(ErrorCode::kInvalidArgument,
               "wants {\"document\": title} (\"lines\": how many of it, from 1), "
               "{\"nothing\": name} or {\"value\": text}");
}

bool Brings(const Need& need, const Call& call, const ToolResult& result) {
  if (result.status != CallStatus::kOk) return false;
  const bool search = call.arguments.is_object() && call.arguments.Find("query") != nullptr;
  switch (need.kind) {
    case Need::Kind::kDocument:
      return search && PassagesIn(result.content, need.what) >= need.lines;
    case Need::Kind::kNothing: return search && AsksFor(need.what, call);
    case Need::Kind::kValue:
      return !search &&
             IsRightAnswer(AnswerRule::kText, LastNumber(result.content), Json(need.what));
  }
  return false;
}

}  // namespace hone::study
