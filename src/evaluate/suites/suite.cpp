#include "evaluate/suites/suite.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/rng.h"
#include "base/strings.h"
#include "evaluate/suites/bfcl_check.h"
#include "evaluate/suites/python_calls.h"
#include "rewards/matching/answer.h"
#include "rewards/matching/call_match.h"
#include "rewards/matching/plain_text.h"

namespace hone {
namespace {

constexpr std::string_view kNone = "None";

SuiteVerdict Right() { return {true, ""}; }
SuiteVerdict Wrong(std::string why) { return {false, std::move(why)}; }

SuiteVerdict OfBfcl(const BfclVerdict& verdict) { return {verdict.valid, verdict.error_type}; }

Error BadGold(const SuiteCase& one, std::string_view wanted) {
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("case \"{}\": its gold must be {}", one.id, wanted));
}

// What it calls, wherever it stands.
Json CallsOf(const SuiteCase& one, const SuiteOutput& output) {
  if (one.calls_as_text) return DecodeBfclOutput(Json(output.text));
  // A model that only talks has put out no list of calls.
  const bool only_text =
      output.calls.is_array() && output.calls.AsArray().empty() && !Trim(output.text).empty();
  return only_text ? Json() : output.calls;
}

Result<std::vector<GoldCall>> GoldCallsOf(const SuiteCase& one) {
  constexpr std::string_view kWanted = "a list of {\"name\", \"arguments\"}";
  if (!one.gold.is_array()) return BadGold(one, kWanted);
  std::vector<GoldCall> gold;
  for (const Json& call : one.gold.AsArray()) {
    const Json *name = call.Find("name"), *arguments = call.Find("arguments"),
               *optional = call.Find("optional");
    if (name == nullptr || !name->is_string() ||
        (arguments != nullptr && !arguments->is_object())) {
      return BadGold(one, kWanted);
    }
    GoldCall& made = gold.emplace_back();
    made.name = name->AsString();
    if (arguments != nullptr) made.arguments = *arguments;
    if (optional == nullptr) continue;
    if (!optional->is_array()) return BadGold(one, kWanted);
    for (const Json& parameter : optional->AsArray()) {
      if (!parameter.is_string()) return BadGold(one, kWanted);
      made.optional.push_back(parameter.AsString());
    }
  }
  return gold;
}

// The error type says which of the questions was the first to be answered wrongly: whether the
// calls can be read, how many there are, which tools they call, with which arguments.
Result<SuiteVerdict> JudgeCalls(const SuiteCase& one, const SuiteOutput& output) {
  HONE_ASSIGN_OR_RETURN(const std::vector<GoldCall> gold, GoldCallsOf(one));
  if (output.calls.is_null()) return Wrong("unreadable_call");
  std::vector<Call> calls;
  for (const Json& call : output.calls.AsArray()) {
    if (!call.is_object() || call.AsObject().empty()) return Wrong("unreadable_call");
    calls.push_back({call.AsObject()[0].first, call.AsObject()[0].second, {}});
  }
  if (calls.size() != gold.size()) return Wrong(calls.empty() ? "no_call" : "wrong_count");
  std::vector<const Call*> made;
  for (const Call& call : calls) made.push_back(&call);
  const CallScore score = ScoreCalls(made, {.calls = gold});
  bool arguments = true;
  for (size_t i = 0; i < calls.size(); ++i) {
    const int32_t match = score.gold_of[i];
    if (match < 0 || calls[i].name != gold[static_cast<size_t>(match)].name) {
      return Wrong("wrong_tool");
    }
    arguments = arguments && IsRightCall(calls[i], gold[static_cast<size_t>(match)]);
  }
  return arguments ? Right() : Wrong("wrong_arguments");
}

Result<SuiteVerdict> JudgeAnswer(const SuiteCase& one, const SuiteOutput& output) {
  HONE_ASSIGN_OR_RETURN(const AnswerKind kind, AnswerKindNamed(one.rule));
  const bool silent = Trim(output.text).empty();
  const Json answer = silent ? Json() : Json(output.text);
  Result<AnswerMatch> match = MatchAnswer(kind, answer, one.gold);
  if (!match.ok()) return match.error().In(fmt::format("case \"{}\"", one.id));
  if (match->match) return Right();
  return Wrong(silent ? "no_answer" : "wrong_answer");
}

// What the first word that is either says.
Result<SuiteVerdict> JudgeYesNo(const SuiteCase& one, const SuiteOutput& output) {
  if (!one.gold.is_bool()) return BadGold(one, "true or false");
  for (const std::string& word : Words(LowerCased(output.text))) {
    const std::string_view plain = Trim(word, " .,;:!?\"'`*()[]");
    if (plain != "yes" && plain != "no") continue;
    return (plain == "yes") == one.gold.AsBool() ? Right() : Wrong("wrong_answer");
  }
  return Wrong("no_answer");
}

Result<SuiteVerdict> JudgeToolNames(const SuiteCase& one, const SuiteOutput& output) {
  std::set<std::string> wanted;
  if (!one.gold.is_array() || one.gold.AsArray().empty()) return BadGold(one, "a list of names");
  for (const Json& name : one.gold.AsArray()) {
    if (!name.is_string()) return BadGold(one, "a list of names");
    wanted.insert(name.AsString());
  }
  const std::vector<std::string> named = NamedTools(output.text, one.candidates);
  if (std::set<std::string>(named.begin(), named.end()) == wanted) return Right();
  return Wrong(named.empty() ? "no_answer" : "wrong_tool");
}

}  // namespace

