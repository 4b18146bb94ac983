// What a critic with its own learning rate, a warm-up and normalised returns does in a stage.

#include <gtest/gtest.h>

#include "support/tiny_context.h"
#include "train/stages/rl_stage.h"

namespace hone {
namespace {

class CriticRuns : public testing::Test {
 protected:
  void Prepare(const std::vector<std::string>& more) {
    std::vector<std::string> overrides = {"credit.method=gae-token",
                                          "objective.value.coefficient=0.5"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    tiny_ = std::make_unique<TinyContext>(overrides);
    ASSERT_TRUE(tiny_->Imitate(60).ok());
    Model model = tiny_->context->engine->model();
    AddScalarHead(&model);
    tiny_->context->engine =
        std::make_unique<Engine>(std::move(model), tiny_->context->engine_options);
    training_ = Open(true);
  }
  std::unique_ptr<RlTraining> Open(bool begin) {
    return RlTraining::New(SettingsOf<RlStage>(tiny_->recipe.stages[1]), 1, begin,
                           tiny_->context.get())
        .value();
  }
  // All weights but the head's, and the head's.
  std::pair<std::vector<std::vector<float>>, std::vector<float>> Weights() const {
    const Model& model = tiny_->context->engine->model();
    std::pair<std::vector<std::vector<float>>, std::vector<float>> weights;
    for (size_t p = 0; p < model.parameters.size(); ++p) {
      if (static_cast<int>(p) == model.scalar_head) {
        weights.second = model.parameters[p].value;
      } else {
        weights.first.push_back(model.parameters[p].value);
      }
    }
    return weights;
  }

  std::unique_ptr<TinyContext> tiny_;
  std::unique_ptr<RlTraining> training_;
};

TEST_F(CriticRuns, WhileTheCriticWarmsUpThePolicyStandsStill) {
  Prepare({"objective.value.warmup=2", "stage.1.warmup=0"});
  const auto [policy, head] = Weights();
  for (int64_t i = 0; i < 2; ++i) {
    const Result<StageStep> step = training_->Step(i);
    ASSERT_TRUE(step.ok()) << step.error().message();
    EXPECT_EQ(Weights().first, policy) << i;
    EXPECT_NE(Weights().second, head) << i;
    // Of all mini-batches, not of the first alone.
    EXPECT_EQ(step->values.at("ratio_max"), 1) << i;
    EXPECT_EQ(step->values.at("learning_rate"), 0);
    EXPECT_GT(step->values.at("value_learning_rate"), 0);
  }
  ASSERT_TRUE(training_->Step(2).ok());
  EXPECT_NE(Weights().first, policy);
}

TEST_F(CriticRuns, TheHeadHasItsOwnLearningRate) {
  Prepare({"objective.value.learning_rate=0.01", "stage.1.warmup=0", "stage.1.mini_batches=1"});
  ASSERT_TRUE(training_->Step(0).ok());
  // AdamW's first step is the learning rate in every weight that has a gradient.
  float most = 0;
  for (const float weight : Weights().second) most = std::max(most, std::abs(weight));
  EXPECT_NEAR(most, 0.01, 1e-4);
  Prepare({"stage.1.warmup=0", "stage.1.mini_batches=1"});
  ASSERT_TRUE(training_->Step(0).ok());
  most = 0;
  for (const float weight : Weights().second) most = std::max(most, std::abs(weight));
  EXPECT_NEAR(most, 3e-4, 3e-6);
}

TEST_F(CriticRuns, NormalisedReturnsAreRemembered) {
  Prepare({"objective.value.normalise=true"});
  ASSERT_TRUE(training_->Step(0).ok());
  const Json state = training_->State();
  ASSERT_NE(state.Find("value_scale"), nullptr);
  EXPECT_GT(state.Find("value_scale")->Find("count")->AsDouble(), 0);
  const std::unique_ptr<RlTraining> other = Open(false);
  ASSERT_TRUE(other->Restore(state).ok());
  EXPECT_EQ(other->State(), state);
  Prepare({});
  ASSERT_TRUE(training_->Step(0).ok());
  EXPECT_EQ(training_->State().Find("value_scale"), nullptr);
}

TEST_F(CriticRuns, ACheckpointInTheWarmUpGoesOnAsIfNothingHadHappened) {
  const TemporaryDirectory saved;
  Prepare({"objective.value.warmup=1", "objective.value.normalise=true"});
  ASSERT_TRUE(training_->Step(0).ok());
  const Json state = training_->State();
  ASSERT_TRUE(tiny_->context->engine->Save(saved.path() / "engine", SaveType::kF32).ok());
  ASSERT_TRUE(training_->Step(1).ok());
  const std::string uninterrupted = tiny_->context->engine->WeightsHash();
  tiny_->context->engine =
      Engine::Load(saved.path() / "engine", tiny_->context->engine_options).value();
  training_ = Open(false);
  ASSERT_TRUE(training_->Restore(state).ok());
  ASSERT_TRUE(training_->Step(1).ok());
  EXPECT_EQ(tiny_->context->engine->WeightsHash(), uninterrupted);
}

TEST(CriticSettings, ThatCouldDoNothingAreRefused) {
  const TemporaryDirectory directory;
  for (const char* setting : {"objective.value.warmup=2", "objective.value.normalise=true",
                              "objective.value.learning_rate=0.1"}) {
    const auto read = ReadTiny(directory.path(), {setting});
    ASSERT_FALSE(read.ok()) << setting;
    EXPECT_NE(read.error().message().find("there is no critic"), std::string::npos);
  }
  const auto never = ReadTiny(
      directory.path(),
      {"credit.method=gae-token", "objective.value.coefficient=0.5", "objective.value.warmup=4"});
  ASSERT_FALSE(never.ok());
  EXPECT_NE(never.error().message().find("the policy never would"), std::string::npos);
}

}  // namespace
}  // namespace hone
