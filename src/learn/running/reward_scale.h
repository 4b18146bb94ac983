#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "learn/running/running_moments.h"
#include "record/score.h"

namespace hone {

// [rewards.normalise]: what is done to the values of reward terms before credit is assigned.
struct RewardScaleOptions {
  bool scale = false;              // divided by the term's running deviation
  bool centre = false;             // before that, its running mean is taken off
  double clip = 0;                 // after that, cut to +- this; 0: not cut
  std::vector<std::string> terms;  // only these; empty: all

  bool on() const { return scale || centre || clip > 0; }
};
RewardScaleOptions ReadRewardScale(RecipeTable table);

// Brings the values of each reward term to one size, whatever its reward pays: term by term, before
// weights. The deviation is that of every value of the term that credit was assigned to in the
// stage, the present step's included (as TRL's PPOTrainer.step had it with use_score_scaling,
// use_score_norm and score_clip).
class RewardScale {
 public:
  explicit RewardScale(RewardScaleOptions options) : options_(std::move(options)) {}

  // Learns from the scores of a step and changes them.
  void Apply(std::vector<ScoredTree>* records);
  // What each term is divided by now.
  std::map<std::string, double> Deviations() const;

  Json ToJson() const;
  Result<void> Restore(const Json& state);

 private:
  bool Wants(const std::string& term) const;

  RewardScaleOptions options_;
  std::map<std::string, RunningMoments> moments_;  // by term
};

}  // namespace hone