std::vector<std::string> NamedTools(std::string_view text, const Json& candidates) {
  std::vector<std::string> names;
  for (const Json& name : candidates.AsArray()) {
    if (name.is_string()) names.push_back(name.AsString());
  }
  names.emplace_back(kNone);
  const auto is_name = [&](std::string_view word) {
    return std::find(names.begin(), names.end(), word) != names.end();
  };
  // A list of names and nothing else: separated by commas, lines or "and".
  std::vector<std::string> listed;
  bool only_names = true;
  for (const std::string& line : Words(Replaced(Replaced(text, ",", " "), "\n", " "))) {
    const std::string_view word = Trim(line, "\"'`*[](){}.:;-");
    if (word.empty() || word == "and") continue;
    only_names = only_names && is_name(word);
    listed.emplace_back(word);
  }
  if (only_names) return listed;
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (HoldsWholeWords(text, name)) found.push_back(name);
  }
  // "None" in a sentence that names a tool is a word.
  if (found.size() > 1 && found.back() == kNone) found.pop_back();
  return found;
}

Result<SuiteVerdict> JudgeCase(const SuiteCase& one, const SuiteOutput& output) {
  switch (one.scorer) {
    case SuiteScorer::kBfclCalls: {
      const auto verdict = CheckBfclCalls(one.rule, one.functions, one.gold, CallsOf(one, output),
                                          one.dots_as_underscores);
      if (!verdict.ok()) return verdict.error().In(fmt::format("case \"{}\"", one.id));
      return OfBfcl(*verdict);
    }
    case SuiteScorer::kRelevance: return OfBfcl(CheckBfclRelevance(true, CallsOf(one, output)));
    case SuiteScorer::kIrrelevance: return OfBfcl(CheckBfclRelevance(false, CallsOf(one, output)));
    case SuiteScorer::kCalls: return JudgeCalls(one, output);
    case SuiteScorer::kAnswer: return JudgeAnswer(one, output);
    case SuiteScorer::kYesNo: return JudgeYesNo(one, output);
    case SuiteScorer::kToolNames: return JudgeToolNames(one, output);
  }
  CHECK(false, "a scorer that is none");
  return Right();
}

Result<void> SelectCases(const SuiteSelection& selection, Suite* suite) {
  std::map<std::string, std::vector<size_t>> there;
  for (size_t i = 0; i < suite->cases.size(); ++i) {
    there[suite->cases[i].category].push_back(i);
  }
  std::vector<std::string> names;
  for (const auto& [name, cases] : there) names.push_back(name);
  for (const std::string& wanted : selection.categories) {
    if (there.contains(wanted)) continue;
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} has no category \"{}\"{}; there are: {}", suite->name, wanted,
                             DidYouMean(wanted, names), fmt::join(names, ", ")));
  }
  std::vector<size_t> kept;
  for (auto& [name, cases] : there) {
    const auto& wanted = selection.categories;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    if (selection.per_category > 0) {
      // The first of a shuffled list: of two numbers the smaller one's cases are among the
      // larger's.
      Rng rng = Rng(selection.seed).Split("cases").Split(name);
      for (size_t i = cases.size(); i > 1; --i) std::swap(cases[i - 1], cases[rng.Below(i)]);
      cases.resize(std::min(cases.size(), static_cast<size_t>(selection.per_category)));
    }
    kept.insert(kept.end(), cases.begin(), cases.end());
  }
  std::sort(kept.begin(), kept.end());
  std::vector<SuiteCase> cases;
  for (const size_t i : kept) cases.push_back(std::move(suite->cases[i]));
  suite->cases = std::move(cases);
  return {};
}

}  // namespace hone
