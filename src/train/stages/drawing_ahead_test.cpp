#include "train/stages/drawing_ahead.h"

#include <regex>

#include <gtest/gtest.h>

#include "record/record_json.h"
#include "support/tiny_context.h"
#include "train/stages/rl_stage.h"
#include "train/trainer.h"

namespace hone {
namespace {

// A stage of practice of a policy that has seen enough to call and to answer.
class AheadTest : public testing::Test {
 protected:
  void Prepare(const std::vector<std::string>& overrides = {}) {
    training_.reset();
    tiny_ = std::make_unique<TinyContext>(overrides);
    ASSERT_TRUE(tiny_->Imitate(60).ok());
    training_ =
        RlTraining::New(SettingsOf<RlStage>(tiny_->recipe.stages[1]), 1, true, tiny_->context.get())
            .value();
  }
  StageStep Step(int64_t step) {
    Result<StageStep> done = training_->Step(step);
    EXPECT_TRUE(done.ok()) << done.error().message();
    return done.ok() ? *std::move(done) : StageStep();
  }

  std::unique_ptr<TinyContext> tiny_;
  std::unique_ptr<RlTraining> training_;
};

TEST_F(AheadTest, AStepIsDrawnWithTheWeightsBeforeTheStepsThatItIsAheadOf) {
  Prepare({"rollout.ahead=2", "stage.1.steps=6"});
  for (int64_t step = 0; step < 6; ++step) {
    // What the policy of then says of what was drawn shows which weights drew it.
    const StageStep done = Step(step);
    const int64_t version = std::max<int64_t>(0, step - 2);
    EXPECT_EQ(done.values.at("lag"), static_cast<double>(step - version));
    for (const ScoredTree& record : done.records) {
      for (const Node& node : record.tree.nodes) {
        if (node.author == Author::kPolicy) {
          EXPECT_EQ(node.policy_version, version);
        }
      }
    }
    EXPECT_EQ(done.ratio_tokens > 0, version == step);
  }
  EXPECT_TRUE(training_->IsOver(6));
}

// Tasks, draws, scores and credit: all is as if it had not been done elsewhere.
TEST_F(AheadTest, TheFirstStepIsThatOfASynchronousStage) {
  std::vector<std::string> records[2];
  for (const int ahead : {0, 1}) {
    Prepare({"rollout.ahead=" + std::to_string(ahead)});
    for (const ScoredTree& record : Step(0).records) {
      records[ahead].push_back(DumpJson(RecordToJson(record)));
    }
  }
  ASSERT_EQ(records[0].size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const auto without_latency = [](std::string text) {
      return std::regex_replace(text, std::regex("\"latency_us\":[0-9]+"), "");
    };
    EXPECT_EQ(without_latency(records[0][i]), without_latency(records[1][i]));
  }
}

// Drawn beside training, the groups have the log-probabilities that the weights of then give them.
TEST_F(AheadTest, LogProbabilitiesAreExactlyThoseOfTheWeightsThatDrew) {
  Prepare({"rollout.ahead=1", "stage.1.steps=4"});
  std::vector<Model> weights;  // after so many steps
  for (int64_t step = 0; step < 4; ++step) {
    weights.push_back(tiny_->context->engine->model());
    const StageStep done = Step(step);
    const size_t version = static_cast<size_t>(std::max<int64_t>(0, step - 1));
    Engine then(weights[version], tiny_->context->engine_options);
    std::vector<Tree> trees;
    for (const ScoredTree& record : done.records) trees.push_back(record.tree);
    const std::vector<TreeLogprobs> said = then.LogProbs(trees);
    int64_t tokens = 0;
    for (size_t i = 0; i < trees.size(); ++i) {
      for (size_t n = 0; n < trees[i].nodes.size(); ++n) {
        const Node& node = trees[i].nodes[n];
        if (node.author != Author::kPolicy) continue;
        EXPECT_EQ(node.logprobs, said[i][n].logprobs);
        tokens += static_cast<int64_t>(node.tokens.size());
      }
    }
    EXPECT_GT(tokens, 0);
  }
}

// With a correction the ratio of an update's beginning is 1, and what was sampled is in the
// weights.
TEST_F(AheadTest, ACorrectionWeighsTokensByWhatThePolicySaysNow) {
  for (const bool corrects : {false, true}) {
    Prepare({"rollout.ahead=2", "stage.1.steps=4", "stage.1.learning_rate=0.02", "stage.1.warmup=0",
             std::string("objective.correction={kind=") + (corrects ? "'full'}" : "'none'}")});
    bool moved = false;
    for (int64_t step = 0; step < 4; ++step) {
      const StageStep done = Step(step);
      moved |= done.values.at("correction_weight") != 1;
      // What earlier weights drew says nothing of the promise that others are held to.
      EXPECT_EQ(done.values.contains("ratio_one_share"), step == 0);
      for (const AlarmEvent& alarm : done.alarms)
        EXPECT_EQ(alarm.name.find("off-policy"), std::string::npos);
    }
    EXPECT_EQ(moved, corrects);
  }
}

TEST_F(AheadTest, SequencesFromWhichThePolicyHasMovedTooFarAreLeftOut) {
  Prepare({"rollout.ahead=2", "stage.1.steps=4", "stage.1.learning_rate=0.02", "stage.1.warmup=0",
           "objective.correction={kind='truncate', most_kl=1e-9}"});
  double vetoed = 0;
  for (int64_t step = 0; step < 4; ++step) {
    const StageStep done = Step(step);
    const auto found = done.values.find("vetoed_sequences");  // absent: nothing was left to learn
    vetoed += found == done.values.end() ? 16 : found->second;
  }
  EXPECT_GT(vetoed, 0);
}

TEST_F(AheadTest, NothingIsBegunThatTrajectoriesLeaveNothingToDoFor) {
  Prepare({"rollout.ahead=4", "stage.1.steps=100", "stage.1.trajectories=48"});
  int64_t steps = 0;
  while (!training_->IsOver(steps)) Step(steps++);
  EXPECT_EQ(steps, 3);  // 16 trajectories each
  EXPECT_TRUE(training_->State().Find("ahead")->Find("begun")->AsArray().empty());
}

TEST_F(AheadTest, WhatADynamicSamplerStillLacksIsDrawnWithTheWeightsOfTheStep) {
  Prepare({"rollout.ahead=1", "stage.1.steps=3",
           "dynamic_sampling={on=true, rounds=3, pad='unfiltered', least_deviation=0.4}"});
  bool mixed = false;
  for (int64_t step = 0; step < 3; ++step) {
    const StageStep done = Step(step);
    if (step == 0 || done.values.at("drawn_groups") <= 4) continue;
    const double lag = done.values.at("lag");
    mixed |= lag > 0 && lag < 1;
  }
  EXPECT_TRUE(mixed);
}

TEST_F(AheadTest, ToolsThatTakeTheirTimeAreWaitedForAtTheSameTime) {
  double hours[2] = {0, 0};
  for (const int ahead : {0, 3}) {
    Prepare({"answers.mode=live", "rollout.ahead=" + std::to_string(ahead), "stage.1.steps=8",
             "conditions=[{latency_ms=100, latency_p99_ms=3000}]"});
    for (int64_t step = 0; step < 8; ++step) {
      const double spent = Step(step).values.at("spent/hours");
      EXPECT_GE(spent, 0);
      hours[ahead > 0 ? 1 : 0] += spent;
    }
  }
  EXPECT_GT(hours[0], 0);
  EXPECT_LT(hours[1], hours[0] / 1.5);
}

TEST_F(AheadTest, AStateOfMoreStepsThanMayBeBegunIsAnError) {
  Prepare({"rollout.ahead=2", "stage.1.steps=8"});
  Step(0);
  const Json state = *training_->State().Find("ahead");
  DrawingAhead less = DrawingAhead::Open(1, *tiny_->context).value();
  const auto restored = less.Restore(state, {}, "somewhere");
  ASSERT_FALSE(restored.ok());
  EXPECT_NE(restored.error().message().find("3 steps are begun in somewhere"), std::string::npos)
      << restored.error().message();
}

TEST_F(AheadTest, WeightsThatACheckpointLacksAreNamed) {
  Prepare({"rollout.ahead=1", "stage.1.steps=8"});
  Step(0);
  Step(1);
  const Json state = *training_->State().Find("ahead");
  DrawingAhead other = DrawingAhead::Open(1, *tiny_->context).value();
  const auto restored = other.Restore(state, {}, tiny_->directory.path() / "gone");
  ASSERT_FALSE(restored.ok());
  EXPECT_NE(restored.error().message().find("drawing-1.safetensors"), std::string::npos)
      << restored.error().message();
}

// Turn by turn, an episode goes on with the newest weights that it may have.
TEST_F(AheadTest, EpisodesAreCarriedOverToNewerWeights) {
  Prepare({"rollout.ahead=2", "rollout.carry=1", "rollout.live=5", "stage.1.steps=6"});
  std::vector<Model> weights;  // after so many steps
  int64_t later = 0;
  for (int64_t step = 0; step < 6; ++step) {
    weights.push_back(tiny_->context->engine->model());
    const StageStep done = Step(step);
    const int64_t first = std::max<int64_t>(0, step - 2);
    std::map<int64_t, std::vector<TreeLogprobs>> said;  // by each version
    std::vector<Tree> trees;
    for (const ScoredTree& record : done.records) trees.push_back(record.tree);
    for (int64_t version = first; version <= step; ++version) {
      Engine then(weights[static_cast<size_t>(version)], tiny_->context->engine_options);
      said[version] = then.LogProbs(trees);
    }
    for (size_t i = 0; i < trees.size(); ++i) {
      for (const Leaf& leaf : trees[i].leaves) {
        int64_t turn = 0;
        for (const NodeId id : WholePathTo(trees[i], leaf.node)) {
          const auto n = static_cast<size_t>(id);
          const Node& node = trees[i].nodes[n];
          if (node.author != Author::kPolicy) continue;
          EXPECT_EQ(node.policy_version, std::min(step, first + turn++));
          EXPECT_EQ(node.logprobs, said.at(node.policy_version)[i][n].logprobs);
          later += node.policy_version > first ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(later, 0);
}

std::string WeightsOf(const std::vector<std::string>& overrides,
                      DeviceKind device = DeviceKind::kCpu) {
  const TemporaryDirectory out;
  TrainingRecipe recipe = ReadTiny(out.path(), overrides).value();
  recipe.model.device = device;
  const auto report = Train(recipe, {});
  EXPECT_TRUE(report.ok()) << report.error().message();
  return report.ok() ? report->weights : "";
}

TEST(Ahead, OfNoStepsIsWhatItWasWithoutTheWord) {
  EXPECT_EQ(WeightsOf({"rollout.ahead=0"}), WeightsOf({}));
}

TEST(Ahead, WeightsAreTheSameTwiceAndOnAnyNumberOfThreads) {
  const auto weights = [](const char* ahead, const char* threads) {
    return WeightsOf({std::string("rollout.ahead=") + ahead, std::string("run.threads=") + threads,
                      "stage.1.steps=6", "objective.correction.kind=truncate"});
  };
  const std::string one = weights("1", "1"), four = weights("4", "1");
  EXPECT_EQ(one, weights("1", "3"));
  EXPECT_NE(one, WeightsOf({"stage.1.steps=6"}));
  EXPECT_EQ(four, weights("4", "2"));
  EXPECT_NE(one, four);
}

// Several engines share a device, each with a context of its own.
TEST(Ahead, AlsoOnADevice) {
  const std::vector<std::string> ahead = {"rollout.ahead=2", "rollout.carry=1", "stage.0.steps=20",
                                          "stage.1.steps=4"};
  const std::string once = WeightsOf(ahead, DeviceKind::kReference);
  EXPECT_EQ(once, WeightsOf(ahead, DeviceKind::kReference));
  EXPECT_NE(once, WeightsOf({"stage.0.steps=20", "stage.1.steps=4"}, DeviceKind::kReference));
}

TEST(Ahead, IsRefusedBesideWhatDoesNotGoWithIt) {
  const TemporaryDirectory out;
  for (const auto& [first, second, named] :
       {std::tuple{"rollout.ahead=1", "replay.on=true", "rollout.ahead"},
        std::tuple{"rollout.ahead=0", "rollout.carry=1", "rollout.carry"},
        std::tuple{"rollout={ahead=1, carry=1}", "rollout.strategy=arpo", "chains alone"}}) {
    const auto recipe = ReadTiny(out.path(), {first, second});
    ASSERT_FALSE(recipe.ok()) << first << " " << second;
    EXPECT_NE(recipe.error().message().find(named), std::string::npos) << recipe.error().message();
  }
}

}  // namespace
}  // namespace hone
