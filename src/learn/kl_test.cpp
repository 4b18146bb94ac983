#include "learn/kl.h"

#include <gtest/gtest.h>

#include <cmath>

#include "credit/methods.h"
#include "record/validate.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

KlOptions With(KlEstimator estimator, bool straight_through = false) {
  return {.coefficient = 1, .estimator = estimator, .straight_through = straight_through};
}

TEST(Kl, EstimatorsAndTheirDerivatives) {
  EXPECT_NEAR(KlOf(With(KlEstimator::kK3), 0.2).value, 0.018731, 1e-6) << "by hand";
  for (const auto estimator :
       {KlEstimator::kK1, KlEstimator::kAbs, KlEstimator::kK2, KlEstimator::kK3}) {
    for (const double d : {-1.3, -0.2, 0.1, 0.7, 2.0}) {
      const double step = 1e-6;
      const double difference =
          (KlOf(With(estimator), d + step).value - KlOf(With(estimator), d - step).value) /
          (2 * step);
      EXPECT_NEAR(KlOf(With(estimator), d).derivative, difference, 1e-6) << d;
      const KlTerm through = KlOf(With(estimator, true), d);
      EXPECT_EQ(through.value, KlOf(With(estimator), d).value);
      EXPECT_EQ(through.derivative, d) << "the gradient of k2";
    }
    EXPECT_EQ(KlOf(With(estimator), 0).value, 0);
  }
}

TEST(Kl, K3IsBounded) {
  EXPECT_EQ(KlOf(With(KlEstimator::kK3), -50).value, 10);
  EXPECT_EQ(KlOf(With(KlEstimator::kK3), -50).derivative, 0);
  EXPECT_EQ(KlOf(With(KlEstimator::kK3), 50).value, 10);
}

TEST(Kl, InTheRewardItIsATermPerTokenThatCreditReads) {
  TreeMaker maker;
  maker.Begin().Call("weather").Answer("Rain");
  maker.Begin().Answer("Sun");
  ScoredTree record{maker.tree, {{0, {{"outcome", 1.0}}}, {1, {{"outcome", 1.0}}}}, {}};
  TreeLogprobs reference(record.tree.nodes.size());
  for (size_t n = 0; n < reference.size(); ++n) {
    reference[n].logprobs.assign(record.tree.nodes[n].tokens.size(), -0.75f);  // drawn: -0.5
  }
  AddKlTerms(With(KlEstimator::kK1), 0.1, reference, &record);
  EXPECT_TRUE(Validate(record).empty());
  ASSERT_EQ(record.scores[0].terms.size(), 1u + 15u);
  EXPECT_EQ(record.scores[1].terms.size(), 1u + 5u);
  EXPECT_NEAR(*Total(record.scores[0]), 1 - 0.1 * 0.25 * 15, 1e-6);
  EXPECT_EQ(record.scores[0].terms[3].span, (Span{2, 3}));
  // Equal outcomes: only the distance to the reference tells them apart.
  const auto blind = AssignCredit(*NewMethod("grpo"), record);
  const auto sees = AssignCredit(*NewMethod("dr-grpo:terms=outcome+kl"), record);
  ASSERT_TRUE(blind.ok() && sees.ok());
  EXPECT_EQ(blind->advantages[0].values[0], 0);
  EXPECT_NEAR(sees->advantages[0].values[0], -0.1 * 0.25 * 10 / 2, 1e-6);
  EXPECT_NEAR(sees->advantages[1].values[0], 0.1 * 0.25 * 10 / 2, 1e-6);
  // Token by token: what comes after a token is what it is charged with.
  const auto gae = AssignCredit(*NewMethod("gae-token:whiten=no"), record);
  ASSERT_TRUE(gae.ok());
  EXPECT_NEAR(gae->advantages[1].values[4], 1 - 0.025, 1e-6);
  EXPECT_NEAR(gae->advantages[1].values[0], 1 - 5 * 0.025, 1e-6);
}

TEST(Kl, TheControllerHoldsTheTarget) {
  KlOptions options{.coefficient = 0.1, .target = 0.02, .horizon = 1000};
  KlController controller(options);
  controller.Observe(0.2, 100);  // far above: at most 20 % of the share
  EXPECT_NEAR(controller.coefficient(), 0.1 * 1.02, 1e-12);
  controller.Observe(0.019, 100);
  EXPECT_NEAR(controller.coefficient(), 0.1 * 1.02 * (1 - 0.05 * 0.1), 1e-12);
  controller.Observe(std::nan(""), 100);
  EXPECT_NEAR(controller.coefficient(), 0.1 * 1.02 * (1 - 0.05 * 0.1), 1e-12);

  KlController resumed(options);
  ASSERT_TRUE(resumed.Restore(*ParseJson(DumpJson(controller.ToJson()))).ok());
  EXPECT_EQ(resumed.coefficient(), controller.coefficient());
  EXPECT_FALSE(resumed.Restore(*ParseJson(R"({"coefficient":-1})")).ok());
  EXPECT_FALSE(resumed.Restore(*ParseJson(R"({})")).ok());

  KlController small({.coefficient = 0.1, .target = 0.02, .horizon = 10});
  small.Observe(0, 1000);
  EXPECT_NEAR(small.coefficient(), 0.08, 1e-12) << "never below 0";

  KlController fixed({.coefficient = 0.1});
  fixed.Observe(5, 100);
  EXPECT_EQ(fixed.coefficient(), 0.1);
}

}  // namespace
}  // namespace hone
