#include "app/comparison/comparison_estimate.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

TEST(ComparisonEstimate, RunsThatTakeAsLongAreEstimatedOnceAndWhatTheyShareIsCountedOnce) {
  const TemporaryDirectory folder;
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "tiny.toml", TinyRecipe("runs")).ok());
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "all.toml", R"(
seeds = 3
controls = []
[[arm]]
name = "smeared-real-1"
recipe = "tiny.toml"
set = ["credit.method=smeared"]
[[arm]]
name = "attributed-real-1"
recipe = "tiny.toml"
set = ["credit.method=toolpo-per-call"]
[[arm]]
name = "placebo-real-1"
recipe = "tiny.toml"
set = ["stage.1.steps=8"]
)")
                  .ok());
  const ComparisonFile plan =
      ReadComparison({.files = {(folder.path() / "all.toml").string()}}).value();
  int64_t told = 0;
  const auto estimate = EstimateComparison(plan, folder.path() / "out",
                                           [&](const std::string& arm, int64_t done, int64_t all) {
                                             EXPECT_FALSE(arm.empty());
                                             EXPECT_LT(done, all);
                                             ++told;
                                           });
  EXPECT_GT(told, 0);
  ASSERT_TRUE(estimate.ok()) << estimate.error().message();
  ASSERT_EQ(estimate->kinds.size(), 2u) << "credit takes no time, steps do";
  EXPECT_EQ(estimate->kinds[0].runs, 6);
  EXPECT_EQ(estimate->kinds[0].imitations, 3);
  EXPECT_EQ(estimate->kinds[0].trajectories, 4 * 16);
  EXPECT_EQ(estimate->kinds[1].runs, 3);
  EXPECT_EQ(estimate->kinds[1].imitations, 0) << "they begin like the others";
  EXPECT_EQ(estimate->kinds[0].simulators, 0);
  EXPECT_GT(estimate->CoreSeconds(), 0);
  EXPECT_NE(estimate->Table(2).find("smeared-real-1"), std::string::npos);
  EXPECT_DOUBLE_EQ(estimate->ToJson(2).Find("seconds")->AsDouble(), estimate->CoreSeconds() / 2);
}

TEST(ComparisonEstimate, RunsThatChooseAndControlsCount) {
  const TemporaryDirectory folder;
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "tiny.toml", TinyRecipe("runs")).ok());
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "all.toml", R"(
seeds = 2
tuning_seeds = [11]
controls = ["start@0.5"]
[[arm]]
recipe = "tiny.toml"
grid = { "stage.1.learning_rate" = [1e-4, 3e-4, 1e-3] }
)")
                  .ok());
  const ComparisonFile plan =
      ReadComparison({.files = {(folder.path() / "all.toml").string()}}).value();
  const auto estimate = EstimateComparison(plan, folder.path() / "out");
  ASSERT_TRUE(estimate.ok()) << estimate.error().message();
  int64_t runs = 0;
  for (const ComparisonEstimate::Kind& kind : estimate->kinds) runs += kind.runs;
  EXPECT_EQ(runs, 3 * 1 + 2 + 2) << "tried, trained, and the start without rl";
}

}  // namespace
}  // namespace hone
