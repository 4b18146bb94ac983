#include "rewards/rewarder.h"

#include <gtest/gtest.h>

#include "support/tree_maker.h"

namespace hone {
namespace {

TEST(Rewarder, LeavesThatOthersBrokeHaveNoTerms) {
  TreeMaker maker;
  maker.Begin().Call("f").End(Ending::kFailed, {}, Blame::kSimulator);
  maker.Begin().Answer("x");
  const auto rewarder = NewLeafRewarder([](const TrajectoryView& trajectory, const Labels&) {
    return std::vector<RewardTerm>{trajectory.AtAnswer("one", 1)};
  });
  const auto scores = rewarder->ScoreTree(maker.tree, {}).value();
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_TRUE(scores[0].terms.empty());
  EXPECT_EQ(Total(scores[0]), std::nullopt);
  EXPECT_EQ(Total(scores[1]), 1);
}

TEST(Rewarder, LabelsThatCannotBeReadAreAnError) {
  TreeMaker maker;
  maker.Begin().Answer("x");
  maker.tree.task.reward = 7;
  const auto rewarder = NewLeafRewarder(
      [](const TrajectoryView&, const Labels&) { return std::vector<RewardTerm>(); });
  EXPECT_FALSE(rewarder->ScoreTree(maker.tree, {}).ok());
}

}  // namespace
}  // namespace hone
