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
  const auto returns = ReturnsOf(record, values, NewMethod("grpo").value());
  ASSERT_TRUE(returns.ok());
  ASSERT_EQ(returns->size(), 3u);
  for (const float value : (*returns)[0].values)
    EXPECT_NEAR(value, 1, 1e-6) << "lambda 1: the return";
  for (const float value : (*returns)[1].values) EXPECT_NEAR(value, 0, 1e-6);
  EXPECT_EQ((*returns)[2].values, std::vector<float>(5, 0.0f)) << "not scored";
}

// What the critic learns is what the advantages are measured against, discounts and all.
TEST(Critic, MethodsWithACriticSayWhatItIsToLearn) {
  TreeMaker maker;
  maker.Begin().Call("f").Answer("b");
  maker.Begin().Answer("c");
  ScoredTree record{maker.tree, {{0, {{"outcome", 1.0}}}, {1, {{"outcome", 0.0}}}}, {}};
  record.scores[0].terms.push_back({"execution", 0.5, 1, 1, Span{2, 8}});
  CriticValues values(record.tree.nodes.size());
  for (size_t n = 0; n < values.size(); ++n) {
    if (record.tree.nodes[n].author != Author::kPolicy) continue;
    for (size_t t = 0; t < record.tree.nodes[n].tokens.size(); ++t) {
      values[n].push_back(0.1f * static_cast<float>(n + t));
    }
  }
  for (const char* name :
       {"gae-token:gamma=0.9,lambda=0.8,whiten=no", "gae-two-level:gamma=0.9,lambda=0.8,whiten=no",
        "steptool:alpha=2,whiten=no", "otc-ppo:gamma=0.9,whiten=no"}) {
    SCOPED_TRACE(name);
    const Method method = NewMethod(name).value();
    const CreditInput input{&record, &values};
    const auto credit = AssignCredit(method, {&input, 1});
    const auto returns = ReturnsOf(record, values, method);
    ASSERT_TRUE(credit.ok() && returns.ok());
    std::vector<float> along = values[1];
    along.insert(along.end(), values[3].begin(), values[3].end());
    ASSERT_EQ((*returns)[0].values.size(), along.size());
    for (size_t t = 0; t < along.size(); ++t) {
      EXPECT_NEAR((*returns)[0].values[t], (*credit)[0].advantages[0].values[t] + along[t], 1e-5);
    }
  }
  // Turns: the critic is asked at their first tokens, and all of a turn says the same.
  const Method turns = NewMethod("gae-turn:gamma=0.5,whiten=no").value();
  const auto returns = ReturnsOf(record, values, turns).value();
  for (size_t t = 0; t < 10; ++t) EXPECT_NEAR(returns[0].values[t], 0.5 + 0.5 * 1, 1e-5);
  for (size_t t = 10; t < 15; ++t) EXPECT_NEAR(returns[0].values[t], 1, 1e-5);
}

}  // namespace
}  // namespace hone
