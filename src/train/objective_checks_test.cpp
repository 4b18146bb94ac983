#include "train/objective_checks.h"

#include <gtest/gtest.h>

#include "support/tiny_recipe.h"

namespace hone {
namespace {

std::string ProblemWith(const std::vector<std::string>& overrides) {
  const auto recipe = ReadTiny("/tmp/none", overrides);
  return recipe.ok() ? std::string() : recipe.error().message();
}

void ExpectRefused(const std::vector<std::string>& overrides, std::string_view key,
                   std::string_view why) {
  const std::string problem = ProblemWith(overrides);
  EXPECT_NE(problem.find(key), std::string::npos) << key << "\n" << problem;
  EXPECT_NE(problem.find(why), std::string::npos) << why << "\n" << problem;
}

TEST(ObjectiveChecks, ResultsAreLearnedByThePolicyThatDrew) {
  ExpectRefused({"rollout.ahead=1", "objective.learn_results=true"}, "objective.learn_results",
                "without rollout.ahead");
  EXPECT_EQ(ProblemWith({"objective.learn_results=true"}), "");
}

TEST(ObjectiveChecks, NothingIsCorrectedWhereEveryWeightIsOne) {
  ExpectRefused({"objective.correction.kind=truncate"}, "objective.correction",
                "there is nothing to correct");
  ExpectRefused({"objective.correction.cap=3.0"}, "objective.correction", "is 1; leave it out");
  ExpectRefused({"rollout.ahead=1", "objective.correction.cap=3.0"}, "objective.correction.kind",
                "write truncate, mask or full");
  EXPECT_EQ(ProblemWith({"rollout.ahead=1", "objective.correction={kind='mask', cap=3.0}"}), "");
  EXPECT_EQ(ProblemWith({"objective.correction={kind='none', cap=2.0}"}), "");
}

TEST(ObjectiveChecks, ACriticAndAMethodThatReadsItComeTogether) {
  for (const char* method : {"gae-token", "gae-turn", "gae-two-level", "turn-ppo", "otc-ppo"}) {
    const std::string chosen = std::string("credit.method=") + method;
    ExpectRefused({chosen}, "credit.method", "against a critic, and there is none");
    EXPECT_EQ(ProblemWith({chosen, "objective.value.coefficient=0.5"}), "") << method;
  }
  ExpectRefused({"objective.value.coefficient=0.5"}, "objective.value.coefficient",
                "toolpo does not read a critic; leave it out, or choose a method that does: "
                "gae-token, gae-turn");
}

TEST(ObjectiveChecks, ALossIsNoMethodOfCredit) {
  for (const std::string name : {"gspo", "cispo", "sapo", "gmpo"}) {
    const std::string method = "credit.method=" + name, loss = "objective.loss=" + name;
    ExpectRefused({method}, "credit.method", "write objective.loss = \"" + name + "\"");
    ExpectRefused({method, loss}, "credit.method", "is a loss, not a method of credit");
    EXPECT_EQ(ProblemWith({"credit.method=grpo", loss}), "") << name;
  }
}

TEST(ObjectiveChecks, SettingsThatTheLossNeverLooksAtAreRefused) {
  ExpectRefused({"objective.temperature_up=2.0"}, "objective.temperature_up",
                "the loss ppo does not look at it");
  ExpectRefused({"objective.loss=gpg", "objective.clip_low=0.1"}, "objective.clip_low",
                "the loss gpg does not look at it");
  ExpectRefused({"objective.loss=gmpo", "objective.dual_clip=3.0"}, "objective.dual_clip",
                "the loss gmpo");
  ExpectRefused({"objective.covariance.share=0.1"}, "objective.covariance", "the loss ppo");
  ExpectRefused({"objective.loss=kl-cov", "objective.covariance.lower=2.0"}, "objective.covariance",
                "the loss kl-cov");
  ExpectRefused({"objective.norm_length=100"}, "objective.norm_length",
                "only the aggregation seq-mean-token-sum-norm");
  EXPECT_EQ(ProblemWith({"objective.loss=sapo", "objective.temperature_up=2.0"}), "");
  EXPECT_EQ(ProblemWith({"objective.loss=gpg", "objective.clip_low=0.1", "replay.on=true"}), "")
      << "what is replayed is clipped";
}

TEST(ObjectiveChecks, K1InTheLossPullsNowhere) {
  ExpectRefused({"objective.kl={coefficient=0.1, estimator='k1'}"}, "objective.kl.estimator",
                "on average its gradient is 0");
  for (const char* fine :
       {"coefficient=0.1, estimator='k1+'", "coefficient=0.1",
        "coefficient=0.1, estimator='k1', unbiased=true", "coefficient=0.0, estimator='k1'"}) {
    EXPECT_EQ(ProblemWith({std::string("objective.kl={") + fine + "}"}), "") << fine;
  }
}

}  // namespace
}  // namespace hone
