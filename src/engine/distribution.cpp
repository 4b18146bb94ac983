#include "engine/distribution.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/exact_math.h"
#include "engine/reduce.h"

namespace hone {
namespace {

// Calls f(token) for the kept tokens, in vocabulary order.
template <typename F>
void ForKept(size_t vocab, std::span<const TokenId> kept, F f) {
  if (kept.empty()) {
    for (size_t v = 0; v < vocab; ++v) f(v);
  } else {
    for (const TokenId v : kept) f(static_cast<size_t>(v));
  }
}

// The strided sum over the vocabulary; tokens that are not kept count as exact zeros in their
// place, so the sum over a support of all tokens is the sum over all.
template <typename F>
float SumOverKept(size_t vocab, std::span<const TokenId> kept, F f) {
  if (kept.empty()) {
    return StridedSum(static_cast<int64_t>(vocab),
                      [&](int64_t v) { return f(static_cast<size_t>(v)); });
  }
  float partial[16] = {};
  for (const TokenId v : kept) partial[v % 16] += f(static_cast<size_t>(v));
  for (int step = 8; step > 0; step /= 2) {
    for (int lane = 0; lane < step; ++lane) partial[lane] += partial[lane + step];
  }
  return partial[0];
}

}  // namespace

Distribution DistributionOf(std::span<const float> logits, float temperature,
                            std::span<const TokenId> kept) {
  CHECK(temperature > 0);
  Distribution distribution;
  distribution.inverse_temperature = 1.0f / temperature;
  const float inverse = distribution.inverse_temperature;
  float largest = -std::numeric_limits<float>::infinity();
  ForKept(logits.size(), kept, [&](size_t v) { largest = std::max(largest, logits[v] * inverse); });
  const float sum = SumOverKept(logits.size(), kept,
                                [&](size_t v) { return ExpF32(logits[v] * inverse - largest); });
  distribution.log_sum = largest + static_cast<float>(NaturalLog(sum));
  // -sum p log p: every term is at least 0.
  const float entropy = SumOverKept(logits.size(), kept, [&](size_t v) {
    const float log_p = distribution.LogProb(logits[v]);
    return -ExpF32(log_p) * log_p;
  });
  distribution.entropy = entropy;
  return distribution;
}

void DistributionBackward(std::span<const float> logits, const Distribution& distribution,
                          std::span<const TokenId> kept, TokenId token, float dlogprob,
                          float dentropy, std::span<float> dlogits) {
  const float inverse = distribution.inverse_temperature;
  ForKept(logits.size(), kept, [&](size_t v) {
    const float log_p = distribution.LogProb(logits[v]);
    const float p = ExpF32(log_p);
    const float hit = v == static_cast<size_t>(token) ? 1.0f : 0.0f;
    const float dz = dlogprob * (hit - p) - dentropy * p * (log_p + distribution.entropy);
    dlogits[v] += dz * inverse;
  });
}

}  // namespace hone
