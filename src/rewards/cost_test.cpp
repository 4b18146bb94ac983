#include "rewards/cost.h"

#include <gtest/gtest.h>

#include "support/tree_maker.h"

namespace hone {
namespace {

TreeMaker Priced() {
  TreeMaker maker;
  maker.tree.task.tools =
      *ParseJson(R"([{"name": "f", "parameters": {"type": "object"}, "x-hone": {"price": 0.25}}])");
  maker.tree.task.reward = *ParseJson(R"({"budget": {"calls": 1}})");
  maker.Begin().Call("f").Call("f", "{}", CallStatus::kToolError).Answer("x");
  maker.Begin().Answer("x");
  return maker;
}

TEST(Cost, CallsTokensTimeAndMoney) {
  const TreeMaker maker = Priced();
  const auto scores =
      NewCosts(
          {.per_call = 0.1, .per_token = 0.01, .per_second = 0.5, .money = 2, .over_budget = 1})
          ->ScoreTree(maker.tree, {})
          .value();
  ASSERT_EQ(scores[0].terms.size(), 4u);
  EXPECT_DOUBLE_EQ(*scores[0].terms[0].value, -(0.1 + 0.5 + 0.5));
  EXPECT_EQ(scores[0].terms[0].node, 1);
  EXPECT_DOUBLE_EQ(*scores[0].terms[2].value, -0.25);
  EXPECT_EQ(scores[0].terms[3].value, -1);
  EXPECT_DOUBLE_EQ(*Total(scores[1]), -0.05);
}

TEST(Cost, WhatCostsNothingHasNoTerm) {
  const TreeMaker maker = Priced();
  EXPECT_TRUE(NewCosts({})->ScoreTree(maker.tree, {}).value()[0].terms.empty());
}

TEST(Cost, FailedCallsAreUsedUpToo) {
  const TreeMaker maker = Priced();
  const Usage usage = UsageOf(TrajectoryOf(maker.tree, 0), TaskTools::Of(maker.tree.task));
  EXPECT_EQ(usage.calls, 2);
  EXPECT_EQ(usage.money, 0.5);
  EXPECT_EQ(usage.seconds, 2);
  EXPECT_FALSE(IsOver(usage, {}));
  EXPECT_TRUE(IsOver(usage, {.calls = 1}));
  EXPECT_TRUE(IsOver(usage, {.money = 0.4}));
  EXPECT_FALSE(IsOver(usage, {.tokens = 25}));
}

}  // namespace
}  // namespace hone
