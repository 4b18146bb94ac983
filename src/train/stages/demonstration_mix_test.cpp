#include "train/stages/demonstration_mix.h"

#include <gtest/gtest.h>

#include "support/tiny_context.h"

namespace hone {
namespace {

constexpr int64_t kCallTokens = 16'384;

TEST(DemonstrationMix, ImitatesTheShareThatIsAskedFor) {
  TinyContext tiny;
  DemonstrationMix mix(tiny.context.get());
  const int64_t few = mix.Accumulate(0.1, 400, kCallTokens, Rng(1));
  EXPECT_GE(few, 40);
  EXPECT_LT(few, 40 + 40) << "up to the end of a demonstration";
  EXPECT_GE(mix.Accumulate(0.5, 400, kCallTokens, Rng(1)), 200);
  EXPECT_EQ(mix.Accumulate(0, 400, kCallTokens, Rng(1)), 0);
}

TEST(DemonstrationMix, ATokenWeighsAsMuchAsOneOfTheStep) {
  // Half the share of twice the tokens is the same demonstrations at half the weight.
  TinyContext tiny;
  DemonstrationMix mix(tiny.context.get());
  const auto norm = [&](double share, int64_t tokens) {
    EXPECT_GT(mix.Accumulate(share, tokens, kCallTokens, Rng(7)), 0);
    // A learning rate of nothing: only the gradient's length is wanted.
    return tiny.context->engine->Step({.learning_rate = 0, .max_norm = 0});
  };
  const double once = norm(0.2, 400), half = norm(0.1, 800);
  EXPECT_GT(once, 0);
  EXPECT_NEAR(half, once / 2, 1e-3 * once);
}

TEST(DemonstrationMix, SmallCallsOfTheEngineAddUpToTheSame) {
  TinyContext tiny;
  DemonstrationMix mix(tiny.context.get());
  const auto norm = [&](int64_t call_tokens) {
    EXPECT_GT(mix.Accumulate(0.5, 400, call_tokens, Rng(7)), 0);
    return tiny.context->engine->Step({.learning_rate = 0, .max_norm = 0});
  };
  const double together = norm(kCallTokens);
  EXPECT_NEAR(norm(1), together, 1e-4 * together);
}

TEST(DemonstrationMix, WhatIsShownFollowsFromTheRng) {
  const auto weights = [](uint64_t seed) {
    TinyContext tiny;
    DemonstrationMix mix(tiny.context.get());
    EXPECT_GT(mix.Accumulate(0.2, 300, kCallTokens, Rng(seed)), 0);
    tiny.context->engine->Step({.learning_rate = 1e-3});
    return tiny.context->engine->WeightsHash();
  };
  EXPECT_EQ(weights(1), weights(1));
  EXPECT_NE(weights(1), weights(2));
}

}  // namespace
}  // namespace hone
