#include "dash/dash_progress.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

RecipeFacts Stages() {
  RecipeFacts facts;
  facts.stages = {{"sft", 200}, {"simulator", 500}, {"rl", 15}};
  return facts;
}

TEST(DashProgress, StepsOfAnotherStageAreNoMeasure) {
  std::vector<int64_t> steps;
  std::vector<double> seconds;
  for (int64_t step = 1; step <= 203; ++step) {
    steps.push_back(step);
    seconds.push_back(step <= 200 ? 0.1 : 10);
  }
  const RunProgress progress = ProgressOf(Stages(), 203, steps, seconds);
  EXPECT_EQ(progress.stage, "rl");
  EXPECT_EQ(progress.step, 3);
  EXPECT_EQ(progress.steps, 15);
  EXPECT_EQ(progress.later, 0);
  EXPECT_DOUBLE_EQ(progress.left.value(), 120);
  EXPECT_NEAR(progress.share.value(), 50.0 / 170, 1e-9) << "and not 203 of 215 steps";
}

TEST(DashProgress, NothingIsSaidOfAStageThatHasNotBegun) {
  const RunProgress progress = ProgressOf(Stages(), 50, {49, 50}, {0.1, 0.1});
  EXPECT_EQ(progress.stage, "sft");
  EXPECT_EQ(progress.step, 50);
  EXPECT_EQ(progress.later, 1);
  EXPECT_NEAR(progress.left.value(), 15, 1e-9);
  EXPECT_EQ(progress.share, std::nullopt);
  const RunProgress begun = ProgressOf(Stages(), 200, {200}, {0.1});
  EXPECT_EQ(begun.stage, "rl") << "the first of the next stage is under way";
  EXPECT_EQ(begun.step, 0);
  EXPECT_EQ(begun.left, std::nullopt);
}

TEST(DashProgress, ARunThatIsDoneHasNothingLeft) {
  const RunProgress progress = ProgressOf(Stages(), 215, {214, 215}, {10, 10});
  EXPECT_EQ(progress.step, 15);
  EXPECT_DOUBLE_EQ(progress.left.value(), 0);
  EXPECT_DOUBLE_EQ(progress.share.value(), 1);
  EXPECT_EQ(ProgressOf(RecipeFacts(), 0, {}, {}).stage, "");
}

}  // namespace
}  // namespace hone
