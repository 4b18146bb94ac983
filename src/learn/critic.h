#pragma once

#include <vector>

#include "base/result.h"
#include "credit/method.h"
#include "learn/objective_options.h"

// What a critic learns: its targets, and the loss of one value. Where its values come from and how
// they go into credit: ValuesBefore in learn/training_group.h.

namespace hone {

// What the critic should have said before each policy token: what the method says, or, where it
// says nothing, the sum of the terms it reads that are still to come. One per leaf, in their order;
// zeros for leaves that were not scored. An error as GroupOf's.
Result<std::vector<Advantages>> ReturnsOf(const ScoredTree& record, const CriticValues& values,
                                          const Method& method);

struct ValueTerm {
  double loss = 0;
  double derivative = 0;  // by the value
  bool clipped = false;
};

// Half the larger of two squared errors: of the value, and of the value moved no further than
// `clip` from what it was.
ValueTerm ValueLossOf(const ValueOptions& options, double value, double old_value, double target);

}  // namespace hone
