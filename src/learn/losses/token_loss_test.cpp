#include "learn/losses/token_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "learn/sft.h"
#include "support/tiny_training.h"

namespace hone {
namespace {

TokenLossOptions TokenLoss(std::string_view name, const LossSettings& settings = {}) {
  return TokenLossNamed(name, settings).value();
}

// Sequences of a seed, with what a loss may want of each token. What drew them differs from the
// model by up to a half.
std::vector<WeighedSequence> Sequences(size_t count, Engine* engine) {
  std::vector<WeighedSequence> sequences;
  for (size_t i = 0; i < count; ++i) {
    Rng rng = Rng(7).Split(i);
    WeighedSequence& one = sequences.emplace_back();
    const size_t size = 4 + i * 3;
    for (size_t t = 0; t < size; ++t) {
      one.tokens.push_back(static_cast<TokenId>(rng.NextU64() % 40));
    }
    const std::vector<Tree> tree = {ChainOf(one.tokens)};
    const std::vector<float> logprobs = engine->LogProbs(tree)[0][0].logprobs;
    for (size_t t = 1; t < size; ++t) {
      one.weights.push_back(t % 3 == 0 ? 0.0f : 0.5f + static_cast<float>(t % 2));
      one.advantages.push_back(t % 2 == 0 ? 1.5f : -0.75f);
      const auto off = static_cast<float>(static_cast<double>(rng.NextU64() % 1000) / 1000 - 0.5);
      one.sampled.push_back(logprobs[t] + off);
    }
  }
  return sequences;
}

// The formulas of the public documentation, written down a second time.
double ByHand(const TokenLossOptions& options, const WeighedSequence& sequence,
              std::span<const float> logprobs) {
  double loss = 0;
  for (size_t t = 0; t < logprobs.size(); ++t) {
    const double p = logprobs[t], q = sequence.sampled[t], a = sequence.advantages[t];
    const double ratio = std::exp(p - q);
    const double clipped = std::min(std::max(ratio, options.clip_low), options.clip_high);
    double objective = 0;
    switch (options.kind) {
      case TokenLossKind::kCrossEntropy: objective = p; break;
      case TokenLossKind::kImportanceSampling: objective = ratio * a; break;
      case TokenLossKind::kPpo: objective = std::min(ratio * a, clipped * a); break;
      case TokenLossKind::kCispo: objective = clipped * p * a; break;
      case TokenLossKind::kDro: objective = p * a - 0.5 * options.beta * (p - q) * (p - q); break;
    }
    loss -= objective * double{sequence.weights[t]};
  }
  return loss;
}

const std::vector<TokenLossOptions>& AllTokenLosses() {
  static const std::vector<TokenLossOptions> losses = {
      TokenLoss("cross_entropy"),
      TokenLoss("importance_sampling"),
      TokenLoss("ppo"),
      TokenLoss("ppo", {{"clip_low_threshold", 0.9}, {"clip_high_threshold", 1.05}}),
      TokenLoss("cispo"),
      TokenLoss("cispo", {{"clip_low_threshold", 0.95}, {"clip_high_threshold", 1.1}}),
      TokenLoss("dro", {{"beta", 0.3}})};
  return losses;
}

TEST(TokenLoss, IsTheSumThatTheApiDocuments) {
  Engine engine(TinyModel(), {.precision = Precision::kF32, .threads = 1});
  const std::vector<WeighedSequence> sequences = Sequences(4, &engine);
  for (const TokenLossOptions& options : AllTokenLosses()) {
    const TokenLossReport report = TokenLossOf(options, sequences, &engine);
    ASSERT_EQ(report.logprobs.size(), 4u);
    double expected = 0;
    for (size_t i = 0; i < 4; ++i) expected += ByHand(options, sequences[i], report.logprobs[i]);
    EXPECT_NEAR(report.loss, expected, 1e-4 * (1 + std::abs(expected)));
  }
}

// d loss / d log p against differences of the loss by hand. Of CISPO the clipped ratio is held.
TEST(TokenLoss, TheGradientIsThatOfTheLoss) {
  const Model model = TinyModel();
  Engine engine(Model(model), {.precision = Precision::kF32, .threads = 1});
  const std::vector<WeighedSequence> sequences = Sequences(3, &engine);
  for (const TokenLossOptions& options : AllTokenLosses()) {
    if (options.kind == TokenLossKind::kCispo) continue;  // the next test
    AccumulateTokenLoss(options, sequences, &engine);
    const Gradients gradients = engine.TakeGradients();
    size_t checked = 0;
    for (size_t p = 0; p < model.parameters.size(); p += 3) {
      size_t largest = 0;
      for (size_t i = 0; i < gradients[p].size(); ++i) {
        if (std::abs(gradients[p][i]) > std::abs(gradients[p][largest])) largest = i;
      }
      const auto loss_at = [&](float away) {
        Model moved = model;
        moved.parameters[p].value[largest] += away;
        Engine there(std::move(moved), {.precision = Precision::kF32, .threads = 1});
        return TokenLossOf(options, sequences, &there).loss;
      };
      constexpr float kStep = 1e-3f;
      const double difference = (loss_at(kStep) - loss_at(-kStep)) / (2 * double{kStep});
      EXPECT_NEAR(gradients[p][largest], difference, 0.02 * (0.5 + std::abs(difference)))
          << model.parameters[p].name << " of loss " << static_cast<int>(options.kind);
      ++checked;
    }
    EXPECT_GT(checked, 3u);
  }
}

// Imitation of every token, with nothing divided by, is the same sum in other words.
TEST(TokenLoss, CrossEntropyHasTheBitsOfImitation) {
  Engine engine(TinyModel(), {.threads = 1});
  std::vector<WeighedSequence> sequences = Sequences(3, &engine);
  std::vector<Tree> demonstrations;
  for (WeighedSequence& sequence : sequences) {
    sequence.weights.assign(sequence.weights.size(), 1.0f);
    demonstrations.push_back(ForImitation(ChainOf(sequence.tokens)));
  }
  AccumulateTokenLoss(TokenLoss("cross_entropy"), sequences, &engine);
  const Gradients gradients = engine.TakeGradients();
  AccumulateSft({.other_weight = 1}, demonstrations, {{0, 1, 2}}, 1.0, &engine);
  const Gradients expected = engine.TakeGradients();
  for (size_t p = 0; p < gradients.size(); ++p) {
    EXPECT_TRUE(std::equal(gradients[p].begin(), gradients[p].end(), expected[p].begin(),
                           expected[p].end()));
  }
}

TEST(TokenLoss, CispoIsCrossEntropyWeighedByTheClippedRatio) {
  Engine engine(TinyModel(), {.precision = Precision::kF32, .threads = 1});
  const std::vector<WeighedSequence> sequences = Sequences(2, &engine);
  const TokenLossOptions cispo =
      TokenLoss("cispo", {{"clip_low_threshold", 0.95}, {"clip_high_threshold", 1.1}});
  const TokenLossReport report = AccumulateTokenLoss(cispo, sequences, &engine);
  const Gradients gradients = engine.TakeGradients();
  std::vector<WeighedSequence> held = sequences;
  for (size_t i = 0; i < held.size(); ++i) {
    for (size_t t = 0; t < held[i].weights.size(); ++t) {
      const double ratio = std::exp(double{report.logprobs[i][t]} - double{held[i].sampled[t]});
      held[i].weights[t] *=
          held[i].advantages[t] * static_cast<float>(std::min(std::max(ratio, 0.95), 1.1));
    }
  }
  AccumulateTokenLoss(TokenLoss("cross_entropy"), held, &engine);
  const Gradients expected = engine.TakeGradients();
  for (size_t p = 0; p < gradients.size(); ++p) {
    for (size_t i = 0; i < gradients[p].size(); ++i) {
      ASSERT_NEAR(gradients[p][i], expected[p][i], 1e-4);
    }
  }
}

TEST(TokenLoss, WhatTheModelItselfDrewHasRatioOne) {
  Engine engine(TinyModel(), {.threads = 1});
  std::vector<WeighedSequence> sequences = Sequences(3, &engine);
  const TokenLossOptions options = TokenLoss("importance_sampling");
  const TokenLossReport before = TokenLossOf(options, sequences, &engine);
  EXPECT_EQ(before.ratio_one, 0);
  for (size_t i = 0; i < 3; ++i) sequences[i].sampled = before.logprobs[i];
  const TokenLossReport report = AccumulateTokenLoss(options, sequences, &engine);
  EXPECT_EQ(report.ratio_one, report.tokens);
  EXPECT_GT(report.tokens, 8);
  EXPECT_EQ(report.logprobs, before.logprobs) << "with and without a gradient, the same bits";
  engine.Step({.learning_rate = 1e-2});
  EXPECT_LT(TokenLossOf(options, sequences, &engine).ratio_one, report.tokens);
}

TEST(TokenLoss, RefusesWhatItCannotMean) {
  const auto refusal = [](std::string_view name, const LossSettings& settings) {
    const auto loss = TokenLossNamed(name, settings);
    return loss.ok() ? "" : loss.error().message();
  };
  EXPECT_NE(refusal("grpo", {}).find("there are cross_entropy, importance_sampling, ppo"),
            std::string::npos);
  EXPECT_NE(refusal("cross_entropy", {{"beta", 1}}).find("no such setting"), std::string::npos);
  EXPECT_NE(refusal("dro", {}).find("beta"), std::string::npos);
  EXPECT_NE(refusal("ppo", {{"clip_low_threshold", 1.3}}).find("above"), std::string::npos);
  EXPECT_NE(refusal("ppo", {{"clip_high_threshold", std::nan("")}}).find("number"),
            std::string::npos);

  const TokenLossOptions ppo = TokenLoss("ppo");
  WeighedSequence sequence{{1, 2, 3}, {1, 1}, {1, 1}, {-1, -1}};
  EXPECT_TRUE(CheckSequence(ppo, sequence).ok());
  sequence.sampled.pop_back();
  EXPECT_NE(CheckSequence(ppo, sequence).error().message().find("logprobs: 1 numbers for 2"),
            std::string::npos);
  sequence.sampled = {-1, std::numeric_limits<float>::infinity()};
  EXPECT_NE(CheckSequence(ppo, sequence).error().message().find("logprobs[1]"), std::string::npos);
  sequence.sampled = {-1, -1};
  sequence.weights[0] = std::nanf("");
  EXPECT_NE(CheckSequence(ppo, sequence).error().message().find("weights[0]"), std::string::npos);
  sequence.tokens = {1};
  EXPECT_FALSE(CheckSequence(ppo, sequence).ok());
}

}  // namespace
}  // namespace hone
