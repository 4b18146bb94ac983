#pragma once

#include "rollout/strategy.h"

namespace hone {

// ARPO: branches where the entropy rose after a tool's answer (docs/rollout.md). `initial`
// trajectories begin; after each turn an open one branches when u - weight (H - H0) is at most
// `branch_probability`, u uniform, until there are as many as leaves are wanted; when all have
// ended and some are missing, fresh ones begin.
struct ArpoOptions {
  int64_t initial = 0;  // 0: half of the leaves
  int64_t beam = 2;     // a trajectory goes on as at most so many
  double weight = 0.2;  // of the entropy's rise
  double branch_probability = 0.5;
};
Result<std::unique_ptr<Strategy>> NewArpo(const ArpoOptions& options);
RegisteredStrategy RegisterArpo();

}  // namespace hone
