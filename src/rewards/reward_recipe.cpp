#include "rewards/reward_recipe.h"

#include "rewards/compose.h"

namespace hone {
namespace {

RewardOptions ReadAndCheck(RecipeTable* table) {
  RewardOptions part = ReadRewardPart(table);
  if (const auto made = NewRewarder(part); !made.ok()) {
    table->Problem(part.command ? "command" : "preset", made.error().message());
  }
  return part;
}

}  // namespace

RewardOptions ReadRewards(RecipeTable table) {
  if (!table.Has("sum")) return ReadAndCheck(&table);
  RewardOptions rewards;
  rewards.sum.emplace();
  if (table.Tables("sum").empty()) table.Problem("sum", "wants at least one reward");
  for (RecipeTable& part : table.Tables("sum")) rewards.sum->push_back(ReadAndCheck(&part));
  return rewards;
}

}  // namespace hone
