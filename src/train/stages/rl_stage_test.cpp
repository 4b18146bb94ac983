#include "train/stages/rl_stage.h"

#include <gtest/gtest.h>

#include "support/tiny_context.h"
#include "train/stages/sft_stage.h"

namespace hone {
namespace {

// A policy that has seen enough to call and to answer.
class RlTrainingTest : public testing::Test {
 protected:
  void Prepare(const std::vector<std::string>& overrides = {}) {
    tiny_ = std::make_unique<TinyContext>(overrides);
    const auto imitation =
        SftTraining::Open(SettingsOf<SftStage>(tiny_->recipe.stages[0]), 0, tiny_->context.get())
            .value();
    for (int64_t step = 0; step < 60; ++step) ASSERT_TRUE(imitation->Step(step).ok());
    training_ =
        RlTraining::New(SettingsOf<RlStage>(tiny_->recipe.stages[1]), 1, true, tiny_->context.get())
            .value();
  }

  std::unique_ptr<TinyContext> tiny_;
  std::unique_ptr<RlTraining> training_;
};

TEST_F(RlTrainingTest, AStepLeavesValidRecordsWithScoresAndCredit) {
  Prepare();
  const Result<StageStep> step = training_->Step(0);
  ASSERT_TRUE(step.ok()) << step.error().message();
  ASSERT_EQ(step->records.size(), 4u);
  for (const ScoredTree& record : step->records) {
    EXPECT_EQ(record.tree.leaves.size(), 4u);
    EXPECT_EQ(record.scores.size(), 4u);
    EXPECT_EQ(record.advantages.size(), 4u);
  }
  EXPECT_GT(step->ratio_tokens, 0);
  for (const char* name : {"success", "reward/mean", "reward/outcome", "when", "entropy",
                           "grad_norm", "zero_advantage_groups", "sampled_tokens"}) {
    EXPECT_TRUE(step->values.contains(name)) << name;
  }
  // Every metric that alarms watch in a step is measured. Calls in another format are told only
  // where there are any, how far an endpoint is off where one draws.
  for (const std::string& name : WatchedMetrics()) {
    if (name == "dev/success" || name == "unread_call_rate" || name == "mismatch/kl") continue;
    EXPECT_TRUE(step->values.contains(name)) << name;
  }
}

TEST_F(RlTrainingTest, NoRealToolIsAskedWhereTheRecipeSimulates) {
  Prepare();
  const auto asked = [&] {
    int64_t calls = 0;
    for (const auto& [source, count] : tiny_->context->real->executor()->counts().by_source) {
      calls += count;
    }
    return calls;
  };
  const int64_t before = asked();
  ASSERT_TRUE(training_->Step(0).ok());
  EXPECT_EQ(asked(), before);
}

TEST_F(RlTrainingTest, TasksThatCannotBeBegunAreNotPassedOverInSilence) {
  tiny_ = std::make_unique<TinyContext>(std::vector<std::string>{
      "environment.tasks={chain=8}", "model.fresh.positions=16", "rollout.turn_tokens=4"});
  training_ =
      RlTraining::New(SettingsOf<RlStage>(tiny_->recipe.stages[1]), 1, true, tiny_->context.get())
          .value();
  const Result<StageStep> step = training_->Step(0);
  ASSERT_FALSE(step.ok());
  EXPECT_NE(step.error().message().find("none of the 4 tasks of step 0 could be begun"),
            std::string::npos)
      << step.error().message();
}

// TencentYoutuResearch/SPEAR takes from the buffer, updates, and only then adds the step's own.
TEST_F(RlTrainingTest, WhatIsReplayedIsOfEarlierSteps) {
  Prepare({"replay={on=true, capacity=1, horizon=0}", "credit.method='grpo:terms=call'"});
  bool replayed = false;
  for (int64_t i = 0; i < 12; ++i) {
    const bool there = training_->State().Find("replay")->Find("entries")->AsArray().size() > 1;
    const Result<StageStep> step = training_->Step(i);
    ASSERT_TRUE(step.ok()) << step.error().message();
    if (!there) {
      EXPECT_EQ(step->values.at("replayed"), 0) << "its own trajectories, at step " << i;
    }
    replayed |= step->values.at("replayed") > 0;
  }
  EXPECT_TRUE(replayed);
}

TEST_F(RlTrainingTest, SchedulesEndWithTheTrajectoriesWhereTheseEndTheStage) {
  Prepare({"stage.1.trajectories=64", "stage.1.steps=100", "stage.1.warmup=0",
           "stage.1.schedule=linear", "stage.1.learning_rate=1e-3", "stage.1.final_share=0.0"});
  // 16 trajectories a step: a quarter of the way each.
  for (int64_t i = 0; i < 4; ++i) {
    const Result<StageStep> step = training_->Step(i);
    ASSERT_TRUE(step.ok()) << step.error().message();
    EXPECT_NEAR(step->values.at("learning_rate"), 1e-3 * (1 - static_cast<double>(i) / 4), 1e-9);
  }
  EXPECT_TRUE(training_->IsOver(4));
}

TEST_F(RlTrainingTest, ReMaxDrawsAGreedyTrajectoryBesideTheOthers) {
  Prepare({"credit.method=remax"});
  const Result<StageStep> step = training_->Step(0);
  ASSERT_TRUE(step.ok()) << step.error().message();
  for (const ScoredTree& record : step->records) {
    ASSERT_EQ(record.tree.leaves.size(), 5u);
    int greedy = 0;
    for (size_t i = 0; i < 5; ++i) {
      bool cold = true;
      for (const NodeId id : WholePathTo(record.tree, record.tree.leaves[i].node)) {
        const Node& node = record.tree.nodes[static_cast<size_t>(id)];
        if (node.author == Author::kPolicy) cold &= node.sampling.temperature == 0;
      }
      if (!cold) continue;
      ++greedy;
      for (const float value : record.advantages[i].values) EXPECT_EQ(value, 0);
    }
    EXPECT_EQ(greedy, 1);
  }
  EXPECT_GT(step->ratio_tokens, 0);
}

TEST_F(RlTrainingTest, TrajectoriesThatWereCutOffLeaveTheLossIfTheRecipeSaysSo) {
  for (const bool mask : {false, true}) {
    Prepare({"rollout.turn_tokens=2", "credit.method=grpo",
             std::string("credit.mask_truncated=") + (mask ? "true" : "false")});
    const Result<StageStep> step = training_->Step(0);
    ASSERT_TRUE(step.ok()) << step.error().message();
    EXPECT_EQ(step->values.at("truncated_rate"), 1) << "inside a turn";
    EXPECT_EQ(step->ratio_tokens == 0, mask);
  }
}

TEST_F(RlTrainingTest, AnAlarmMixesDemonstrationsBackIn) {
  Prepare({"alarms={mode='apply', set=[{name='call-collapse', bound=1000, window=1}]}"});
  int mixed = 0;
  for (int64_t i = 0; i < 8 && mixed < 2; ++i) {
    const Result<StageStep> step = training_->Step(i);
    ASSERT_TRUE(step.ok()) << step.error().message();
    const double share = training_->remedies().demonstration_share;
    ASSERT_EQ(step->values.contains("imitated_tokens"), share > 0) << i;
    if (share == 0) continue;
    ++mixed;
    EXPECT_GE(step->values.at("imitated_tokens"), share * static_cast<double>(step->ratio_tokens));
    EXPECT_GT(step->values.at("grad_norm"), 0);
  }
  EXPECT_EQ(mixed, 2) << "the alarm never fired";
}

TEST_F(RlTrainingTest, TheStateRestoresWhatComesNext) {
  Prepare({"curriculum.order=dynamic", "objective.kl.coefficient=0.1", "objective.kl.target=0.05"});
  ASSERT_TRUE(training_->Step(0).ok());
  const Json state = training_->State();
  auto other =
      RlTraining::New(SettingsOf<RlStage>(tiny_->recipe.stages[1]), 1, false, tiny_->context.get())
          .value();
  ASSERT_TRUE(other->Restore(state).ok());
  EXPECT_EQ(other->State(), state);
  EXPECT_FALSE(other->Restore(Json::Of({{"kl", 1}})).ok()) << "what is missing is an error";
}

TEST_F(RlTrainingTest, NormalisedRewardsAreThoseThatCreditReads) {
  Prepare({"rewards.normalise.scale=true", "rewards.normalise.clip=0.5"});
  const Result<StageStep> step = training_->Step(0);
  ASSERT_TRUE(step.ok()) << step.error().message();
  EXPECT_TRUE(step->values.contains("reward_deviation/outcome"));
  for (const ScoredTree& record : step->records) {
    for (const Score& score : record.scores) {
      for (const RewardTerm& term : score.terms) EXPECT_LE(std::abs(term.value.value_or(0)), 0.5);
    }
  }
  const Json state = training_->State();
  ASSERT_NE(state.Find("reward_scale"), nullptr);
  auto other =
      RlTraining::New(SettingsOf<RlStage>(tiny_->recipe.stages[1]), 1, false, tiny_->context.get())
          .value();
  ASSERT_TRUE(other->Restore(state).ok());
  EXPECT_EQ(other->State(), state);
}

TEST_F(RlTrainingTest, TheEntropyBonusGrowsWhileEntropyIsBelowItsTarget) {
  Prepare({"objective.entropy=0.01", "objective.entropy_target=50"});
  double before = 0;
  for (int64_t i = 0; i < 3; ++i) {
    const Result<StageStep> step = training_->Step(i);
    ASSERT_TRUE(step.ok()) << step.error().message();
    const double wanted = i == 0 ? 0 : 0.01 + 0.005 * static_cast<double>(i);
    EXPECT_NEAR(step->values.at("entropy_coefficient"), wanted, 1e-12);
    before = step->values.at("entropy_loss");
  }
  EXPECT_LT(before, 0) << "the bonus is part of the loss";
  const Json state = training_->State();
  auto other =
      RlTraining::New(SettingsOf<RlStage>(tiny_->recipe.stages[1]), 1, false, tiny_->context.get())
          .value();
  ASSERT_TRUE(other->Restore(state).ok());
  EXPECT_EQ(other->State(), state);
}

TEST_F(RlTrainingTest, TheWeightsOfRewardsFollowThePhase) {
  Prepare(
      {"curriculum={order='phases', phase=[{name='calls', steps=1, rewards=['outcome=0', "
       "'call=3']}, {name='answers', rewards=['call=0.5']}]}"});
  for (int64_t i = 0; i < 2; ++i) {
    const Result<StageStep> step = training_->Step(i);
    ASSERT_TRUE(step.ok()) << step.error().message();
    int64_t calls = 0;
    for (const ScoredTree& record : step->records) {
      for (const Score& score : record.scores) {
        for (const RewardTerm& term : score.terms) {
          if (term.name == "outcome") {
            EXPECT_EQ(term.weight, i == 0 ? 0 : 1);
          }
          if (term.name != "call") continue;
          ++calls;
          EXPECT_EQ(term.weight, i == 0 ? 3 : 0.5);
        }
      }
    }
    EXPECT_GT(calls, 0);
  }
}

}  // namespace
}  // namespace hone
