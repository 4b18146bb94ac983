#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "credit/method.h"
#include "record/score.h"

namespace hone {

// What process 0 does to the trees of a step when several processes share it, per token of these,
// on one thread: what a simulation of many processes needs (docs/scale.md).
struct MessageCosts {
  int64_t trees = 0, tokens = 0;
  double tree_bytes = 0;    // of trees with their scores, as a process sends what it played
  double tree_seconds = 0;  // of making them, or of reading them: the mean of both
  double update_bytes = 0;  // of groups as they are sent to be trained on
  double update_seconds = 0;
  double credit_seconds = 0;  // of credit, and of making groups of it
};

// Does it some times, and takes the best. Records with scores, such as a run stores them.
Result<MessageCosts> MeasureMessages(std::vector<ScoredTree> records, const Method& method);

}  // namespace hone
