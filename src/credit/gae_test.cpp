#include "credit/gae.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "support/credit_groups.h"

namespace hone {
namespace {

TEST(Gae, LambdaOneIsTheReturnMinusTheValue) {
  const std::vector<float> rewards = {0.5f, 0, 2, 1}, values = {3, -1, 0.25f, 7};
  std::vector<float> advantages(4);
  TokenGae({1, 1}, rewards, values, advantages);
  EXPECT_EQ(advantages, (std::vector<float>{0.5f, 4, 2.75f, -6}));
}

TEST(Gae, LambdaZeroLooksOneStepAhead) {
  const std::vector<float> rewards = {0, 1}, values = {0.5f, 0.25f};
  std::vector<float> advantages(2);
  TokenGae({0.5, 0}, rewards, values, advantages);
  EXPECT_EQ(advantages, (std::vector<float>{0.5f * 0.25f - 0.5f, 0.75f}));
}

TEST(Gae, OneTurnOnTwoLevelsIsTokenGae) {
  Rng rng(3);
  std::vector<float> rewards(9, 0.0f), values(9), one(9), two(9);
  rewards.back() = 1.5f;
  for (float& value : values) value = static_cast<float>(rng.NextNormal());
  TokenGae({1, 0.9}, rewards, values, one);
  const std::vector<Span> turns = {{0, 9}};
  const std::vector<double> of_turns = {1.5};
  TwoLevelGae({1, 1}, {1, 0.9}, turns, of_turns, values, two);
  for (size_t t = 0; t < one.size(); ++t) EXPECT_NEAR(one[t], two[t], 1e-6);
}

TEST(Gae, TurnsAreSteps) {
  const std::vector<double> rewards = {0, 1}, values = {0.5, 0.25};
  EXPECT_EQ(TurnGae({1, 1}, rewards, values), (std::vector<double>{0.5, 0.75}));
}

TEST(Gae, RewardsLieWhereTheyWereEarned) {
  const ShortGroup made = GroupFrom(R"({"group":[{"terms":{"outcome":8},"turns":[
      {"tokens":4,"calls":[{"begin":0,"end":2,"terms":{"call":1}}]},
      {"author":"tool","tokens":2,"terms":{"found":2}},{"tokens":2}]}]})");
  const Group group = *GroupOf(made.record);
  EXPECT_EQ(RewardsOnTokens(group.trajectories[0], {{"*"}, {}}),
            (std::vector<float>{0, 1, 0, 2, 0, 8}));
}

}  // namespace
}  // namespace hone
