#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "base/result.h"

namespace hone {

// Weights that get newer while episodes are played: all trajectories take so many turns, those that
// have not ended are continued by the next version, and so on; the last one plays them to their
// end. Which version draws a turn so follows from the turn's number, whoever was faster. What was
// said is read anew by each version. For strategies that neither branch nor wait.
struct CarryOptions {
  int64_t turns = 0;     // with each version but the last; 0: one version plays to the end
  int64_t versions = 0;  // that come after the first
  // Puts the next of them into the policy's engine, and returns its number
  // (PolicyOptions::version); may take its time.
  std::function<Result<int64_t>(std::stop_token)> next;
};

}  // namespace hone
