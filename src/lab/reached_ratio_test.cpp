#include "lab/reached_ratio.h"

#include <cmath>

#include <gtest/gtest.h>

namespace hone {
namespace {

std::vector<Reached> At(const std::vector<double>& times) {
  std::vector<Reached> runs;
  for (const double time : times) {
    runs.push_back(time > 0 ? Reached{.at = time, .watched = 1000} : Reached{.watched = 1000});
  }
  return runs;
}
constexpr double kNever = -1;

TEST(ReachedRatio, IsThatOfTheMediansWithAnInterval) {
  const auto ratio =
      MedianRatio(At({200, 220, 240, 210, 230}), At({100, 110, 120, 105, 115}), Rng(1));
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->value, 2);
  EXPECT_LE(ratio->low, 2);
  EXPECT_GE(ratio->high, 2);
  EXPECT_GT(ratio->low, 1.7);
  EXPECT_LT(ratio->high, 2.4);
  EXPECT_FALSE(ratio->NoEffectShown());
}

TEST(ReachedRatio, ArmsThatAreAlikeShowNoEffect) {
  const auto ratio =
      MedianRatio(At({100, 300, 120, 280, 200}), At({300, 100, 280, 120, 200}), Rng(1));
  ASSERT_TRUE(ratio);
  EXPECT_TRUE(ratio->NoEffectShown());
}

TEST(ReachedRatio, FewSeedsThatScatterAreNoFinding) {
  // Every median of resamples is above 1, but a third seed of three could well be below it.
  const auto ratio = MedianRatio(At({110, 150, 400}), At({100, 100, 100}), Rng(1));
  ASSERT_TRUE(ratio);
  EXPECT_LT(ratio->low, 1);
  EXPECT_TRUE(ratio->NoEffectShown());
}

TEST(ReachedRatio, NeverIsNoNumber) {
  const auto later =
      MedianRatio(At({kNever, kNever, 900, kNever}), At({100, 110, 120, 130}), Rng(1));
  ASSERT_TRUE(later);
  EXPECT_TRUE(later->at_least);
  EXPECT_GT(later->low, 1);
  EXPECT_TRUE(std::isinf(later->high));
  EXPECT_TRUE(later->Text().starts_with("more than ")) << later->Text();
  EXPECT_TRUE(later->Text().ends_with("unknown]")) << later->Text();
  const auto sooner =
      MedianRatio(At({100, 110, 120, 130}), At({kNever, kNever, 900, kNever}), Rng(1));
  ASSERT_TRUE(sooner);
  EXPECT_TRUE(sooner->at_most);
  EXPECT_EQ(sooner->low, 0);
  EXPECT_LT(sooner->high, 1);
}

TEST(ReachedRatio, NothingIsKnownWhereNobodyArrives) {
  EXPECT_FALSE(MedianRatio(At({kNever, kNever}), At({kNever, kNever}), Rng(1)));
  EXPECT_FALSE(MedianRatio({}, {}, Rng(1)));
}

TEST(ReachedRatio, TheSameRunsGiveTheSameInterval) {
  const auto a = At({200, 220, 240}), b = At({100, 150, 120});
  EXPECT_EQ(MedianRatio(a, b, Rng(3))->low, MedianRatio(a, b, Rng(3))->low);
}

}  // namespace
}  // namespace hone
