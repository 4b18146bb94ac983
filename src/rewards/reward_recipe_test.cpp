#include "rewards/reward_recipe.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(RewardRecipe, PartsOfASumAreReadInOrder) {
  Recipe recipe = Recipe::Parse(R"(
[[rewards.sum]]
preset = "outcome"
[[rewards.sum]]
costs = {per_call = 0.25}
weight = 2.0
)",
                                "r.toml")
                      .value();
  const RewardOptions rewards = ReadRewards(recipe.Root().Table("rewards"));
  ASSERT_TRUE(recipe.Finish().ok());
  ASSERT_EQ(rewards.sum->size(), 2u);
  EXPECT_EQ((*rewards.sum)[0].preset, "outcome");
  EXPECT_EQ((*rewards.sum)[1].costs->per_call, 0.25);
  EXPECT_EQ((*rewards.sum)[1].weight.At(9), 2);
}

TEST(RewardRecipe, NothingSaidIsTheDefaultPreset) {
  Recipe recipe = Recipe::Parse("", "r.toml").value();
  EXPECT_EQ(ReadRewards(recipe.Root().Table("rewards")).preset, "default");
}

TEST(RewardRecipe, AnUnknownPresetIsAProblemOfItsLine) {
  Recipe recipe = Recipe::Parse("[rewards]\npreset = \"outcom\"\n", "r.toml").value();
  ReadRewards(recipe.Root().Table("rewards"));
  const std::string message = recipe.Finish().error().message();
  EXPECT_NE(message.find("r.toml:2"), std::string::npos) << message;
  EXPECT_NE(message.find("did you mean \"outcome\""), std::string::npos) << message;
}

}  // namespace
}  // namespace hone
