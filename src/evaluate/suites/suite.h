#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

// A suite is a list of cases with known right outputs: a public benchmark's, or a user's own.

namespace hone {

// How a case is judged, and what its gold is.
enum class SuiteScorer {
  kBfclCalls,    // the calls, by the rules of BFCL; gold: its accepted calls, rule: its category
  kRelevance,    // that there is a call, whichever
  kIrrelevance,  // that there is none
  kCalls,        // the calls in any order; gold: [{"name", "arguments", "optional": [names]}]
  kAnswer,  // the text; gold: the right answer, rule: a kind of answer (rewards/matching/answer.h)
  kYesNo,   // that the text says yes, or no; gold: a boolean
  kToolNames,  // the tools that the text names; gold: their names, none of them: ["None"]
};

struct SuiteCase {
  std::string id;                 // no two of a suite alike
  std::string category;           // figures are given for each
  Json messages = Json::Array();  // OpenAI style, up to where the model goes on
  Json tools = Json::Array();     // schemas that the model is shown
  // Tools of this program that it is shown besides, and that answer its calls: then it goes on
  // until it says something. None: its first turn is all.
  std::vector<std::string> plays_with;
  // The model is told of its functions in words, and its text is read as calls written in Python.
  bool calls_as_text = false;

  SuiteScorer scorer = SuiteScorer::kAnswer;
  std::string rule;
  Json gold;
  Json functions = Json::Array();    // kBfclCalls: as that benchmark documents them
  Json candidates = Json::Array();   // kToolNames: the names to choose from
  bool dots_as_underscores = false;  // kBfclCalls: how names are shown
};

struct Suite {
  std::string name;  // "bfcl", "metatool", "gsm8k", "mine.jsonl"
  std::vector<SuiteCase> cases;
  std::vector<std::string> tools;  // of this program, that its cases play with: "calculator"
};

// What a model said at the end of a case.
struct SuiteOutput {
  std::string text;
  // [{"name": {arguments}}], all of its last turn; null: it called, but that cannot be read.
  Json calls = Json::Array();

  bool operator==(const SuiteOutput&) const = default;
};

struct SuiteVerdict {
  bool right = false;
  std::string error_type;  // why not, in few words that can be counted; empty when right

  bool operator==(const SuiteVerdict&) const = default;
};

// Judges. The error is about the case: its gold is not what its scorer needs. An output, however
// odd, is never an error.
Result<SuiteVerdict> JudgeCase(const SuiteCase& one, const SuiteOutput& output);

// The candidates that the text names: it is one of them, or a list of them; else those that stand
// in it as whole words. "None" is a candidate always.
std::vector<std::string> NamedTools(std::string_view text, const Json& candidates);

// Which cases are measured.
struct SuiteSelection {
  std::vector<std::string> categories;  // empty: all
  int64_t per_category = 0;             // so many of each, drawn by the seed; 0: all
  uint64_t seed = 0;
};

// Keeps what is selected, in the order of the suite. The error names a category that there is not.
Result<void> SelectCases(const SuiteSelection& selection, Suite* suite);

}  // namespace hone
