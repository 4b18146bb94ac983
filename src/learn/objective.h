#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "engine/engine.h"
#include "learn/batches.h"
#include "learn/objective_metrics.h"
#include "learn/objective_options.h"
#include "learn/training_group.h"

namespace hone {

// The objective of one mini-batch, in as many calls of Engine::Accumulate as one likes: what is
// divided by is counted over all of it beforehand, so that cutting it does not change its gradient.
// Not synchronised.
class Objective {
 public:
  // The groups must outlive it. `rng` is for Clip-Cov's choice alone. With a KL coefficient in the
  // loss every sequence must have reference log-probabilities, with a value coefficient returns and
  // old values (CHECK).
  Objective(const ObjectiveOptions& options, std::vector<const TrainingGroup*> groups,
            const Rng& rng);

  // Clip-Cov and KL-Cov choose tokens over the whole mini-batch by what the policy says of them
  // now: they must be told before LossOf, with one entry per group (CHECK).
  bool WantsCurrentLogprobs() const;
  void SetCurrentLogprobs(std::span<const TreeLogprobs> logprobs);

  // The loss of the groups [begin, end), for one call with their trees in that order.
  Loss LossOf(size_t begin, size_t end);

  // Of what went through so far: of all once every group did.
  ObjectiveMetrics metrics() const;

 private:
  // A sequence with what is known of it before the engine runs.
  struct Prepared {
    const Sequence* sequence = nullptr;
    std::vector<double> corrections;  // per token; empty: 1
    std::vector<char> chosen;         // per token, by covariance; empty: none
    bool vetoed = false;              // not in the loss
  };

  void Correct();
  // What one token's loss weighs in the loss of the mini-batch.
  double TokenShare(const Sequence& sequence) const;
  void AddPolicy(const Prepared& prepared, std::vector<PathTerms>* paths);
  void AddKlAndEntropy(const Sequence& sequence, std::vector<PathTerms>* paths);
  void AddValues(const Sequence& sequence, std::vector<PathTerms>* paths);

  ObjectiveOptions options_;
  Rng rng_;
  std::vector<const TrainingGroup*> groups_;
  std::vector<std::vector<Prepared>> prepared_;  // per group, per sequence
  int64_t tokens_ = 0, sequences_ = 0;           // of the mini-batch: what is divided by
  bool chosen_ = false;                          // SetCurrentLogprobs was called
  ObjectiveMetrics sums_;                        // means not yet divided
};

// One mini-batch through the engine: every call of it, ready for Engine::Step. `groups` are those
// of the whole step, which the mini-batch has indices of.
ObjectiveMetrics AccumulateObjective(const ObjectiveOptions& options,
                                     std::span<const TrainingGroup> groups, const MiniBatch& batch,
                                     SharedTokens shared, const Rng& rng, Engine* engine);

}  // namespace hone
