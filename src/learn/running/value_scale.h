#pragma once

#include <vector>

#include "learn/objective_options.h"
#include "learn/running/running_moments.h"
#include "learn/step.h"
#include "learn/training_group.h"

namespace hone {

// objective.value.normalise: the critic's head learns returns as distances from their running mean,
// in their running deviation, and what it says is turned back before credit reads it. Rewards of
// any size then suit one learning rate and one clip. As the value normaliser of MAPPO
// (onpolicy/utils/valuenorm.py), with moments over the whole stage. Where the moments move, what
// the head says moves with them; PopArt's correction of the head is not made, for it has no bias.
//
// Nothing changes where the option is off.
class ValueScale {
 public:
  explicit ValueScale(const ValueOptions& options) : on_(options.normalise) {}

  // What the head says becomes what it means: in units of the reward.
  void ToRewards(ModelViews* views) const;
  // The returns of a step are learned as part of the moments, and become what the head is to say.
  void Learn(std::vector<TrainingGroup>* groups);

  const RunningMoments& moments() const { return moments_; }
  Json ToJson() const { return moments_.ToJson(); }
  Result<void> Restore(const Json& state) { return moments_.Restore(state, "value_scale"); }

 private:
  bool on_;
  RunningMoments moments_;
};

}  // namespace hone
