// The laboratory: the rule over random groups, the exact gradient, and the pages made of them.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "credit/specimens.h"
#include "lab/gradient.h"
#include "lab/pages.h"
#include "lab/rule.h"

namespace hone::lab {
namespace {

std::filesystem::path Docs() { return std::filesystem::path(HONE_SOURCE_DIR) / "docs/algorithms"; }

TEST(Rule, SplitNeverBreaksItAndGrpoDoes) {
  for (const char* name :
       {"toolpo-split", "toolpo-split:baseline=pooled", "toolpo-split:baseline=none"}) {
    const RuleFigure split = *MeasureRule(name, 11, 1000);
    EXPECT_GT(split.right_calls, 5000);
    EXPECT_EQ(split.right_punished, 0) << name;
    EXPECT_EQ(split.wrong_paid, 0) << name;
  }
  const RuleFigure grpo = *MeasureRule("grpo", 11, 100);
  EXPECT_GT(grpo.right_punished, 0);
  EXPECT_GT(grpo.wrong_paid, 0);
}

TEST(Process, ProbabilitiesSumUpToOne) {
  for (const DecisionProcess& process : {Chain(1), Chain(8), Recoverable(2)}) {
    double sum = 0;
    for (const Path& path : process.paths) sum += path.probability;
    EXPECT_NEAR(sum, 1, 1e-12) << process.name;
  }
  EXPECT_EQ(Chain(8).paths.size(), 19u);
}

TEST(Process, TheTrueGradientIsThatOfTheExpectedReward) {
  // Against a difference quotient: the probability of the only successful path of a chain of 1.
  const DecisionProcess process = Chain(1);
  const std::vector<double> gradient = TrueGradient(process, {{"outcome"}, {}});
  const double p = process.policy[0][0], q = process.policy[1][2];
  EXPECT_NEAR(gradient[0], p * (1 - p) * q, 1e-12);
  EXPECT_NEAR(gradient[kChoices + 2], p * q * (1 - q), 1e-12);
}

class Unbiased : public testing::TestWithParam<std::string> {};

TEST_P(Unbiased, TheExpectedEstimateIsTheGradient) {
  const Method method = *NewMethod(GetParam());
  ASSERT_TRUE(method.promises.unbiased);
  for (const DecisionProcess& process : {Chain(1), Chain(2), Chain(4), Recoverable(1)}) {
    const std::vector<double> truth = TrueGradient(process, method.reads);
    for (const int size : {2, 3}) {
      const Result<Estimate> estimate = ExactEstimate(method, process, size, /*critic_error=*/0.4);
      ASSERT_TRUE(estimate.ok());
      for (size_t i = 0; i < truth.size(); ++i) {
        ASSERT_NEAR(estimate->mean[i], truth[i], 1e-6) << process.name << ", group of " << size;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Unbiased,
                         testing::Values("reinforce", "rloo", "loop", "turn-loo",
                                         "gae-token:whiten=no", "gae-turn:whiten=no",
                                         "gae-two-level:whiten=no", "turn-ppo:whiten=no"));

TEST(Gradient, EveryMethodThatPromisesItIsAmongThoseTested) {
  for (const std::string& name : MethodNames()) {
    const bool promises = NewMethod(SpecOf(name))->promises.unbiased;
    const bool tested = name == "reinforce" || name == "rloo" || name == "loop" ||
                        name == "turn-loo" || name.starts_with("gae-") || name == "turn-ppo";
    EXPECT_EQ(promises, tested) << name;
  }
}

TEST(Gradient, APositionBaselineIsBiasedWhenThePolicyDecidesWhenToStop) {
  Method method = *NewMethod("toolpo-per-call:calls=call");
  method.channels.erase(method.channels.begin());  // the outcome's
  const DecisionProcess process = Recoverable(1);
  const std::vector<double> truth = TrueGradient(process, {{"call"}, {}});
  const Estimate estimate = *ExactEstimate(method, process, 3);
  // No learning rate mends it: the estimate is not along the gradient.
  double along = 0, own = 0, length = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    along += truth[i] * estimate.mean[i];
    own += estimate.mean[i] * estimate.mean[i];
    length += truth[i] * truth[i];
  }
  EXPECT_LT(along / std::sqrt(own * length), 0.99);
}

TEST(Pages, TheTableOfTheRuleIsTrue) {
  const std::vector<RuleFigure> figures = *MeasureRuleForDocs();
  EXPECT_EQ(*ReadFile(Docs() / "rule.md"), RulePage(figures))
      << "run: build/release/hone lab rule --write docs/algorithms";
  for (const RuleFigure& figure : figures) {
    const Result<std::string> page = ReadFile(Docs() / (figure.method + ".md"));
    ASSERT_TRUE(page.ok()) << "docs/algorithms/" << figure.method << ".md is missing";
    EXPECT_NE(page->find("## Breaks the rule\n\n" + RuleSentence(figure) + "\n"), std::string::npos)
        << figure.method;
  }
}

TEST(Pages, TheTableOfTheGradientAndTheCurvesAreTrue) {
  const std::vector<GradientRow> rows = *GradientTable();
  EXPECT_EQ(*ReadFile(Docs() / "gradient.md"), GradientPage(rows))
      << "run: build/release/hone lab gradient --write docs/algorithms";
  EXPECT_EQ(*ReadFile(Docs() / "variance.svg"), VarianceCurves(rows));
}

TEST(Pages, EveryMethodHasOneWithTheSameHeadings) {
  const std::string index = *ReadFile(Docs() / "README.md");
  for (const std::string& name : MethodNames()) {
    const Result<std::string> page = ReadFile(Docs() / (name + ".md"));
    ASSERT_TRUE(page.ok()) << name;
    size_t at = 0;
    for (const std::string& heading : PageHeadings()) {
      at = page->find("\n" + heading + "\n", at);
      ASSERT_NE(at, std::string::npos) << name << ": " << heading;
    }
    EXPECT_NE(index.find("[" + name + "](" + name + ".md)"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace hone::lab
