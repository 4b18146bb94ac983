#include "train/stages/sft_stage.h"

#include <gtest/gtest.h>

#include "support/tiny_context.h"

namespace hone {
namespace {

TEST(SftTraining, LearnsWhatIsShown) {
  TinyContext tiny;
  const auto training =
      SftTraining::Open(SettingsOf<SftStage>(tiny.recipe.stages[0]), 0, tiny.context.get()).value();
  double first = 0, last = 0;
  for (int64_t step = 0; step < 60; ++step) {
    const Result<StageStep> done = training->Step(step);
    ASSERT_TRUE(done.ok()) << done.error().message();
    last = done->values.at("sft/loss");
    if (step == 0) first = last;
  }
  EXPECT_LT(last, 0.4 * first);
}

TEST(SftTraining, ADemonstrationThatDoesNotFitIsNamedWithWhatToChange) {
  TinyContext tiny;
  Tree tree;
  tree.task.id = "desk-train-7";
  const int64_t positions = tiny.context->engine->config().max_positions;
  tree.nodes.push_back({.tokens = std::vector<TokenId>(static_cast<size_t>(positions) + 1, 1)});
  const Result<void> fits = CheckDemonstration(*tiny.context->engine, tree);
  ASSERT_FALSE(fits.ok());
  for (const char* part : {"desk-train-7", "more than the model's", "model.fresh.positions"}) {
    EXPECT_NE(fits.error().message().find(part), std::string::npos) << fits.error().message();
  }
}

TEST(SftTraining, AStepDependsOnItsNumberAndTheWeightsAlone) {
  TinyContext tiny({"stage.0.demonstrations=20"});
  const auto hash_after = [&](std::vector<int64_t> before, int64_t step) {
    const auto training =
        SftTraining::Open(SettingsOf<SftStage>(tiny.recipe.stages[0]), 0, tiny.context.get())
            .value();
    for (const int64_t other : before) EXPECT_TRUE(training->Step(other).ok());
    tiny.Restart();
    EXPECT_TRUE(training->Step(step).ok());
    return tiny.context->engine->WeightsHash();
  };
  EXPECT_EQ(hash_after({}, 4), hash_after({7, 1}, 4));
  EXPECT_NE(hash_after({}, 4), hash_after({}, 5));
}

}  // namespace
}  // namespace hone
