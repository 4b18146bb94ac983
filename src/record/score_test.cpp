#include "record/score.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Score, TheTotalIsTheWeightedSumOfWhatWasScored) {
  Score score;
  score.terms = {{"outcome", 1.0, 10.0, kNoNode, {}}, {"which", -0.5, 1.0, 2, {}}};
  EXPECT_EQ(Total(score), 9.5);
}

TEST(Score, UnscoredIsNotZero) {
  Score score;
  score.terms = {{"judge", std::nullopt, 1.0, kNoNode, {}}};
  EXPECT_EQ(Total(score), std::nullopt);
  score.terms.push_back({"outcome", 0.0, 1.0, kNoNode, {}});
  EXPECT_EQ(Total(score), 0.0);
}

TEST(Score, AnUnscoredLeafLeavesTheMean) {
  const Score good{0, {{"outcome", 1.0, 1.0, kNoNode, {}}}};
  const Score unscored{1, {{"outcome", std::nullopt, 1.0, kNoNode, {}}}};
  EXPECT_EQ(MeanReward({good, unscored}), 1.0);
  EXPECT_EQ(MeanReward({unscored}), std::nullopt);
}

}  // namespace
}  // namespace hone
