#include "train/stages/stage_reference.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/stop_after.h"
#include "support/tiny_recipe.h"
#include "support/tiny_training.h"

namespace hone {
namespace {

std::unique_ptr<Engine> NewPolicy(bool adapters) {
  Model model = TinyModel();
  if (adapters) {
    EXPECT_TRUE(AddLora({.rank = 2, .alpha = 4}, &model).ok());
  }
  return std::make_unique<Engine>(std::move(model), Engine::Options{.threads = 1});
}

void Improve(const std::vector<Tree>& trees, Engine* engine) {
  engine->Accumulate(trees, [](std::span<TreeTerms> terms) {
    for (TreeTerms& tree : terms) {
      for (PathTerms& path : tree.paths) {
        for (float& derivative : path.dlogprobs) derivative = -1;
      }
    }
  });
  engine->Step({.learning_rate = 0.01});
}

bool Agree(const std::vector<TreeLogprobs>& a, const std::vector<TreeLogprobs>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t n = 0; n < a[i].size(); ++n) {
      if (a[i][n].logprobs != b[i][n].logprobs) return false;
    }
  }
  return a.size() == b.size();
}

class StageReferenceTest : public testing::TestWithParam<bool> {
 protected:
  StageReference Open(bool begin, int64_t every, double mix) {
    return StageReference::Open(
               {directory_.path(), 2,
                KlOptions{.coefficient = 0.1, .sync_every = every, .sync_mix = mix}},
               begin, *policy_, {.threads = 1})
        .value();
  }

  const TemporaryDirectory directory_;
  const std::vector<Tree> trees_ = {BranchingGroup(1), BranchingGroup(2)};
  const std::unique_ptr<Engine> policy_ = NewPolicy(GetParam());
};

TEST_P(StageReferenceTest, BecomesThePolicyEverySoManySteps) {
  StageReference reference = Open(true, 2, 1);
  const auto at_first = policy_->LogProbs(trees_);
  Improve(trees_, policy_.get());
  ASSERT_TRUE(reference.AfterStep(0, *policy_).ok());
  EXPECT_TRUE(Agree(reference.now().LogProbs(trees_, policy_.get()), at_first));
  const Json before = reference.ToJson();
  Improve(trees_, policy_.get());
  ASSERT_TRUE(reference.AfterStep(1, *policy_).ok());
  const auto synced = policy_->LogProbs(trees_);
  EXPECT_FALSE(Agree(synced, at_first));
  EXPECT_TRUE(Agree(reference.now().LogProbs(trees_, policy_.get()), synced));
  // Both states can be gone on from.
  const Json after = reference.ToJson();
  Improve(trees_, policy_.get());
  StageReference again = Open(false, 2, 1);
  EXPECT_TRUE(Agree(again.now().LogProbs(trees_, policy_.get()), at_first));
  ASSERT_TRUE(again.Restore(after, *policy_).ok());
  EXPECT_TRUE(Agree(again.now().LogProbs(trees_, policy_.get()), synced));
  EXPECT_EQ(again.ToJson(), after);
  ASSERT_TRUE(again.Restore(before, *policy_).ok());
  EXPECT_TRUE(Agree(again.now().LogProbs(trees_, policy_.get()), at_first));
}

TEST_P(StageReferenceTest, MixedTwiceItIsRestoredBitForBit) {
  StageReference reference = Open(true, 1, 0.6);
  for (int64_t step = 0; step < 2; ++step) {
    Improve(trees_, policy_.get());
    ASSERT_TRUE(reference.AfterStep(step, *policy_).ok());
  }
  const auto mixed = reference.now().LogProbs(trees_, policy_.get());
  EXPECT_FALSE(Agree(mixed, policy_->LogProbs(trees_)));
  StageReference again = Open(false, 1, 0.6);
  ASSERT_TRUE(again.Restore(reference.ToJson(), *policy_).ok());
  EXPECT_TRUE(Agree(again.now().LogProbs(trees_, policy_.get()), mixed));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "reference-2-1")) << "nobody needs it";
}

INSTANTIATE_TEST_SUITE_P(WholeAndAdapters, StageReferenceTest, testing::Bool(),
                         [](const auto& one) { return one.param ? "Adapters" : "Whole"; });

// TRL's alpha * policy + (1 - alpha) * reference, with its default alpha.
TEST(ReferenceMix, IsTrlsWeightedMean) {
  std::vector<float> numbers = {1.0f, -2.0f, 0.5f};
  MixNumbers({3.0f, 2.0f, 0.5f}, 0.6, &numbers);
  EXPECT_NEAR(numbers[0], 2.2, 1e-6);
  EXPECT_NEAR(numbers[1], 0.4, 1e-6);
  EXPECT_NEAR(numbers[2], 0.5, 1e-6);
  MixNumbers({0.1f, 0.2f, 0.3f}, 1, &numbers);
  EXPECT_EQ(numbers, (std::vector<float>{0.1f, 0.2f, 0.3f}));
}

TEST(ReferenceSync, ARunThatIsStoppedAfterEveryStepEndsWithTheSameWeights) {
  const TemporaryDirectory one, two;
  const std::vector<std::string> overrides = {
      "objective.kl.coefficient=0.2", "objective.kl.sync_every=2", "objective.kl.sync_mix=0.5",
      "stage.1.steps=6", "run.save_every=3"};
  const auto whole = Train(ReadTiny(one.path(), overrides).value(), {});
  ASSERT_TRUE(whole.ok()) << whole.error().message();
  int interruptions = 0;
  Result<TrainReport> report = Error(ErrorCode::kStopped, "");
  while (!report.ok()) {
    report = Train(ReadTiny(two.path(), overrides).value(), StopAfter(7).options());
    if (report.ok()) break;
    ASSERT_EQ(report.error().code(), ErrorCode::kStopped) << report.error().message();
    ASSERT_LT(++interruptions, 50);
  }
  EXPECT_GT(interruptions, 8);
  EXPECT_EQ(report->weights, whole->weights);
}

TEST(ReferenceSync, SettingsThatCouldDoNothingAreRefused) {
  const TemporaryDirectory directory;
  EXPECT_FALSE(ReadTiny(directory.path(), {"objective.kl.sync_every=2"}).ok());
  EXPECT_FALSE(
      ReadTiny(directory.path(), {"objective.kl.coefficient=0.2", "objective.kl.sync_mix=0.5"})
          .ok());
}

}  // namespace
}  // namespace hone
