#include "learn/objective_options.h"

#include <array>

#include "base/check.h"

namespace hone {
namespace {

ObjectiveOptions Named(const char* name, PolicyLoss policy, double low, double high, double dual,
                       Aggregation aggregation) {
  ObjectiveOptions options;
  options.name = name;
  options.policy = policy;
  options.clip_low = low;
  options.clip_high = high;
  options.dual_clip = dual;
  options.aggregation = aggregation;
  return options;
}

// What papers and their programs use. CISPO: no bound from below, weights up to 5.
std::vector<ObjectiveOptions> All() {
  using P = PolicyLoss;
  using A = Aggregation;
  return {
      Named("ppo", P::kClip, 0.2, 0.2, 3, A::kTokenMean),
      Named("grpo", P::kClip, 0.2, 0.2, 3, A::kSequenceMean),
      Named("dr-grpo", P::kClip, 0.2, 0.2, 3, A::kSequenceSumConstant),
      Named("dapo", P::kClip, 0.2, 0.28, 10, A::kTokenMean),
      Named("tapo", P::kClip, 0.2, 0.28, 10, A::kTokenMean),
      Named("loop", P::kClip, 0.2, 0.2, 3, A::kTokenMean),
      Named("gspo", P::kSequenceClip, 3e-4, 4e-4, 0, A::kSequenceMean),
      Named("cispo", P::kClippedWeight, 1, 4, 0, A::kTokenMean),
      Named("sapo", P::kSoftGate, 0.2, 0.2, 0, A::kSequenceMean),
      Named("gmpo", P::kGeometricMean, 0.4, 0.4, 0, A::kSequenceMean),
      Named("clip-cov", P::kCovarianceClip, 0.2, 0.2, 0, A::kTokenMean),
      Named("kl-cov", P::kCovarianceKl, 0.2, 0.2, 0, A::kTokenMean),
      Named("gpg", P::kGradient, 0.2, 0.2, 0, A::kTokenMean),
  };
}

// Words of a recipe for the values of an enum, in their order.
template <typename Enum, size_t kCount>
void ReadEnum(RecipeTable* table, std::string_view key, Enum* value,
              const std::array<const char*, kCount>& words, std::string_view comment) {
  std::string word = words[static_cast<size_t>(*value)];
  table->ReadChoice(key, &word, std::vector<std::string>(words.begin(), words.end()), comment);
  for (size_t i = 0; i < kCount; ++i) {
    if (word == words[i]) *value = static_cast<Enum>(i);
  }
}

void ReadKl(RecipeTable table, KlOptions* kl) {
  table.Read("coefficient", &kl->coefficient, "0: no reference", AtLeast(0));
  ReadEnum(&table, "place", &kl->place, std::array{"loss", "reward"}, "where it is taken off");
  // In the reward only k1 pulls along the gradient of the KL: k3 hardly pulls at all.
  std::string estimator = kl->place == KlPlace::kReward ? "k1" : "k3";
  table.ReadChoice("estimator", &estimator, {"k1", "abs", "k2", "k3", "k1+", "abs+", "k2+", "k3+"},
                   "of the distance; with +: its value with the gradient of k2; in the reward: k1");
  kl->straight_through = estimator.back() == '+';
  if (kl->straight_through) estimator.pop_back();
  kl->estimator = estimator == "k1"    ? KlEstimator::kK1
                  : estimator == "abs" ? KlEstimator::kAbs
                  : estimator == "k2"  ? KlEstimator::kK2
                                       : KlEstimator::kK3;
  table.Read("unbiased", &kl->unbiased, "times the ratio to the old policy");
  table.Read("target", &kl->target, "the coefficient adapts to hold this; 0: it is fixed",
             AtLeast(0));
  table.Read("horizon", &kl->horizon, "trajectories over which it adapts", AtLeast(1));
  table.Read("sync_every", &kl->sync_every,
             "steps after which the policy is mixed into the reference; 0: never", AtLeast(0));
  table.Read("sync_mix", &kl->sync_mix, "how much of the policy; 1: all", Between(0, 1));
  if (kl->sync_every > 0 && kl->coefficient == 0) {
    table.Problem("sync_every", "there is no reference; write a coefficient above 0");
  }
  if (kl->sync_mix == 0) table.Problem("sync_mix", "must be above 0");
  if (kl->sync_mix != 1 && kl->sync_every == 0) {
    table.Problem("sync_mix", "nothing is mixed without sync_every");
  }
  if (kl->target > 0 && kl->coefficient == 0) {
    table.Problem("target", "a target needs a coefficient above 0 to begin with");
  }
  if (kl->place == KlPlace::kReward && kl->unbiased) {
    table.Problem("unbiased", "only a KL in the loss has a ratio to be corrected by");
  }
}

void ReadEntropy(RecipeTable* table, ObjectiveOptions* options) {
  EntropyTarget& target = options->entropy_target;
  const EntropyTarget usual;
  table->Read("entropy", &options->entropy, "bonus per nat", AtLeast(0));
  table->Read("entropy_target", &target.nats,
              "nats per token below which the bonus adapts; 0: it is fixed", AtLeast(0));
  table->Read("entropy_step", &target.step, "by which it adapts after each step", Above(0));
  table->Read("entropy_most", &target.most, "that it becomes", Above(0));
  if (target.nats > 0 && options->entropy > target.most) {
    table->Problem("entropy", "must be at most entropy_most to begin with");
  }
  if (target.nats > 0) return;
  if (target.step != usual.step) table->Problem("entropy_step", "there is no entropy_target");
  if (target.most != usual.most) table->Problem("entropy_most", "there is no entropy_target");
}

void ReadValue(RecipeTable table, ValueOptions* value) {
  table.Read("coefficient", &value->coefficient, "0: no critic", AtLeast(0));
  table.Read("clip", &value->clip, "how far a value may move in an update; 0: no limit",
             AtLeast(0));
  table.Read("learning_rate", &value->learning_rate, "of the critic's head; 0: the policy's",
             AtLeast(0));
  table.Read("warmup", &value->warmup, "steps in which only the critic's head learns", AtLeast(0));
  table.Read("normalise", &value->normalise, "it learns returns in deviations from their mean");
  if (value->coefficient > 0) return;
  const ValueOptions none;
  for (const auto& [key, same] : {std::pair{"learning_rate", value->learning_rate == 0},
                                  std::pair{"warmup", value->warmup == none.warmup},
                                  std::pair{"normalise", value->normalise == none.normalise}}) {
    if (!same) table.Problem(key, "there is no critic; write a coefficient above 0");
  }
}

void ReadCorrection(RecipeTable table, CorrectionOptions* correction) {
  ReadEnum(&table, "kind", &correction->kind, std::array{"none", "truncate", "mask", "full"},
           "what is done to weights old / sampled above the cap; full: nothing; none: no weights");
  table.Read("sequence", &correction->sequence, "one weight per trajectory");
  table.Read("cap", &correction->cap, "", AtLeast(1));
  table.Read("two_sided", &correction->two_sided, "mask: below 1 / cap as well");
  table.Read("normalise", &correction->normalise, "divided by their mean");
  table.Read("veto", &correction->veto, "sequences with a token below it are left out",
             Between(0, 1));
  table.Read("most_kl", &correction->most_kl,
             "sequences from which the policy has moved further are left out; 0: none", AtLeast(0));
}

}  // namespace

std::vector<std::string> ObjectiveNames() {
  std::vector<std::string> names;
  for (const ObjectiveOptions& options : All()) names.push_back(options.name);
  return names;
}

ObjectiveOptions ObjectiveNamed(std::string_view name) {
  for (const ObjectiveOptions& options : All()) {
    if (options.name == name) return options;
  }
  CHECK(false, "no objective of that name");
  return {};
}

ObjectiveOptions ReadObjective(RecipeTable table) {
  std::string name = "ppo";
  table.ReadChoice("loss", &name, ObjectiveNames(), "how advantages move the policy");
  ObjectiveOptions options = ObjectiveNamed(name);
  table.Read("clip_low", &options.clip_low, "ratios below 1 - this are clipped", Between(0, 1));
  table.Read("clip_high", &options.clip_high, "ratios above 1 + this are clipped", AtLeast(0));
  table.Read("dual_clip", &options.dual_clip,
             "most a ratio counts where the advantage is negative; 0: no limit", AtLeast(0));
  if (options.dual_clip > 0 && options.dual_clip <= 1) {
    table.Problem("dual_clip", "must be above 1, or 0 for no limit");
  }
  ReadEnum(&table, "ratio", &options.ratio, std::array{"token", "turn", "trajectory"},
           "of what the ratio is (LOOP)");
  if (options.ratio != RatioLevel::kToken && options.policy != PolicyLoss::kClip) {
    table.Problem("ratio", "the loss " + name + " has a ratio of its own");
  }
  ReadEnum(&table, "aggregation", &options.aggregation,
           std::array{"token-mean", "seq-mean-token-sum", "seq-mean-token-mean",
                      "seq-mean-token-sum-norm"},
           "how the losses of tokens become one number");
  table.Read(
      "norm_length", &options.norm_length,
      "seq-mean-token-sum-norm: by what the sum of a sequence is divided, whatever its length; "
      "e.g. the most tokens of a response",
      AtLeast(0));
  if (options.aggregation == Aggregation::kSequenceSumConstant && options.norm_length == 0) {
    table.Problem("norm_length", "must be given with the aggregation seq-mean-token-sum-norm");
  }
  table.Read("temperature_up", &options.temperature_up, "sapo: for positive advantages", Above(0));
  table.Read("temperature_down", &options.temperature_down, "sapo: for the others", Above(0));
  ReadEntropy(&table, &options);
  table.Read("low_probability", &options.low_probability,
             "rarer tokens with a negative advantage are held back; 0: off", Between(0, 1));
  table.Read("learn_results", &options.learn_results,
             "a control: learns what tools returned as if the policy had written it");
  RecipeTable covariance = table.Table("covariance");
  covariance.Read("share", &options.covariance.share, "of the tokens", Between(0, 1));
  covariance.Read("lower", &options.covariance.lower, "clip-cov: candidates are above it");
  covariance.Read("upper", &options.covariance.upper, "clip-cov: and below this");
  covariance.Read("kl_coefficient", &options.covariance.kl_coefficient, "kl-cov", AtLeast(0));
  ReadKl(table.Table("kl"), &options.kl);
  ReadValue(table.Table("value"), &options.value);
  ReadCorrection(table.Table("correction"), &options.correction);
  return options;
}

}  // namespace hone
