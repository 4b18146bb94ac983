#include "engine/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace hone {
namespace {

using Shape = LearningRate::Shape;

TEST(LearningRate, RisesFromTheFirstStepAndThenStays) {
  const LearningRate rate{.peak = 2, .warmup = 4};
  EXPECT_DOUBLE_EQ(rate.At(0), 0.5) << "the first step is not wasted";
  EXPECT_DOUBLE_EQ(rate.At(3), 2);
  EXPECT_DOUBLE_EQ(rate.At(4), 2);
  EXPECT_DOUBLE_EQ(rate.At(1'000'000), 2);
}

TEST(LearningRate, FallsAlongALine) {
  const LearningRate rate{
      .peak = 1, .warmup = 10, .steps = 110, .final_share = 0.1, .shape = Shape::kLinear};
  EXPECT_DOUBLE_EQ(rate.At(10), 1);
  EXPECT_NEAR(rate.At(60), 0.55, 1e-12);
  EXPECT_NEAR(rate.At(110), 0.1, 1e-12);
  EXPECT_NEAR(rate.At(500), 0.1, 1e-12) << "stays where it ended";
}

TEST(LearningRate, FallsLikeACosineToNothing) {
  const LearningRate rate{.peak = 3e-3, .warmup = 40, .steps = 1200, .shape = Shape::kCosine};
  for (const int64_t step : {40, 41, 333, 620, 1000, 1199, 1200}) {
    const double way = static_cast<double>(step - 40) / 1160;
    EXPECT_NEAR(rate.At(step), 3e-3 * (0.5 + 0.5 * std::cos(std::numbers::pi * way)), 1e-17);
  }
  EXPECT_NEAR(rate.At(5000), 0, 1e-17);
}

TEST(LearningRate, NeverDividesByNothing) {
  const LearningRate rate{.peak = 1, .warmup = 5, .steps = 5, .shape = Shape::kLinear};
  EXPECT_DOUBLE_EQ(rate.At(5), 1);
  EXPECT_DOUBLE_EQ(rate.At(6), 0);
}

TEST(LearningRate, IsReadFromARecipe) {
  auto recipe = Recipe::Parse("learning_rate = 1e-3\nwarmup = 7\nschedule = 'cosine'\n", "r.toml");
  ASSERT_TRUE(recipe.ok());
  RecipeTable root = recipe->Root();
  const LearningRate rate = ReadLearningRate(&root, {.steps = 9, .final_share = 0.5});
  ASSERT_TRUE(recipe->Finish().ok());
  EXPECT_EQ(rate.peak, 1e-3);
  EXPECT_EQ(rate.warmup, 7);
  EXPECT_EQ(rate.shape, Shape::kCosine);
  EXPECT_EQ(rate.final_share, 0.5);
  EXPECT_EQ(rate.steps, 9);

  auto bad = Recipe::Parse("learning_rate = 0\nschedule = 'sine'\nfinal_share = 2\n", "r.toml");
  RecipeTable table = bad->Root();
  ReadLearningRate(&table, {});
  const Result<void> finished = bad->Finish();
  ASSERT_FALSE(finished.ok());
  for (const char* key : {"learning_rate", "schedule", "final_share"}) {
    EXPECT_NE(finished.error().message().find(key), std::string::npos) << key;
  }
}

TEST(LearningRate, TheShapeMayStandElsewhereThanTheStepAndTheRiseDoesNot) {
  const LearningRate rate{
      .peak = 1, .warmup = 2, .steps = 12, .shape = LearningRate::Shape::kLinear};
  EXPECT_EQ(rate.At(0, 6), 0.5);
  EXPECT_EQ(rate.At(2, 2), 1);
  EXPECT_EQ(rate.At(2, 7), 0.5);
  EXPECT_EQ(rate.At(5, 12), 0);
  EXPECT_EQ(rate.At(5, 1), 1) << "the shape begins behind the rise";
  for (int64_t step = 0; step < 14; ++step) {
    EXPECT_EQ(rate.At(step), rate.At(step, static_cast<double>(step)));
  }
}

}  // namespace
}  // namespace hone
