// Everything that goes on from step to step beside the weights is part of a checkpoint.

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/stop_after.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

// Stopped again and again, a run ends with the weights of one that was not.
void ExpectSameWeightsWhenStopped(const std::vector<std::string>& overrides) {
  const TemporaryDirectory one, two;
  const auto recipe = [&](const TemporaryDirectory& out) {
    return ReadTiny(out.path(), overrides).value();
  };
  const auto whole = Train(recipe(one), {});
  ASSERT_TRUE(whole.ok()) << whole.error().message();
  int interruptions = 0;
  Result<TrainReport> report = Error(ErrorCode::kStopped, "");
  while (!report.ok()) {
    report = Train(recipe(two), StopAfter(5).options());
    if (report.ok()) break;
    ASSERT_EQ(report.error().code(), ErrorCode::kStopped) << report.error().message();
    ASSERT_LT(++interruptions, 100);
  }
  EXPECT_GT(interruptions, 10);
  EXPECT_EQ(report->weights, whole->weights);
  EXPECT_GT(report->ratio_tokens, 0);
}

TEST(ResumedRuns, KeepCriticControllersAndReference) {
  ExpectSameWeightsWhenStopped(
      {"credit.method=gae-token", "objective.value.coefficient=0.5", "objective.value.warmup=2",
       "objective.value.learning_rate=0.003", "objective.value.normalise=true",
       "objective.kl.coefficient=0.2", "objective.kl.sync_every=2", "objective.kl.sync_mix=0.5",
       "objective.entropy_target=50", "objective.entropy_step=0.05", "stage.1.steps=8"});
}

TEST(ResumedRuns, KeepMomentsOfRewardsAndPhases) {
  ExpectSameWeightsWhenStopped(
      {"credit.method=rloo:terms=outcome+call", "rewards.normalise={scale=true, clip=2}",
       "curriculum={order='phases', phase=[{steps=3, rewards=['call=2']}, {rewards=['call=0.1']}]}",
       "dynamic_sampling={on=true, metric='call', rounds=2, pad='unfiltered'}", "stage.1.steps=8"});
  ExpectSameWeightsWhenStopped({"credit.method=rloo:terms=outcome+call",
                                "curriculum={order='entropy', by='kind', memory=2}",
                                "stage.1.steps=8"});
}

// What was being drawn ahead is drawn again, with the weights that drew it.
TEST(ResumedRuns, KeepWhatIsDrawnAhead) {
  for (const char* ahead : {"1", "2", "4"}) {
    ExpectSameWeightsWhenStopped({std::string("rollout.ahead=") + ahead, "stage.1.steps=8",
                                  "objective.correction={kind='truncate', cap=1.5}",
                                  "run.threads=2"});
  }
  ExpectSameWeightsWhenStopped({"rollout.ahead=3", "rollout.carry=1", "stage.1.steps=8",
                                "answers.mode=live",
                                "conditions=[{latency_ms=100, latency_p99_ms=3000}]"});
  ExpectSameWeightsWhenStopped(
      {"rollout.ahead=2", "stage.1.steps=8", "model.lora={rank=4}", "answers.mode=live",
       "conditions=[{latency_ms=100, latency_p99_ms=3000}]",
       "dynamic_sampling={on=true, metric='call', rounds=2, pad='unfiltered'}",
       "curriculum={order='entropy', by='kind', memory=2}"});
}

// A simulator that the policy itself refreshed is found again by the policy that made it.
TEST(ResumedRuns, KeepARefreshedSimulator) {
  const std::string small = "layers=1, width=16, heads=2, positions=128, steps=4, batch=4";
  ExpectSameWeightsWhenStopped(
      {"simulator={kind='learned'}",
       "stage=[{kind='sft', steps=60, batch=8, learning_rate=0.01, warmup=5}, {kind='simulator', "
       "tasks=10, " +
           small +
           "}, {kind='rl', steps=4, groups=4, group=4}, {kind='simulator', tasks=6, "
           "played_by='policy', " +
           small + "}, {kind='rl', steps=4, groups=4, group=4}]"});
}

}  // namespace
}  // namespace hone
