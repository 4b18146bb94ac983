#pragma once

// What terms of rewards are called: rewards give them, methods of credit read them, and alarms
// weigh them by name. A program may give others; a name that two modules must agree on stands here.

namespace hone {

inline constexpr char kOutcomeTerm[] = "outcome";  // what the trajectory came to
inline constexpr char kCallTerm[] = "call";        // what one call earned
inline constexpr char kOmittedTerm[] = "omitted";  // what one gold call that was not made costs

// The components of the default reward, beside the outcome (docs/rewards.md).
inline constexpr char kWhenTerm[] = "when";
inline constexpr char kWhichTerm[] = "which";
inline constexpr char kSyntaxTerm[] = "syntax";
inline constexpr char kExecutionTerm[] = "execution";
inline constexpr char kArgumentsTerm[] = "arguments";
inline constexpr char kPreferenceTerm[] = "preference";  // a judge's score

inline constexpr char kFoldTerm[] = "fold";  // what folding saved
inline constexpr char kFormatTerm[] = "format";
inline constexpr char kCorrectnessTerm[] = "correctness";  // ToolRL's match of calls
inline constexpr char kAccuracyTerm[] = "accuracy";
inline constexpr char kToolsTerm[] = "tools";  // for several tools that ran
inline constexpr char kExpertTerm[] = "expert";
inline constexpr char kMilestoneTerm[] = "milestone";

// What is taken away.
inline constexpr char kCostTerm[] = "cost";
inline constexpr char kLengthTerm[] = "length";
inline constexpr char kBudgetTerm[] = "budget";
inline constexpr char kOverlongThoughtTerm[] = "overlong_thought";
inline constexpr char kShortThoughtTerm[] = "short_thought";  // paid, among right siblings
inline constexpr char kKlTerm[] = "kl";  // the distance to the reference, per token

// What programs give for methods that read it; no preset does.
inline constexpr char kInformationGainTerm[] = "information_gain";
inline constexpr char kRedundancyTerm[] = "redundancy";
inline constexpr char kContributionTerm[] = "contribution";
inline constexpr char kAnyCriterionTerm[] = "criterion:*";  // one per criterion: "criterion:ID"

}  // namespace hone
