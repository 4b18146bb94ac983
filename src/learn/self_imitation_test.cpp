#include "learn/self_imitation.h"

#include <gtest/gtest.h>

#include "credit/methods.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

// A right trajectory with a call and a wrong one.
ScoredTree Record() {
  TreeMaker maker;
  maker.Begin().Call("weather").Answer("Rain");
  maker.Begin().Call("clock").Answer("Sun");
  return {maker.tree, {{0, {{"outcome", 1.0}}}, {1, {{"outcome", 0.0}}}}, {}};
}

void AddGroups(SelfImitation* replay, int groups, int64_t step) {
  for (int i = 0; i < groups; ++i) {
    const ScoredTree record = Record();
    replay->Add(record, *AssignCredit(*NewMethod("dr-grpo"), record), step);
  }
}

TEST(GoodTrajectories, TheWeightRisesAlongACosine) {
  const SelfImitation replay({.on = true, .coefficient = 2, .horizon = 200});
  // Worked out by hand from the papers' formulas.
  EXPECT_NEAR(replay.WeightAt(0), 0, 1e-12);
  EXPECT_NEAR(replay.WeightAt(50), 2 * 0.146447, 1e-5);
  EXPECT_NEAR(replay.WeightAt(100), 2 * 0.5, 1e-12);
  EXPECT_NEAR(replay.WeightAt(200), 2, 1e-12);
  EXPECT_NEAR(replay.WeightAt(250), 2, 1e-12);
}

TEST(GoodTrajectories, GoodTrajectoriesComeBackOnceThereAreEnough) {
  SelfImitation replay({.on = true, .capacity = 4, .horizon = 100});
  AddGroups(&replay, 6, 48);
  EXPECT_TRUE(replay.Take(50, Rng(1)).empty()) << "not yet one and a half times the capacity";
  AddGroups(&replay, 1, 49);
  const std::vector<TrainingGroup> groups = replay.Take(50, Rng(1));
  ASSERT_EQ(groups.size(), 4u);
  for (const TrainingGroup& group : groups) {
    ASSERT_EQ(group.sequences.size(), 1u);
    EXPECT_EQ(group.sequences[0].size(), 15u);
    // 1 above the median baseline of 0.5; the weight is the objective's, or Clip-Cov would choose
    // by it.
    for (const float advantage : group.sequences[0].advantages) EXPECT_NEAR(advantage, 0.5, 1e-6);
  }
  EXPECT_EQ(replay.size(), 0u);
  EXPECT_TRUE(replay.Take(51, Rng(1)).empty());
}

TEST(GoodTrajectories, SwitchedOffOrWithoutWeightNothingIsLost) {
  SelfImitation off({.capacity = 1});
  AddGroups(&off, 3, 0);
  EXPECT_EQ(off.size(), 0u);
  SelfImitation early({.on = true, .capacity = 1});
  AddGroups(&early, 3, 0);
  EXPECT_TRUE(early.Take(0, Rng(1)).empty());
  EXPECT_EQ(early.size(), 3u);
}

TEST(GoodTrajectories, ResumedEqualsUninterrupted) {
  const SelfImitationOptions options{.on = true, .capacity = 2};
  SelfImitation whole(options), cut(options);
  AddGroups(&whole, 4, 90);
  AddGroups(&cut, 4, 90);
  SelfImitation resumed(options);
  ASSERT_TRUE(resumed.Restore(*ParseJson(DumpJson(cut.ToJson()))).ok());
  const auto expected = whole.Take(95, Rng(2)), replayed = resumed.Take(95, Rng(2));
  ASSERT_EQ(replayed.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(replayed[i].tree, expected[i].tree);
    EXPECT_EQ(replayed[i].sequences[0].advantages, expected[i].sequences[0].advantages);
  }
  EXPECT_EQ(DumpJson(resumed.ToJson()), DumpJson(whole.ToJson()));
}

TEST(GoodTrajectories, ItsObjectiveIsTheRunsClipAlone) {
  ObjectiveOptions of_run = ObjectiveNamed("dapo");
  of_run.entropy = 0.1;
  of_run.kl.coefficient = 0.1;
  of_run.value.coefficient = 1;
  const ObjectiveOptions options =
      SelfImitation({.on = true, .horizon = 100}).Objective(of_run, 50);
  EXPECT_NEAR(options.weight, 0.5, 1e-12);
  EXPECT_EQ(options.policy, PolicyLoss::kCovarianceClip);
  EXPECT_EQ(options.clip_high, 0.28);
  EXPECT_EQ(options.covariance.upper, 40);
  EXPECT_FALSE(options.NeedsReference() || options.NeedsCritic());
  EXPECT_EQ(options.entropy, 0);
}

TEST(GoodTrajectories, IsReadFromARecipe) {
  auto recipe = Recipe::Parse(
      "on = true\ncapacity = 32\nhorizon = 300\n[covariance]\nlower = 2\nupper = 60\n", "r.toml");
  const SelfImitationOptions options = ReadSelfImitation(recipe->Root());
  ASSERT_TRUE(recipe->Finish().ok());
  EXPECT_TRUE(options.on);
  EXPECT_EQ(options.capacity, 32);
  EXPECT_EQ(options.covariance.upper, 60);
}

}  // namespace
}  // namespace hone
