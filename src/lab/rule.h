#pragma once

#include <string>
#include <vector>

#include "base/result.h"

// The rule: a right call keeps its credit whatever became of the trajectory, and a wrong one is not
// paid. How often does each method break it?

namespace hone::lab {

struct RuleFigure {
  std::string method;
  int64_t right_calls = 0, wrong_calls = 0;
  int64_t right_punished = 0;  // negative net credit over the call's tokens
  int64_t wrong_paid = 0;      // positive
};

// Over random groups (specimens.h), four to a batch; the same for the same seed.
Result<RuleFigure> MeasureRule(const std::string& method, uint64_t seed, int batches);

// Of all methods, with the seed and size that the documentation has.
Result<std::vector<RuleFigure>> MeasureRuleForDocs();

// "Right calls punished: 12.3 %. Wrong calls paid: 4.5 %.": what a method's page says.
std::string RuleSentence(const RuleFigure& figure);

// docs/algorithms/rule.md
std::string RulePage(const std::vector<RuleFigure>& figures);

}  // namespace hone::lab
