#include "rewards/matching/answer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/strings.h"
#include "rewards/matching/math_answer.h"
#include "rewards/matching/number_text.h"
#include "rewards/matching/plain_text.h"
#include "rewards/matching/value_match.h"

namespace hone {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

AnswerMatch Whole(bool match) { return {match, match ? 1.0 : 0.0}; }

Error BadGold(AnswerKind kind, std::string_view wants, const Json& gold) {
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("a gold answer of kind \"{}\" must be {}, not {}", AnswerKindName(kind),
                           wants, gold.KindName()));
}

// A scalar as the text a model would write for it.
std::optional<std::string> TextOf(const Json& value) {
  if (value.is_string()) return value.AsString();
  if (value.is_number() || value.is_bool()) return DumpJson(value);
  return std::nullopt;
}

std::optional<double> NumberOf(const Json& value) {
  if (value.is_number()) {
    const double number = value.AsDouble();
    return std::isfinite(number) ? std::optional<double>(number) : std::nullopt;
  }
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.AsString();
  if (const std::string_view boxed = LastBoxed(text); !boxed.empty()) {
    if (const auto number = WholeNumber(boxed)) return number;
  }
  if (const auto number = WholeNumber(text)) return number;
  return LastNumber(text);
}

// --- GSM8K ---------------------------------------------------------------------------------------

// What stands behind the last "####" or "A:", to the end of its line, or in the last box; the whole
// text when there is no such marker.
std::string_view Gsm8kFinal(std::string_view text) {
  size_t begin = text.rfind("####");
  if (begin != std::string_view::npos) begin += 4;
  for (size_t at = text.rfind("A:"); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : text.rfind("A:", at - 1)) {
    if (at > 0 && IsLetter(text[at - 1])) continue;  // "DNA:"
    if (begin == std::string_view::npos || at + 2 > begin) begin = at + 2;
    break;
  }
  if (begin == std::string_view::npos) {
    const std::string_view boxed = LastBoxed(text);
    return boxed.empty() ? text : boxed;
  }
  const std::string_view rest = text.substr(begin);
  return rest.substr(0, rest.find('\n'));
}

std::string Gsm8kNumber(std::string_view text) {
  std::string number;
  for (const char c : Trim(Gsm8kFinal(text))) {
    if (c != '$' && c != ',') number.push_back(c);
  }
  if (number.ends_with('.')) number.pop_back();
  return number;
}

// --- multiple choice -----------------------------------------------------------------------------

// The letter that the text is, brackets and punctuation apart: "(b)", "B.", "**B**".
std::optional<char> OnlyLetter(std::string_view text) {
  text = Trim(text, " \t\r\n()[]{}.,:;*\"'$");
  if (text.size() != 1 || !IsLetter(text[0])) return std::nullopt;
  return Upper(text[0]);
}

// The option chosen: in a box, behind the last "answer is" or "answer:", the whole text, or what
// the text begins with when it is set apart ("B) Paris").
std::optional<char> ChosenLetter(std::string_view text) {
  if (const std::string_view boxed = LastBoxed(text); !boxed.empty()) {
    std::string_view inside = boxed;
    if (inside.starts_with("\\text{")) inside.remove_prefix(6);
    if (const auto letter = OnlyLetter(inside)) return letter;
  }
  const std::string lower = LowerCased(text);
  if (lower.size() == text.size()) {
    for (size_t at = lower.rfind("answer"); at != std::string::npos;
         at = at == 0 ? std::string::npos : lower.rfind("answer", at - 1)) {
      std::string_view rest = text.substr(at + 6);
      rest = TrimLeft(rest, " \t\r\n:*");
      if (rest.starts_with("is")) rest.remove_prefix(2);
      rest = TrimLeft(rest, " \t\r\n:*");
      // A letter with its marks is short; looking further would take time for nothing.
      rest = rest.substr(0, 16);
      const std::string_view word = rest.substr(0, rest.find_first_of(" \t\r\n"));
      if (const auto letter = OnlyLetter(word)) return letter;
    }
  }
  if (const auto letter = OnlyLetter(text)) return letter;
  const std::string_view start = TrimLeft(text);
  const std::string_view word = start.substr(0, start.find_first_of(" \t\r\n"));
  if (word.size() >= 2 && std::string_view(").:").find(word.back()) != std::string_view::npos) {
    return OnlyLetter(word);
  }
  return std::nullopt;
}

// --- sets ----------------------------------------------------------------------------------------

std::set<std::string> Things(const Json& value) {
  std::set<std::string> things;
  if (value.is_array()) {
    for (const Json& element : value.AsArray()) {
      things.insert(
          NormalisedText(TextOf(element).value_or(DumpJson(element, JsonStyle::kCanonical))));
    }
    return things;
  }
  std::string text = Replaced(TextOf(value).value_or(""), " and ", ",");
  text = std::string(Trim(text, " \t\r\n{}[]()"));
  size_t at = 0;
  while (at <= text.size()) {
    const size_t end = std::min(text.find_first_of(",;\n", at), text.size());
    const std::string thing = NormalisedText(std::string_view(text).substr(at, end - at));
    if (!thing.empty()) things.insert(thing);
    at = end + 1;
  }
  return things;
}

