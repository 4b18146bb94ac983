#include "learn/critic.h"

#include <gtest/gtest.h>

#include "credit/methods.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

TEST(Critic, TheLossIsTheLargerOfTwoErrors) {
  const ValueOptions options{.coefficient = 1, .clip = 0.5};
  const ValueTerm inside = ValueLossOf(options, 1.2, 1.0, 2.0);
  EXPECT_NEAR(inside.loss, 0.32, 1e-12);
  EXPECT_NEAR(inside.derivative, -0.8, 1e-12);
  EXPECT_FALSE(inside.clipped);
  // It moved far towards the target: held back, and no gradient.
  const ValueTerm held = ValueLossOf(options, 1.9, 1.0, 2.0);
  EXPECT_NEAR(held.loss, 0.125, 1e-12);
  EXPECT_EQ(held.derivative, 0);
  EXPECT_TRUE(held.clipped);
  // It moved far away from it: the plain error is larger and pulls it back.
  EXPECT_NEAR(ValueLossOf(options, 0.2, 1.0, 2.0).derivative, -1.8, 1e-12);
  EXPECT_FALSE(ValueLossOf({.coefficient = 1, .clip = 0}, 1.9, 1.0, 2.0).clipped);
}

TEST(Critic, ReturnsAreUnwhitenedAdvantagesPlusValues) {
  TreeMaker maker;
  maker.Begin().Answer("a");
  maker.Begin().Answer("b");
  maker.Begin().Answer("c");
  const ScoredTree record{maker.tree, {{0, {{"outcome", 1.0}}}, {1, {{"outcome", 0.0}}}}, {}};
  CriticValues values(record.tree.nodes.size());
  for (size_t n = 1; n < values.size(); ++n) values[n] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f};
  const GaeDecay decay{.gamma = 1, .lambda = 1};
  const auto returns = ReturnsOf(record, values, decay, {{"*"}, {}});
  ASSERT_TRUE(returns.ok());
  ASSERT_EQ(returns->size(), 3u);
  for (const float value : (*returns)[0].values)
    EXPECT_NEAR(value, 1, 1e-6) << "lambda 1: the return";
  for (const float value : (*returns)[1].values) EXPECT_NEAR(value, 0, 1e-6);
  EXPECT_EQ((*returns)[2].values, std::vector<float>(5, 0.0f)) << "not scored";
  // They agree with the credit method that reads the same values.
  const Result<Method> method = NewMethod("gae-token:lambda=0.9,whiten=no");
  const CreditInput input{&record, &values};
  const auto credit = AssignCredit(*method, {&input, 1});
  const auto shorter = ReturnsOf(record, values, {.gamma = 1, .lambda = 0.9}, {{"*"}, {}});
  ASSERT_TRUE(credit.ok() && shorter.ok());
  for (size_t t = 0; t < 5; ++t) {
    EXPECT_NEAR((*shorter)[0].values[t], (*credit)[0].advantages[0].values[t] + values[1][t], 1e-6);
  }
}

}  // namespace
}  // namespace hone
