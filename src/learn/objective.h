#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "engine/engine.h"
#include "learn/batches.h"
#include "learn/objective_metrics.h"
#include "learn/objective_options.h"
#include "learn/together/slices.h"
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

  int64_t tokens() const { return tokens_; }  // in the loss of the mini-batch
  // What was summed up since the last time, of some of the groups.
  ObjectiveMetrics TakeSums();
  // The metrics of the mini-batch, from sums that hold every group once.
  ObjectiveMetrics MetricsOf(std::span<const ObjectiveMetrics> sums) const;
  // Of what went through so far: of all once every group did.
  ObjectiveMetrics metrics() const { return MetricsOf({&sums_, 1}); }

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
  int64_t vetoed_ = 0;                           // sequences
  bool chosen_ = false;                          // SetCurrentLogprobs was called
  ObjectiveMetrics sums_;                        // means not yet divided
};

// One mini-batch on its way through the engine, slice by slice. `groups` are those of the whole
// step, which the mini-batch has indices of. Whoever shares the slices with other processes makes
// the same calls as they.
class ObjectivePass {
 public:
  // What the groups of a step are trained with.
  struct Given {
    const ObjectiveOptions& options;
    std::span<const TrainingGroup> groups;
    SharedTokens shared;
  };
  // Everything must outlive it.
  ObjectivePass(const Given& given, const MiniBatch& batch, const Rng& rng, const Slices& slices,
                Engine* engine);

  int64_t tokens() const { return objective_.tokens(); }
  // Every call of one slice; whether its loss is a number.
  bool Accumulate(int64_t slice);
  // Of all slices, once each went through somewhere.
  ObjectiveMetrics Metrics();

 private:
  std::vector<Tree> TreesOf(const std::vector<size_t>& call) const;
  void TellCurrentLogprobs();

  std::span<const TrainingGroup> groups_;
  const MiniBatch& batch_;
  SharedTokens shared_;
  const Slices& slices_;
  Engine* engine_;
  Objective objective_;
  std::vector<ObjectiveMetrics> sums_;  // of the slices of this process
};

// All of a mini-batch through the engine, ready for Engine::Step.
ObjectiveMetrics AccumulateObjective(const ObjectiveOptions& options,
                                     std::span<const TrainingGroup> groups, const MiniBatch& batch,
                                     SharedTokens shared, const Rng& rng, Engine* engine);

}  // namespace hone
