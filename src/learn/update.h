#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "cluster/cluster.h"
#include "engine/engine.h"
#include "learn/batches.h"
#include "learn/objective.h"
#include "learn/training_group.h"

namespace hone {

// How groups with credit move a policy. Whoever drew the groups, this is the last arrow of the data
// path: practice (learn/step.h), recorded trees (learn/recorded_step.h), `hone pipe update` and
// examples/digits.cpp all end here.
struct UpdateOptions {
  ObjectiveOptions objective;
  OptimizerOptions optimizer;
  BatchOptions batches;
  SharedTokens shared = SharedTokens::kRepeat;
  // The engine drew the groups with the weights that it has now. Then every ratio of the first
  // mini-batch is exactly 1, and anything else is a bug that would poison the run (CHECK).
  bool on_policy = false;
  // Learned besides, in as many mini-batches as the groups, each before the same step of the
  // optimiser.
  std::vector<TrainingGroup> replayed;
  ObjectiveOptions replay_objective;
  // Adds demonstrations to the gradient beside a mini-batch of so many tokens, and returns how many
  // tokens of theirs there were. Null: none are shown.
  std::function<int64_t(int64_t tokens, const Rng& rng)> imitate;
  // With whom the slices of mini-batches are computed; null: alone. `imitate` is of process 0.
  Cluster* cluster = nullptr;
};

struct UpdateReport {
  ObjectiveMetrics first;       // of the first mini-batch, before anything changed
  ObjectiveMetrics all;         // of all mini-batches
  int64_t steps = 0;            // of the optimiser
  int64_t skipped = 0;          // mini-batches whose loss was no number: nothing was learned there
  double largest_gradient = 0;  // norm before clipping; no number where one was none
  int64_t imitated_tokens = 0;
};

// Changes the engine's weights. A function of the weights, the options, the groups and `rng`;
// nothing happens where there are no groups.
UpdateReport UpdatePolicy(const UpdateOptions& options, std::span<const TrainingGroup> groups,
                          const Rng& rng, Engine* engine);

}  // namespace hone
