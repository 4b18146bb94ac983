#include "train/objective_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "credit/methods.h"

namespace hone {
namespace {

bool ReadsCritic(const Method& method) { return method.critic_targets != nullptr; }

std::string MethodsWithCritic() {
  std::vector<std::string> names;
  for (const std::string& name : MethodNames()) {
    if (ReadsCritic(NewMethod(name).value())) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void CheckCritic(const TrainingRecipe& recipe, RecipeTable* root) {
  const bool reads = ReadsCritic(recipe.method);
  if (reads && !recipe.objective.NeedsCritic()) {
    root->Table("credit").Problem(
        "method", fmt::format("{} measures advantages against a critic, and there is none; write "
                              "objective.value.coefficient = 0.5",
                              recipe.method.name));
  }
  if (!reads && recipe.objective.NeedsCritic()) {
    root->Table("objective")
        .Table("value")
        .Problem("coefficient", fmt::format("{} does not read a critic; leave it out, or choose a "
                                            "method that does: {}",
                                            recipe.method.name, MethodsWithCritic()));
  }
}

void CheckKl(const KlOptions& kl, RecipeTable table) {
  if (kl.coefficient == 0 || kl.place != KlPlace::kLoss) return;
  if (kl.estimator == KlEstimator::kK1 && !kl.straight_through && !kl.unbiased) {
    table.Problem("estimator",
                  "k1 in the loss pulls nowhere: on average its gradient is 0; write \"k3\", "
                  "\"k1+\", or place = \"reward\"");
  }
}

// What only some losses look at: each where it differs from what the loss has.
void CheckLoss(const TrainingRecipe& recipe, RecipeTable table) {
  using P = PolicyLoss;
  const ObjectiveOptions& options = recipe.objective;
  const ObjectiveOptions usual = ObjectiveNamed(options.name);
  const auto refuse = [&](const char* key, bool differs, std::initializer_list<P> readers) {
    if (!differs || std::find(readers.begin(), readers.end(), options.policy) != readers.end()) {
      return;
    }
    table.Problem(key, fmt::format("the loss {} does not look at it", options.name));
  };
  // What is replayed has a clipped ratio, whatever the loss of the run.
  if (!recipe.replay.on) {
    const std::initializer_list<P> clips = {P::kClip, P::kSequenceClip, P::kClippedWeight,
                                            P::kGeometricMean, P::kCovarianceClip};
    refuse("clip_low", options.clip_low != usual.clip_low, clips);
    refuse("clip_high", options.clip_high != usual.clip_high, clips);
    refuse("dual_clip", options.dual_clip != usual.dual_clip,
           {P::kClip, P::kSequenceClip, P::kCovarianceClip});
  }
  refuse("temperature_up", options.temperature_up != usual.temperature_up, {P::kSoftGate});
  refuse("temperature_down", options.temperature_down != usual.temperature_down, {P::kSoftGate});
  const CovarianceOptions &has = options.covariance, &had = usual.covariance;
  refuse("covariance", has.share != had.share, {P::kCovarianceClip, P::kCovarianceKl});
  refuse("covariance", has.lower != had.lower || has.upper != had.upper, {P::kCovarianceClip});
  refuse("covariance", has.kl_coefficient != had.kl_coefficient, {P::kCovarianceKl});
  if (options.norm_length != 0 && options.aggregation != Aggregation::kSequenceSumConstant) {
    table.Problem("norm_length", "only the aggregation seq-mean-token-sum-norm divides by it");
  }
}

void CheckCorrection(const TrainingRecipe& recipe, RecipeTable table) {
  const CorrectionOptions& correction = recipe.objective.correction;
  const bool drawn_otherwise = recipe.rollout.ahead > 0 || recipe.policy.on;
  if (drawn_otherwise && correction.Corrects()) return;
  const CorrectionOptions none;
  const bool same = correction.kind == none.kind && correction.sequence == none.sequence &&
                    correction.cap == none.cap && correction.two_sided == none.two_sided &&
                    correction.normalise == none.normalise && correction.veto == none.veto &&
                    correction.most_kl == none.most_kl;
  if (same) return;
  if (drawn_otherwise) {
    return table.Table("correction")
        .Problem("kind",
                 "of none has no weights, so that nothing else here has an effect; write "
                 "truncate, mask or full");
  }
  table.Problem("correction",
                "there is nothing to correct: an update begins with the weights that drew, so that "
                "every weight old / sampled is 1; leave it out, or let rollout run ahead "
                "(rollout.ahead = 1) or an endpoint draw (policy.kind)");
}

// What is learned of results counts as drawn from the weights that are there now.
void CheckResults(const TrainingRecipe& recipe, RecipeTable table) {
  if (!recipe.objective.learn_results) return;
  if (recipe.rollout.ahead > 0 || recipe.policy.on) {
    table.Problem("learn_results",
                  "wants a policy that draws with the weights it learns with: without "
                  "rollout.ahead and without policy.kind");
  }
  if (recipe.replay.on) {
    table.Problem("learn_results", "is not of what replay shows again; leave one of them out");
  }
}

}  // namespace

void CheckObjective(const TrainingRecipe& recipe, RecipeTable* root) {
  RecipeTable table = root->Table("objective");
  CheckCritic(recipe, root);
  CheckLoss(recipe, table);
  CheckKl(recipe.objective.kl, table.Table("kl"));
  CheckCorrection(recipe, table);
  CheckResults(recipe, table);
}

}  // namespace hone
