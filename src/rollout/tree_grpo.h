#pragma once

#include "rollout/strategy.h"

namespace hone {

// Tree-GRPO: `trees` trajectories begin; then `rounds` times, for each of them, `expansions` places
// on it and its branches (the prompt among them) are chosen by lot with replacement, and a new
// trajectory goes on from each. So a group has trees * (1 + rounds * expansions) leaves, whatever
// is wanted.
struct TreeGrpoOptions {
  int64_t trees = 2;
  int64_t expansions = 2;
  int64_t rounds = 1;
};
Result<std::unique_ptr<Strategy>> NewTreeGrpo(const TreeGrpoOptions& options);
RegisteredStrategy RegisterTreeGrpo();

}  // namespace hone
