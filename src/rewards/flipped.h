#pragma once

#include <memory>
#include <string>
#include <vector>

#include "record/reward_terms.h"
#include "rewards/rewarder.h"

namespace hone {

// How well does learning bear labels that are wrong? A share of the values of some terms is turned
// round: what was earned is lost, what was lost is earned.
struct FlipOptions {
  double share = 0.2;                            // of the values
  std::vector<std::string> terms = {kCallTerm};  // of these terms; the others stay as they are
  uint64_t seed = 1;
};

// Which values are turned round is a function of the seed, the group and the place of the term
// alone: the same each time, and the same for all trajectories that share a call.
std::unique_ptr<Rewarder> NewFlippedRewarder(std::unique_ptr<Rewarder> inner, FlipOptions options);

}  // namespace hone
