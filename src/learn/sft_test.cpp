#include "learn/sft.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/tiny_training.h"

namespace hone {
namespace {

std::vector<Tree> Demonstrations(size_t count) {
  std::vector<Tree> trees;
  for (size_t i = 0; i < count; ++i) {
    Tree tree = BranchingGroup(40 + i);
    tree.leaves.resize(1);  // one path of it
    tree.nodes.resize(4);
    trees.push_back(ForImitation(tree));
  }
  return trees;
}

TEST(Sft, TheLossIsTheWeightedMeanOverTokens) {
  Engine engine(TinyModel(), {.precision = Precision::kF32, .threads = 1});
  const std::vector<Tree> trees = Demonstrations(1);
  const SftOptions options{.other_weight = 0.25};
  const TreeLogprobs scores = engine.LogProbs(trees)[0];
  double policy = 0, other = 0;
  int policies = 0, others = -1;  // the first token has no prediction
  for (size_t n = 0; n < scores.size(); ++n) {
    const bool own = trees[0].nodes[n].author == Author::kPolicy;
    for (const float logprob : scores[n].logprobs) {
      (own ? policy : other) -= logprob;
      ++(own ? policies : others);
    }
  }
  EXPECT_NEAR(TokenWeight(options, trees), policies + 0.25 * others, 1e-9);
  const SftMetrics metrics = AccumulateSft(options, trees, {{0}}, &engine);
  EXPECT_EQ(metrics.policy_tokens, policies);
  EXPECT_EQ(metrics.other_tokens, others);
  EXPECT_NEAR(metrics.policy_loss, policy / policies, 1e-6);
  EXPECT_NEAR(metrics.other_loss, other / others, 1e-6);
  EXPECT_NEAR(metrics.loss, (policy + 0.25 * other) / (policies + 0.25 * others), 1e-6);
  engine.Step({});
}

TEST(Sft, TheGradientIsThatOfTheLoss) {
  const Model model = TinyModel();
  const std::vector<Tree> trees = Demonstrations(3);
  const SftOptions options;
  auto run = [&](const Model& at, Gradients* gradients) {
    ThreadPool pool(2);
    Decoder decoder(&at, {.precision = Precision::kF32}, &pool);
    gradients->clear();
    for (const Parameter& parameter : at.parameters) {
      gradients->emplace_back(parameter.value.size(), 0.0f);
    }
    SftMetrics metrics;
    decoder.Accumulate(trees, SftLoss(options, trees, TokenWeight(options, trees), &metrics),
                       SharedTokens::kRepeat, gradients);
    return metrics.loss;
  };
  Gradients gradients, unused;
  run(model, &gradients);
  double squares = 0;
  for (const auto& part : gradients) {
    for (const float g : part) squares += static_cast<double>(g) * g;
  }
  auto moved = [&](double by) {
    Model other = model;
    for (size_t p = 0; p < other.parameters.size(); ++p) {
      for (size_t i = 0; i < gradients[p].size(); ++i) {
        other.parameters[p].value[i] += static_cast<float>(by * gradients[p][i]);
      }
    }
    return run(other, &unused);
  };
  const double step = 1e-3 / std::sqrt(squares);
  EXPECT_NEAR((moved(step) - moved(-step)) / (2 * step * squares), 1, 0.02);
}

TEST(Sft, CallsDoNotChangeAStepAndStepsLearn) {
  const std::vector<Tree> trees = Demonstrations(6);
  const SftOptions options;
  Engine whole(TinyModel(), {.precision = Precision::kF32, .threads = 1});
  Engine cut(TinyModel(), {.precision = Precision::kF32, .threads = 1});
  const SftBatch all = {{0, 1, 2, 3, 4, 5}};
  SftMetrics before;
  for (int step = 0; step < 10; ++step) {
    const SftMetrics a = AccumulateSft(options, trees, all, &whole);
    const SftMetrics b = AccumulateSft(options, trees, {{0, 1}, {2, 3, 4}, {5}}, &cut);
    if (step == 0) {
      EXPECT_NEAR(a.loss, b.loss, 1e-9);
      before = a;
    }
    EXPECT_NEAR(whole.Step({.learning_rate = 1e-2}), cut.Step({.learning_rate = 1e-2}), 1e-3);
  }
  EXPECT_LT(AccumulateSft(options, trees, all, &whole).policy_loss, before.policy_loss / 2);
}

TEST(Sft, WhateverItWasDrawnWithTheImitatedDistributionIsThePlainOne) {
  Tree tree = BranchingGroup(1);
  tree.nodes[1].sampling = {.temperature = 0, .top_k = 3};
  tree.nodes[1].supports.assign(tree.nodes[1].tokens.size(), {{1, 2}});
  const Tree plain = ForImitation(tree);
  EXPECT_EQ(plain.nodes[1].sampling, Sampling());
  EXPECT_TRUE(plain.nodes[1].supports.empty());
  EXPECT_EQ(plain.nodes[1].tokens, tree.nodes[1].tokens);
  EXPECT_EQ(plain.leaves.size(), tree.leaves.size());
}

}  // namespace
}  // namespace hone