AnswerMatch MatchSet(const Json& answer, const Json& gold) {
  const std::set<std::string> given = Things(answer), wanted = Things(gold);
  if (given == wanted) return Whole(true);
  size_t common = 0;
  for (const std::string& thing : given) common += wanted.count(thing);
  const size_t sum = given.size() + wanted.size();
  return {false, sum == 0 ? 0.0 : 2.0 * static_cast<double>(common) / static_cast<double>(sum)};
}

// --- question answering --------------------------------------------------------------------------

double WordF1(const std::string& answer, const std::string& gold) {
  const std::vector<std::string> given = Words(answer), wanted = Words(gold);
  if (given.empty() || wanted.empty()) return given.empty() && wanted.empty() ? 1 : 0;
  std::map<std::string, int> left;
  for (const std::string& word : wanted) ++left[word];
  int common = 0;
  for (const std::string& word : given) {
    if (auto found = left.find(word); found != left.end() && found->second > 0) {
      --found->second;
      ++common;
    }
  }
  return 2.0 * common / static_cast<double>(given.size() + wanted.size());
}

// --- programs ------------------------------------------------------------------------------------

Result<AnswerMatch> MatchProgram(const std::string& answer, const Json& gold,
                                 ProgramRunner* runner) {
  const Json* tests = gold.Find("tests");
  if (tests == nullptr || !tests->is_array() || tests->AsArray().empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "a gold answer of kind \"program\" must be {\"tests\": [{\"input\", "
                 "\"output\"}]} with at least one test");
  }
  if (runner == nullptr) {
    return Error(ErrorCode::kUnsupported, "no sandbox was given to run programs in");
  }
  const std::string_view program = InsideFence(answer);
  size_t passed = 0;
  for (const Json& test : tests->AsArray()) {
    const Json *input = test.Find("input"), *output = test.Find("output");
    if (output == nullptr || !output->is_string() || (input != nullptr && !input->is_string())) {
      return Error(ErrorCode::kInvalidArgument,
                   "a program test needs \"output\" and may have \"input\", both texts");
    }
    HONE_ASSIGN_OR_RETURN(const ProgramOutput ran,
                          runner->Run(program, input == nullptr ? "" : input->AsString()));
    if (ran.ok && Trim(ran.output) == Trim(output->AsString())) ++passed;
  }
  const size_t count = tests->AsArray().size();
  return AnswerMatch{passed == count, static_cast<double>(passed) / static_cast<double>(count)};
}

// --- one gold value ------------------------------------------------------------------------------

Result<AnswerMatch> MatchNumber(const Json& answer, const Json& gold,
                                const AnswerOptions& options) {
  std::optional<double> wanted;
  if (gold.is_number()) wanted = NumberOf(gold);
  if (gold.is_string()) wanted = WholeNumber(gold.AsString());
  if (!wanted) return BadGold(AnswerKind::kNumber, "a number", gold);
  const std::optional<double> given = NumberOf(answer);
  if (!given) return Whole(false);
  const double allowed = std::max(options.absolute, options.relative * std::abs(*wanted));
  return Whole(std::abs(*given - *wanted) <= allowed);
}

// A text that spells a JSON value as that value.
Json ValueOf(const Json& given) {
  if (!given.is_string()) return given;
  Result<Json> value = ParseJson(Trim(InsideFence(given.AsString())));
  return value.ok() ? *std::move(value) : given;
}

AnswerMatch MatchJson(const Json& answer, const Json& gold) {
  const Json given = ValueOf(answer), wanted = ValueOf(gold);
  return {SameValue(given, wanted), ValueShare(given, wanted)};
}

AnswerMatch MatchTexts(AnswerKind kind, const std::string& answer, const std::string& gold) {
  switch (kind) {
    case AnswerKind::kExact: return Whole(answer == gold);
    case AnswerKind::kText: return Whole(NormalisedText(answer) == NormalisedText(gold));
    case AnswerKind::kMath: {
      const std::string_view boxed = LastBoxed(answer);
      return Whole(MathEquivalent(boxed.empty() ? std::string_view(answer) : boxed, gold));
    }
    case AnswerKind::kGsm8k: {
      const std::string wanted = Gsm8kNumber(gold);
      return Whole(!wanted.empty() && Gsm8kNumber(answer) == wanted);
    }
    case AnswerKind::kQaExact: return Whole(QaNormalised(answer) == QaNormalised(gold));
    case AnswerKind::kQaF1: {
      const std::string given = QaNormalised(answer), wanted = QaNormalised(gold);
      return {given == wanted, WordF1(given, wanted)};
    }
    default: break;
  }
  CHECK(false, "a kind of answer that does not compare texts");
  return {};
}

