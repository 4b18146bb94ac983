#include "engine/distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/rng.h"

namespace hone {
namespace {

std::vector<float> RandomLogits(uint64_t seed, size_t count) {
  Rng rng(seed);
  std::vector<float> logits(count);
  for (float& logit : logits) logit = 3 * static_cast<float>(rng.NextNormal());
  return logits;
}

TEST(Distribution, IsTheSoftmaxOverTheKeptTokens) {
  const std::vector<float> logits = RandomLogits(1, 77);
  const std::vector<TokenId> kept = {2, 5, 40, 76};
  for (const bool restricted : {false, true}) {
    const std::span<const TokenId> support =
        restricted ? std::span<const TokenId>(kept) : std::span<const TokenId>();
    const Distribution d = DistributionOf(logits, 0.7f, support);
    double sum = 0, entropy = 0;
    std::vector<TokenId> all(77);
    std::iota(all.begin(), all.end(), 0);
    for (const TokenId v : restricted ? kept : all) sum += std::exp(logits[v] / 0.7);
    for (const TokenId v : restricted ? kept : all) {
      const double p = std::exp(logits[v] / 0.7) / sum;
      entropy -= p * std::log(p);
      EXPECT_NEAR(d.LogProb(logits[v]), std::log(p), 1e-5);
    }
    EXPECT_NEAR(d.entropy, entropy, 1e-5);
  }
}

TEST(Distribution, ASupportOfAllTokensIsTheWholeVocabularyToTheBit) {
  const std::vector<float> logits = RandomLogits(2, 1003);
  std::vector<TokenId> all(logits.size());
  std::iota(all.begin(), all.end(), 0);
  const Distribution whole = DistributionOf(logits, 1.3f),
                     listed = DistributionOf(logits, 1.3f, all);
  EXPECT_EQ(whole.log_sum, listed.log_sum);
  EXPECT_EQ(whole.entropy, listed.entropy);
}

TEST(Distribution, GradientEqualsFiniteDifferences) {
  std::vector<float> logits = RandomLogits(3, 20);
  const std::vector<TokenId> some = {1, 3, 4, 9, 15, 19};
  for (const std::vector<TokenId>& kept : {some, std::vector<TokenId>()}) {
    auto f = [&] {
      const Distribution d = DistributionOf(logits, 0.8f, kept);
      return 0.6 * d.LogProb(logits[9]) + 0.4 * d.entropy;
    };
    std::vector<float> gradient(20, 0.0f);
    DistributionBackward(logits, DistributionOf(logits, 0.8f, kept), kept, 9, 0.6f, 0.4f,
                         BestKernels(), gradient);
    for (size_t i = 0; i < logits.size(); ++i) {
      constexpr float kStep = 1e-2f;
      const float at = logits[i];
      logits[i] = at + kStep;
      const double up = f();
      logits[i] = at - kStep;
      const double down = f();
      logits[i] = at;
      EXPECT_NEAR(gradient[i], (up - down) / (2.0 * kStep), 1e-3) << i;
    }
  }
}

}  // namespace
}  // namespace hone
