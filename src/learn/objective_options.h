#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/recipe.h"

namespace hone {

// How the policy is moved by its advantages.
enum class PolicyLoss {
  kClip,            // PPO's clipped ratio, with dual clip; DAPO, TAPO, GRPO, LOOP
  kSequenceClip,    // GSPO: one ratio per sequence, its length taken out
  kClippedWeight,   // CISPO: the weight is clipped, no token's gradient is dropped
  kSoftGate,        // SAPO: a sigmoid instead of a clip
  kGeometricMean,   // GMPO: the geometric mean of clipped ratios
  kCovarianceClip,  // Clip-Cov: tokens of high covariance are left out at random
  kCovarianceKl,    // KL-Cov: tokens of the highest covariance are held where they are
  kGradient,        // GPG, REINFORCE: no ratio at all
};

// Of which tokens the ratio of kClip is the product (LOOP).
enum class RatioLevel { kToken, kTurn, kTrajectory };

// How the losses of tokens become one number. Counts are of the whole mini-batch, over paths.
enum class Aggregation {
  kTokenMean,            // sum / tokens
  kSequenceSum,          // seq-mean-token-sum: sum / sequences
  kSequenceMean,         // seq-mean-token-mean: mean over sequences of their means
  kSequenceSumConstant,  // seq-mean-token-sum-norm: sum / (sequences * norm_length), a constant
};

enum class KlEstimator { kK1, kAbs, kK2, kK3 };
enum class KlPlace { kLoss, kReward };

struct KlOptions {
  double coefficient = 0;  // 0: no reference is needed
  KlEstimator estimator = KlEstimator::kK3;
  bool straight_through = false;  // "k3+": the value of the estimator with the gradient of k2
  bool unbiased = false;          // times the ratio to the old policy, its gradient included
  KlPlace place = KlPlace::kLoss;
  double target = 0;        // above 0: the coefficient adapts to hold this
  double horizon = 10'000;  // trajectories over which it adapts
  int64_t sync_every = 0;   // steps after which the policy is mixed into the reference; 0: never
  double sync_mix = 1;      // how much of the policy; 1: the reference becomes the policy
};

struct ValueOptions {
  double coefficient = 0;    // 0: no critic
  double clip = 0.5;         // how far a value may move in one update; 0: not clipped
  double learning_rate = 0;  // highest, of the head alone; 0: the policy's
  int64_t warmup = 0;        // steps in which the head learns and the policy stands still
  bool normalise = false;    // the head learns returns in running deviations from their mean
};

// Weights old / sampled, where the update begins with other weights than drew: `old` is then what
// the policy says at its beginning, as in decoupled PPO. Without a correction it is what was
// sampled.
struct CorrectionOptions {
  enum class Kind { kNone, kTruncate, kMask, kFull };  // TIS, MIS; kFull has no cap
  Kind kind = Kind::kNone;
  bool sequence = false;   // one weight per trajectory
  double cap = 2;          // above it: cut to it, or 0
  bool two_sided = false;  // kMask: 0 below 1/cap as well
  bool normalise = false;  // divided by their mean over the mini-batch
  double veto = 0;         // a sequence with a token weight below it is left out; 0: none
  // A sequence from which the policy has moved further, by the mean over its tokens of the k3
  // estimate of KL(sampled || old), is left out; 0: none.
  double most_kl = 0;

  bool Corrects() const { return kind != Kind::kNone; }
};

// Clip-Cov and KL-Cov.
struct CovarianceOptions {
  double share = 2e-4;        // of the tokens, at least one
  double lower = 1;           // Clip-Cov: candidates are above it
  double upper = 5;           // and below this
  double kl_coefficient = 1;  // KL-Cov
};

// The coefficient of the entropy bonus adapts: learn/running/entropy_controller.h.
struct EntropyTarget {
  double nats = 0;      // per token; 0: the coefficient is fixed
  double step = 0.005;  // by which it changes after each step
  double most = 1;      // that it becomes
};

struct ObjectiveOptions {
  std::string name = "ppo";
  PolicyLoss policy = PolicyLoss::kClip;
  double clip_low = 0.2;   // ratios below 1 - clip_low are clipped
  double clip_high = 0.2;  // ratios above 1 + clip_high
  double dual_clip = 3;    // most a ratio counts where the advantage is negative; 0: no limit
  RatioLevel ratio = RatioLevel::kToken;
  Aggregation aggregation = Aggregation::kTokenMean;
  int64_t norm_length = 0;    // kSequenceSumConstant
  double temperature_up = 1;  // SAPO: of the gate for positive advantages
  double temperature_down = 1.05;
  double weight = 1;   // of the whole objective, beside others that go into the same step
  double entropy = 0;  // bonus per nat; with a target: at first
  EntropyTarget entropy_target;
  // SimpleTIR's trouble is tokens of low probability: their gradient does not get smaller as they
  // get rarer, and they drive norms up. Below this probability, where the advantage is negative,
  // the derivative is scaled by probability / limit. 0: off.
  double low_probability = 0;
  // A control: what tools returned is learned as if the policy had written it. That is what
  // forgetting the loss mask does.
  bool learn_results = false;
  CovarianceOptions covariance;
  KlOptions kl;
  ValueOptions value;
  CorrectionOptions correction;

  bool NeedsReference() const { return kl.coefficient > 0 || kl.target > 0; }
  bool NeedsCritic() const { return value.coefficient > 0; }
};

// The names that `loss` may have, each with the settings its paper has.
std::vector<std::string> ObjectiveNames();
// One of them (CHECK).
ObjectiveOptions ObjectiveNamed(std::string_view name);

// [objective] of a recipe: `loss` is a name, and what else is said there overrides its settings.
// Problems go to the recipe.
ObjectiveOptions ReadObjective(RecipeTable table);

}  // namespace hone
