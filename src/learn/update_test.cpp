#include "learn/update.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/tiny_training.h"

namespace hone {
namespace {

Engine::Options OneThread() { return {.threads = 1}; }

// Groups that the engine drew itself.
std::vector<TrainingGroup> OwnGroups(Engine* engine, size_t count) {
  std::vector<Tree> trees;
  for (size_t i = 0; i < count; ++i) trees.push_back(BranchingGroup(11 + i));
  const std::vector<TreeLogprobs> scores = engine->LogProbs(trees);
  std::vector<TrainingGroup> groups;
  for (size_t i = 0; i < count; ++i) {
    for (size_t n = 0; n < trees[i].nodes.size(); ++n) {
      Node& node = trees[i].nodes[n];
      if (!node.logprobs.empty()) node.logprobs = scores[i][n].logprobs;
    }
    groups.push_back(MakeTrainingGroup(trees[i], SomeAdvantages(trees[i])));
  }
  return groups;
}

UpdateOptions Plan() {
  UpdateOptions options;
  options.optimizer.learning_rate = 1e-3;
  options.batches.mini_batches = 2;
  return options;
}

TEST(UpdatePolicy, TheFirstMiniBatchIsOnPolicyToTheBit) {
  Engine engine(TinyModel(), OneThread());
  const auto groups = OwnGroups(&engine, 4);
  UpdateOptions options = Plan();
  options.on_policy = true;
  const UpdateReport report = UpdatePolicy(options, groups, Rng(1), &engine);
  EXPECT_EQ(report.steps, 2);
  EXPECT_EQ(report.skipped, 0);
  EXPECT_GT(report.first.tokens, 0);
  EXPECT_EQ(report.first.ratio_one, report.first.tokens);
  EXPECT_LT(report.all.ratio_one, report.all.tokens) << "the second comes after a step";
  EXPECT_GT(report.largest_gradient, 0);
}

TEST(UpdatePolicyDeathTest, ClaimingToBeOnPolicyIsChecked) {
  Engine engine(TinyModel(), OneThread());
  const auto groups = OwnGroups(&engine, 2);
  UpdateOptions options = Plan();
  UpdatePolicy(options, groups, Rng(1), &engine);
  options.on_policy = true;
  EXPECT_DEATH(UpdatePolicy(options, groups, Rng(1), &engine), "a ratio other than 1");
}

TEST(UpdatePolicy, IsAFunctionOfWeightsGroupsAndRng) {
  const auto after = [](uint64_t seed) {
    Engine engine(TinyModel(), OneThread());
    UpdatePolicy(Plan(), OwnGroups(&engine, 5), Rng(seed), &engine);
    return engine.WeightsHash();
  };
  EXPECT_EQ(after(1), after(1));
  EXPECT_NE(after(1), after(2)) << "other mini-batches";
}

TEST(UpdatePolicy, WithoutGroupsNothingHappens) {
  Engine engine(TinyModel(), OneThread());
  const std::string before = engine.WeightsHash();
  UpdateOptions options = Plan();
  options.imitate = [](int64_t, const Rng&) -> int64_t { return 1; };
  const UpdateReport report = UpdatePolicy(options, {}, Rng(1), &engine);
  EXPECT_EQ(report.steps, 0);
  EXPECT_EQ(report.imitated_tokens, 0);
  EXPECT_EQ(engine.WeightsHash(), before);
}

TEST(UpdatePolicy, ALossThatIsNoNumberIsLeftOut) {
  Engine engine(TinyModel(), OneThread());
  auto groups = OwnGroups(&engine, 2);
  groups[0].sequences[0].advantages.assign(groups[0].sequences[0].size(), NAN);
  UpdateOptions options = Plan();
  const UpdateReport report = UpdatePolicy(options, groups, Rng(1), &engine);
  EXPECT_EQ(report.skipped, 1);
  EXPECT_EQ(report.steps, 1);
  EXPECT_TRUE(std::isfinite(report.largest_gradient));
}

TEST(UpdatePolicy, ReplayAndDemonstrationsGoIntoTheSameSteps) {
  const auto after = [](bool replay, bool imitate) {
    Engine engine(TinyModel(), OneThread());
    const auto groups = OwnGroups(&engine, 4);
    UpdateOptions options = Plan();
    if (replay) {
      options.replayed = OwnGroups(&engine, 1);
      options.replay_objective = options.objective;
    }
    int64_t shown = 0;
    if (imitate)
      options.imitate = [&](int64_t tokens, const Rng&) { return shown += tokens, tokens; };
    const UpdateReport report = UpdatePolicy(options, groups, Rng(1), &engine);
    EXPECT_EQ(report.steps, 2);
    EXPECT_EQ(report.imitated_tokens, shown);
    EXPECT_EQ(shown, imitate ? report.all.tokens : 0);
    return engine.WeightsHash();
  };
  EXPECT_EQ(after(false, true), after(false, false)) << "that one added no gradient";
  EXPECT_NE(after(true, false), after(false, false));
}

}  // namespace
}  // namespace hone
