#pragma once

#include <cstdint>

#include "base/recipe.h"

namespace hone {

// How large a step is, by its number: a rise from nothing over the first `warmup` steps, then along
// the shape to `final_share` of the peak at the end. The same bits on every machine.
struct LearningRate {
  enum class Shape { kConstant, kLinear, kCosine };
  double peak = 1e-5;
  int64_t warmup = 0;      // step n of it has (n + 1) / warmup of the peak
  int64_t steps = 1;       // of all; the shape reaches its end there. kConstant has no end.
  double final_share = 0;  // of the peak
  Shape shape = Shape::kConstant;

  // step 0 is the first. After the end it stays where it ended.
  double At(int64_t step) const { return At(step, static_cast<double>(step)); }
  // The same where the shape does not go by steps made: it stands at `clock`, of `steps`. The rise
  // goes by steps, always.
  double At(int64_t step, double clock) const;
};

// learning_rate, warmup, schedule (constant, linear, cosine) and final_share of a table; what it
// does not say stays as in `defaults`.
LearningRate ReadLearningRate(RecipeTable* table, const LearningRate& defaults);

}  // namespace hone
