#pragma once

#include "base/recipe.h"
#include "rewards/reward_options.h"

namespace hone {

// [rewards] of a recipe: one reward, or the parts of [[rewards.sum]]. What cannot be made (an
// unknown preset, a program that does not start) is a problem of the recipe, where the part stands.
RewardOptions ReadRewards(RecipeTable table);

}  // namespace hone
