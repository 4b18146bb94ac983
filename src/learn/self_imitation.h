#pragma once

#include <cstdint>
#include <vector>

#include "base/recipe.h"
#include "base/rng.h"
#include "learn/good_trajectories.h"
#include "learn/objective_options.h"
#include "learn/training_group.h"
#include "record/reward_terms.h"

namespace hone {

// SPEAR's self-imitation: own good trajectories are trained on once more, the more so the later.
struct SelfImitationOptions {
  bool on = false;
  int64_t capacity = 2048;             // trajectories replayed at once, at most
  int64_t tolerated_steps = 10;        // older ones are dropped
  int64_t remembered_groups = 10'240;  // whose baselines tell what is still good
  bool divide_by_deviation = false;
  double coefficient = 1;  // what replay weighs at last
  int64_t horizon = 200;   // steps over which its weight rises to that, along a cosine
  CovarianceOptions covariance = {.share = 0.02, .lower = 1, .upper = 40};
  Selection outcome = {{kOutcomeTerm}, {}};  // what a trajectory was worth; no key of a recipe
};
// [replay] of a recipe.
SelfImitationOptions ReadSelfImitation(RecipeTable table);

// When what is replayed; learn/good_trajectories.h is its memory. Not synchronised.
class SelfImitation {
 public:
  explicit SelfImitation(const SelfImitationOptions& options);

  // What a step's group was worth.
  void Add(const ScoredTree& record, const Credit& credit, int64_t step);

  // What this step trains on besides, each trajectory a group of one: nothing until the memory is
  // full enough, and then all of it at once. All policy tokens of a trajectory have what it earned
  // above the median of recent groups as their advantage.
  std::vector<TrainingGroup> Take(int64_t step, const Rng& rng);

  // What they are trained with, in mini-batches of their own before the same steps of the
  // optimiser: the run's clip with Clip-Cov, without KL, entropy and values, times the weight of
  // replay at this step.
  ObjectiveOptions Objective(const ObjectiveOptions& of_run, int64_t step) const;

  double WeightAt(int64_t step) const;
  size_t size() const { return buffer_.size(); }

  Json ToJson() const { return buffer_.ToJson(); }
  Result<void> Restore(const Json& state) { return buffer_.Restore(state); }

 private:
  SelfImitationOptions options_;
  GoodTrajectories buffer_;
};

}  // namespace hone
