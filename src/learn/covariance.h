#pragma once

#include <span>
#include <vector>

#include "base/rng.h"
#include "learn/objective_options.h"

namespace hone {

struct CovarianceToken {
  float logprob = 0;  // now
  float old = 0;      // when the update began
  float advantage = 0;
};

// Which tokens of a mini-batch Clip-Cov leaves out, or KL-Cov holds: by how much each adds to the
// covariance of log-probability and advantage, which is what takes entropy away. Clip-Cov draws
// among those between its bounds whose ratio is not clipped anyway; KL-Cov takes the highest, the
// first of equals. One entry per token.
std::vector<char> ChooseByCovariance(const ObjectiveOptions& options,
                                     std::span<const CovarianceToken> tokens, Rng rng);

}  // namespace hone
