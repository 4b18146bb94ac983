#include "train/compare/outcome_arm.h"

#include <algorithm>

#include <fmt/format.h>

#include "record/reward_terms.h"
#include "rewards/given_terms.h"

namespace hone {
namespace {

enum class Pay { kUnknown, kNoRl, kOutcome, kMore };

// The arm as it would be run with the first setting of its grid.
Result<PlannedRun> Sketch(ComparisonFile comparison, size_t place) {
  ComparisonArm& arm = comparison.arms[place];
  if (!arm.grid.empty()) {
    arm.changes.insert(arm.changes.end(), arm.grid[0].begin(), arm.grid[0].end());
  }
  return PlanRun(comparison, place, 1, "");
}

// What reaches its credit: terms that the reward gives and the method reads.
Pay PayOf(const TrainingRecipe& recipe) {
  const bool practises = std::any_of(recipe.stages.begin(), recipe.stages.end(),
                                     [](const auto& stage) { return stage->traits().practice; });
  if (!practises) return Pay::kNoRl;
  const Result<RewardOptions> rewards = RewardOptionsFromJson(recipe.rewards, "rewards");
  if (!rewards.ok()) return Pay::kUnknown;
  // A program names its terms itself: then what the method looks for.
  const std::vector<std::string> given = GivenTerms(*rewards).value_or(recipe.method.reads.names);
  for (const std::string& term : given) {
    if (term != kOutcomeTerm && recipe.method.reads.Has(term)) return Pay::kMore;
  }
  return Pay::kOutcome;
}

// Keys that the outcome arm says itself.
bool IsAboutPay(const std::string& change) {
  return change.starts_with("credit.") || change.starts_with("rewards.");
}

ComparisonArm OutcomeArm(const ComparisonArm& from, const TrainingRecipe& recipe) {
  ComparisonArm arm = from;
  arm.name = "outcome-only-" + from.name;
  arm.label = fmt::format("outcome alone (made from {})", from.label);
  arm.changes.push_back("credit.method=grpo");
  // GRPO reads the outcome and nothing else. What else is drawn or shown by rewards shall, too;
  // parts of a sum are left, since not each has an outcome.
  const Result<RewardOptions> rewards = RewardOptionsFromJson(recipe.rewards, "rewards");
  if (rewards.ok() && !rewards->sum) arm.changes.push_back("rewards.terms=[\"outcome\"]");
  std::vector<std::vector<std::string>> grid;
  for (std::vector<std::string> setting : arm.grid) {
    setting.erase(std::remove_if(setting.begin(), setting.end(), IsAboutPay), setting.end());
    if (setting.empty() || std::find(grid.begin(), grid.end(), setting) != grid.end()) continue;
    grid.push_back(std::move(setting));
  }
  arm.grid = std::move(grid);
  return arm;
}

void Complete(ComparisonSection* section, ComparisonFile* comparison) {
  std::optional<size_t> payer;  // the baseline, or the first arm that pays for more
  std::vector<size_t> order = {section->arms[section->baseline]};
  order.insert(order.end(), section->arms.begin(), section->arms.end());
  for (const size_t place : order) {
    const Result<PlannedRun> run = Sketch(*comparison, place);
    const Pay pay = run.ok() ? PayOf(run->recipe) : Pay::kUnknown;
    if (pay == Pay::kOutcome || pay == Pay::kUnknown) return;
    if (pay == Pay::kMore && !payer) payer = place;
  }
  if (!payer) return;
  const std::string missing =
      "no arm here is paid for the outcome alone: what paying for calls does cannot be told";
  if (!section->outcome_control) {
    section->notes.push_back(missing + " (outcome_control = true adds one)");
    return;
  }
  const ComparisonArm arm =
      OutcomeArm(comparison->arms[*payer], Sketch(*comparison, *payer)->recipe);
  const auto found = std::find(comparison->arms.begin(), comparison->arms.end(), arm);
  const auto place = static_cast<size_t>(found - comparison->arms.begin());
  if (found == comparison->arms.end()) comparison->arms.push_back(arm);
  if (const Result<PlannedRun> made = Sketch(*comparison, place); !made.ok()) {
    if (place + 1 == comparison->arms.size()) comparison->arms.pop_back();
    section->notes.push_back(fmt::format("{}; none could be made of {}: {}", missing,
                                         comparison->arms[*payer].label, made.error().message()));
    return;
  }
  section->arms.push_back(place);
}

}  // namespace

ComparisonFile WithOutcomeArms(ComparisonFile comparison) {
  for (ComparisonSection& section : comparison.sections) {
    Complete(&section, &comparison);
  }
  return comparison;
}

}  // namespace hone