Result<AnswerMatch> MatchChoice(const std::string& answer, const std::string& gold) {
  const std::optional<char> wanted = OnlyLetter(gold);
  if (!wanted) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("a gold answer of kind \"choice\" must be a letter, not \"{}\"",
                             gold.substr(0, 40)));
  }
  return Whole(ChosenLetter(answer) == wanted);
}

Result<AnswerMatch> MatchVerdict(const Json& verdict) {
  if (verdict.is_bool()) return Whole(verdict.AsBool());
  if (verdict.is_number() && verdict.AsDouble() >= 0 && verdict.AsDouble() <= 1) {
    return AnswerMatch{verdict.AsDouble() == 1, verdict.AsDouble()};
  }
  return Error(ErrorCode::kInvalidArgument,
               "an environment's verdict must be true, false or a number from 0 to 1");
}

Result<AnswerMatch> MatchOne(AnswerKind kind, const Json& answer, const Json& gold,
                             const AnswerOptions& options) {
  switch (kind) {
    case AnswerKind::kNumber: return MatchNumber(answer, gold, options);
    case AnswerKind::kSet: return MatchSet(answer, gold);
    case AnswerKind::kJson: return MatchJson(answer, gold);
    case AnswerKind::kVerdict: return MatchVerdict(answer);
    case AnswerKind::kProgram:
      return MatchProgram(answer.is_string() ? answer.AsString() : "", gold, options.runner);
    default: break;
  }
  const std::optional<std::string> wanted = TextOf(gold);
  if (!wanted) return BadGold(kind, "a text, a number or true/false", gold);
  const std::optional<std::string> given = TextOf(answer);
  if (kind == AnswerKind::kChoice) return MatchChoice(given.value_or(""), *wanted);
  if (!given) return Whole(false);
  return MatchTexts(kind, *given, *wanted);
}

}  // namespace

std::vector<AnswerKindNote> AnswerKinds() {
  return {
      {AnswerKind::kExact, "exact", "the same text, byte for byte"},
      {AnswerKind::kText, "text", "the same text but for case, blanks and punctuation around it"},
      {AnswerKind::kNumber, "number", "the answer's number within a tolerance"},
      {AnswerKind::kSet, "set", "the same things in any order; scored by F1"},
      {AnswerKind::kChoice, "choice", "the letter of an option"},
      {AnswerKind::kMath, "math", "LaTeX answers by the rule of the MATH benchmark"},
      {AnswerKind::kGsm8k, "gsm8k", "the number behind \"####\" or \"A:\", by the rule of GSM8K"},
      {AnswerKind::kQaExact, "qa-exact", "exact match of question answering"},
      {AnswerKind::kQaF1, "qa-f1", "the same, scored by the words in common"},
      {AnswerKind::kJson, "json", "the same JSON value; scored by the share of equal parts"},
      {AnswerKind::kProgram, "program", "a program, scored by the tests that it passes"},
      {AnswerKind::kVerdict, "verdict", "what the environment says of the end"},
  };
}

std::string_view AnswerKindName(AnswerKind kind) {
  static const std::vector<AnswerKindNote> kKinds = AnswerKinds();
  for (const AnswerKindNote& note : kKinds) {
    if (note.kind == kind) return note.name;
  }
  CHECK(false, "an answer kind without a name");
  return "";
}

Result<AnswerKind> AnswerKindNamed(std::string_view name) {
  std::vector<std::string> names;
  for (const AnswerKindNote& note : AnswerKinds()) {
    if (note.name == name) return note.kind;
    names.push_back(note.name);
  }
  std::string list;
  for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("no kind of answer is called \"{}\"{}; there are: {}", name,
                           DidYouMean(name, names), list));
}

Result<AnswerMatch> MatchAnswer(AnswerKind kind, const Json& answer, const Json& gold,
                                const AnswerOptions& options) {
  if (kind == AnswerKind::kVerdict) return MatchVerdict(answer);
  if (gold.is_null() && kind != AnswerKind::kJson) return BadGold(kind, "there", gold);
  const bool is_list = kind == AnswerKind::kSet || kind == AnswerKind::kJson;
  if (is_list || !gold.is_array()) {
    HONE_ASSIGN_OR_RETURN(const AnswerMatch match, MatchOne(kind, answer, gold, options));
    return answer.is_null() && kind != AnswerKind::kJson ? AnswerMatch{} : match;
  }
  if (gold.AsArray().empty()) {
    return Error(ErrorCode::kInvalidArgument, "the list of accepted gold answers is empty");
  }
  AnswerMatch best;
  for (const Json& accepted : gold.AsArray()) {
    HONE_ASSIGN_OR_RETURN(const AnswerMatch match, MatchOne(kind, answer, accepted, options));
    best.match = best.match || match.match;
    best.score = std::max(best.score, match.score);
  }
  return answer.is_null() ? AnswerMatch{} : best;
}

}  // namespace hone
