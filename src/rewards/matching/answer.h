#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "rewards/program_runner.h"

namespace hone {

// How an answer is compared with the gold one (docs/rewards.md has the rules).
enum class AnswerKind {
  kExact,    // the same text, byte for byte
  kText,     // the same text but for case, blanks, width and punctuation around it
  kNumber,   // a number within a tolerance
  kSet,      // the same things in any order
  kChoice,   // the letter of an option
  kMath,     // the rule of the MATH benchmark
  kGsm8k,    // the rule of GSM8K
  kQaExact,  // exact match of question answering
  kQaF1,     // the same, scored by the words in common
  kJson,     // the same JSON value, scored by the share of its parts
  kProgram,  // a program that passes tests
  kVerdict,  // not compared: the environment says
};

std::string_view AnswerKindName(AnswerKind kind);
// The error lists the kinds.
Result<AnswerKind> AnswerKindNamed(std::string_view name);
struct AnswerKindNote {
  AnswerKind kind;
  std::string name;
  std::string about;
};
// All of them, for tables.
std::vector<AnswerKindNote> AnswerKinds();

struct AnswerMatch {
  bool match = false;
  double score = 0;  // in [0, 1]; 1 when it matches

  bool operator==(const AnswerMatch&) const = default;
};

struct AnswerOptions {
  // kNumber: |answer - gold| <= max(absolute, relative * |gold|).
  double absolute = 1e-6;
  double relative = 1e-6;
  ProgramRunner* runner = nullptr;  // kProgram; borrowed
};

// Compares. Where a gold value cannot itself be a list (all kinds but kSet and kJson), a list of
// gold values means that any of them will do, and the best counts. A null answer matches nothing.
// An error is about the gold (kInvalidArgument) or about a program that could not be run; a wrong
// answer, however odd, is never an error.
Result<AnswerMatch> MatchAnswer(AnswerKind kind, const Json& answer, const Json& gold,
                                const AnswerOptions& options = {});

}  // namespace hone
