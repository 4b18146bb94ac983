#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evaluate/measures.h"

namespace hone {

// What several trajectories of each task show beyond their mean: whether one of k does the task
// (pass@k: what the policy can do at all) and whether all k do (pass^k: what it can be relied on
// for). Both are the mean over all ways to choose k of a task's trajectories, so they have no bias.
struct PassShare {
  int64_t k = 1;
  int64_t tasks = 0;                   // with k trajectories that have a verdict
  std::optional<Interval> one, every;  // absent: there are no such tasks
};

// For k = 1, 2, 4, ... and `samples`, ascending; intervals over tasks.
std::vector<PassShare> PassesOf(std::span<const Measures> measures, int64_t samples, Rng rng,
                                const BootstrapOptions& options = {});
Json ToJson(std::span<const PassShare> passes);

}  // namespace hone
