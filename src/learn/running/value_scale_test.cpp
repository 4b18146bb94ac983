#include "learn/running/value_scale.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::vector<TrainingGroup> GroupsWith(std::vector<std::vector<float>> returns) {
  std::vector<TrainingGroup> groups(1);
  for (std::vector<float>& one : returns) {
    groups[0].sequences.emplace_back();
    groups[0].sequences.back().returns = std::move(one);
  }
  return groups;
}

ModelViews ViewsOf(std::vector<float> values) {
  ModelViews views;
  views.values.push_back({std::move(values)});
  return views;
}

// Of 14.5, 0.5 and -0.5 the mean is 4.8333 and the deviation by n - 1 is 8.3865.
TEST(ValueScale, TheHeadLearnsDistancesFromTheMeanInDeviations) {
  ValueScale scale({.coefficient = 1, .normalise = true});
  ModelViews before = ViewsOf({0.0f, 2.0f});
  scale.ToRewards(&before);
  EXPECT_EQ(before.values[0][0], (std::vector<float>{0.0f, 2.0f})) << "nothing is known yet";

  std::vector<TrainingGroup> groups = GroupsWith({{14.5f}, {0.5f, -0.5f}});
  scale.Learn(&groups);
  EXPECT_NEAR(groups[0].sequences[0].returns[0], 1.152647, 1e-5);
  EXPECT_NEAR(groups[0].sequences[1].returns[0], -0.516704, 1e-5);
  EXPECT_NEAR(groups[0].sequences[1].returns[1], -0.635943, 1e-5);

  // What it should say of them is what they are.
  ModelViews after = ViewsOf({groups[0].sequences[0].returns[0], 0.0f});
  scale.ToRewards(&after);
  EXPECT_NEAR(after.values[0][0][0], 14.5, 1e-4);
  EXPECT_NEAR(after.values[0][0][1], 4.833333, 1e-5);
}

TEST(ValueScale, IsNotThereWhereItIsOff) {
  ValueScale scale({.coefficient = 1});
  std::vector<TrainingGroup> groups = GroupsWith({{14.5f, 0.5f}});
  scale.Learn(&groups);
  EXPECT_EQ(groups[0].sequences[0].returns, (std::vector<float>{14.5f, 0.5f}));
  ModelViews views = ViewsOf({3.0f});
  scale.ToRewards(&views);
  EXPECT_EQ(views.values[0][0][0], 3.0f);
}

}  // namespace
}  // namespace hone
