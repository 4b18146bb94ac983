#include "rewards/given_terms.h"

#include <algorithm>
#include <set>

#include "record/reward_terms.h"
#include "rewards/presets.h"

namespace hone {
namespace {

using Names = std::optional<std::set<std::string>>;

std::set<std::string> OfPreset(const std::string& name) {
  for (const Preset& preset : BuiltInPresets()) {
    if (preset.name != name) continue;
    std::set<std::string> terms(preset.terms.begin(), preset.terms.end());
    terms.erase(kPreferenceTerm);  // a recipe has no panel
    return terms;
  }
  return {};
}

std::set<std::string> OfCosts(const CostOptions& costs) {
  std::set<std::string> terms;
  if (costs.per_call > 0 || costs.money > 0 || costs.per_second > 0) terms.insert(kCostTerm);
  if (costs.per_token > 0) terms.insert(kLengthTerm);
  if (costs.over_budget > 0) terms.insert(kBudgetTerm);
  return terms;
}

std::set<std::string> OfThoughts(const ThoughtPay& pay) {
  std::set<std::string> terms;
  if (pay.most > 0) terms.insert(kOverlongThoughtTerm);
  if (pay.shorter > 0) terms.insert(kShortThoughtTerm);
  return terms;
}

Names OfSource(const RewardOptions& reward);

// Only those that are picked; of a program, the ones that are picked are what it is meant to give.
Names Picked(const RewardOptions& reward) {
  Names terms = OfSource(reward);
  if (reward.terms.empty()) return terms;
  const std::set<std::string> picked(reward.terms.begin(), reward.terms.end());
  if (!terms) return picked;
  std::erase_if(*terms, [&](const std::string& name) { return !picked.contains(name); });
  return terms;
}

Names OfSource(const RewardOptions& reward) {
  if (reward.preset) return OfPreset(*reward.preset);
  if (reward.costs) return OfCosts(*reward.costs);
  if (reward.thoughts) return OfThoughts(*reward.thoughts);
  if (!reward.sum) return std::nullopt;
  std::set<std::string> all;
  for (const RewardOptions& part : *reward.sum) {
    Names terms = Picked(part);
    if (!terms) return std::nullopt;
    all.merge(*terms);
  }
  return all;
}

}  // namespace

std::optional<std::vector<std::string>> GivenTerms(const RewardOptions& reward) {
  const Names terms = Picked(reward);
  if (!terms) return std::nullopt;
  return std::vector<std::string>(terms->begin(), terms->end());
}

}  // namespace hone
