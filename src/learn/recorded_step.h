#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "learn/batches.h"
#include "learn/objective.h"
#include "record/score.h"

namespace hone {

// One update of a model by trees that were not drawn by a training run: conversations that clients
// had with `hone serve --record`, or what any other program wrote down as trees.
struct RecordedStepOptions {
  std::string method;          // of credit; empty: the advantages that the records have
  ObjectiveOptions objective;  // one that needs neither a reference nor a critic
  OptimizerOptions optimizer;
  BatchOptions batches;
  uint64_t seed = 0;
};

struct RecordedStep {
  int64_t trajectories = 0;     // in the loss
  int64_t trees = 0;            // that something was learned from
  int64_t without = 0;          // trees without rewards, without draws, or dropped by the method
  ObjectiveMetrics first;       // of the first mini-batch, before anything changed
  ObjectiveMetrics all;         // of all mini-batches
  double largest_gradient = 0;  // norm, before clipping

  // Whether the model is the one that drew: every ratio of the first mini-batch is exactly 1.
  bool OnPolicy() const { return first.ratio_one == first.tokens; }
};

// Changes the engine's weights. The engine must have the forbidden tokens of whoever drew. An error
// (trees of another model, unknown method, nothing to learn from, a loss that is no number) may
// leave some of the update done: the weights are then of no use.
Result<RecordedStep> LearnFromRecords(std::span<const ScoredTree> records,
                                      const RecordedStepOptions& options, Engine* engine);

}  // namespace hone
