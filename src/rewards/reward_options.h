#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/recipe.h"
#include "rewards/command_rewarder.h"
#include "rewards/component_pays.h"
#include "rewards/cost.h"
#include "rewards/flipped.h"
#include "rewards/schedule.h"
#include "rewards/thought_length.h"

// A reward as data: docs/rewards.md, "Composition". A recipe's [rewards] and a reward file in JSON
// have the same keys with the same meaning, so both are read by one description; only a weight that
// changes is [rewards.schedule] in a recipe and an object under "weight" in JSON.

namespace hone {

// Lets the terms of a part count only on leaves where another term is large enough: on the others
// they are zero. Where that term was not scored, they are not scored either.
struct TermGate {
  std::string term;  // of any part; the sum of its values on the leaf, before weights
  double at_least = 0;
};

// One reward, or one part of a sum. Exactly one of preset, command, costs, thoughts and sum
// is there.
struct RewardOptions {
  std::optional<std::string> preset;
  std::optional<ComponentPays> components;  // of the preset "default"
  std::optional<CommandRewarderOptions> command;
  std::optional<CostOptions> costs;
  std::optional<ThoughtPay> thoughts;
  std::optional<std::vector<RewardOptions>> sum;
  std::vector<std::string> terms;  // only these of its terms; empty: all
  std::optional<TermGate> gate;    // absent: always counts
  std::optional<FlipOptions> flip;
  Schedule weight;  // multiplies the weights of its terms
};

// [rewards] without a sum, or an entry of [[rewards.sum]]. Problems go to the recipe; whether there
// is such a preset or program is not looked at (reward_recipe.h).
RewardOptions ReadRewardPart(RecipeTable* table);

// The name of a preset, or an object. The error names the place below `path`.
Result<RewardOptions> RewardOptionsFromJson(const Json& json, const std::string& path);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, RewardOptions* part);
// What RewardOptionsFromJson reads as the same options.
Json ToJson(const RewardOptions& options);

// A number, or {"from", "to", "begin", "steps", "shape"}.
Result<Schedule> ScheduleFromJson(const Json& json, const std::string& path);

}  // namespace hone
