#include "train/reference.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_training.h"

namespace hone {
namespace {

// A policy with adapters that have learned something already.
std::unique_ptr<Engine> Adapted() {
  Model model = TinyModel();
  EXPECT_TRUE(AddLora({.rank = 2, .alpha = 4}, &model).ok());
  auto engine = std::make_unique<Engine>(std::move(model), Engine::Options{.threads = 1});
  return engine;
}

void Learn(const std::vector<Tree>& trees, Engine* engine) {
  engine->Accumulate(trees, [](std::span<TreeTerms> terms) {
    for (TreeTerms& tree : terms) {
      for (PathTerms& path : tree.paths) {
        for (float& derivative : path.dlogprobs) derivative = -1;
      }
    }
  });
  engine->Step({.learning_rate = 0.01});
}

bool Same(const std::vector<TreeLogprobs>& a, const std::vector<TreeLogprobs>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t n = 0; n < a[i].size(); ++n) {
      if (a[i][n].logprobs != b[i][n].logprobs) return false;
    }
  }
  return a.size() == b.size();
}

TEST(Reference, OfAdaptersIsTheWholePolicyAtTheBeginningBitForBit) {
  const TemporaryDirectory directory;
  const std::vector<Tree> trees = {BranchingGroup(1), BranchingGroup(2)};
  const std::unique_ptr<Engine> policy = Adapted();
  Learn(trees, policy.get());
  const std::vector<TreeLogprobs> at_first = policy->LogProbs(trees);
  const std::filesystem::path folder = directory.path() / "reference-0";
  const Reference reference = Reference::Open(folder, true, *policy, {.threads = 1}).value();
  EXPECT_FALSE(std::filesystem::exists(folder / "model.safetensors")) << "no second whole model";

  Learn(trees, policy.get());
  const std::vector<TreeLogprobs> later = policy->LogProbs(trees);
  EXPECT_FALSE(Same(later, at_first));
  const std::string weights = policy->WeightsHash();
  EXPECT_TRUE(Same(reference.LogProbs(trees, policy.get()), at_first));
  EXPECT_TRUE(Same(policy->LogProbs(trees), later)) << "the policy is as it was";
  EXPECT_EQ(policy->WeightsHash(), weights);

  const Reference again = Reference::Open(folder, false, *policy, {.threads = 1}).value();
  EXPECT_TRUE(Same(again.LogProbs(trees, policy.get()), at_first));
}

TEST(Reference, OfAWholePolicyIsASecondModel) {
  const TemporaryDirectory directory;
  const std::vector<Tree> trees = {BranchingGroup(1)};
  Engine policy(TinyModel(), {.threads = 1});
  const std::vector<TreeLogprobs> at_first = policy.LogProbs(trees);
  const std::filesystem::path folder = directory.path() / "reference-0";
  const Reference reference = Reference::Open(folder, true, policy, {.threads = 1}).value();
  Learn(trees, &policy);
  EXPECT_FALSE(Same(policy.LogProbs(trees), at_first));
  EXPECT_TRUE(Same(reference.LogProbs(trees, &policy), at_first));
  EXPECT_FALSE(Reference::Open(directory.path() / "none", false, policy, {}).ok());
}

}  // namespace
}  // namespace hone
