#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "rewards/matching/answer.h"
#include "rewards/matching/call_match.h"

// The formulas of published reward functions, as functions of numbers and calls. Which trajectory
// gets what is in published_rewarders.h.

namespace hone {

// ToolRL: graded match of predicted and gold calls, greedy and in the gold order.
struct ToolRlScore {
  double score = 0;
  double most = 0;
  double correctness = 0;  // 6 * score / most - 3; 0 when there are no gold calls
};
ToolRlScore ToolRl(const std::vector<const Call*>& calls, const std::vector<GoldCall>& gold);

// DAPO, TAPO: what a response loses by its length: 0 up to most - buffer, then linearly down to
// -factor at `most` and beyond it further on.
double Overlong(int64_t length, int64_t most, int64_t buffer, double factor = 1);

// ReTool as trained in verl: a wrong answer costs less when more turns were spent on it.
double ReToolShaped(double score, int64_t turns);

// TAPO: how right an answer is, in [0, 1], by the kind of question; best over the accepted answers.
// Only the last 100 characters of the answer count. Numbers: within 1e-3, or by `relative` error
// where that is larger than the usual tolerance; texts: 1 when the gold is inside, else by edits.
Result<double> TapoScore(AnswerKind kind, const Json& answer, const Json& gold, double relative);

// ToolOrchestra: per member of a group the sum over features of weight * (x - min) / (max - min),
// min and max over the group; features that are the same for all say nothing.
std::vector<double> PreferenceWeighted(const std::vector<std::map<std::string, double>>& features,
                                       const std::map<std::string, double>& weights);

// AdaReasoner: what a call is worth: 1 read, 2 known tool, up to 4 by the tool's own score in [0,
// 1].
double AdaReasonerCall(bool known_tool, double own_score);

}  // namespace hone
