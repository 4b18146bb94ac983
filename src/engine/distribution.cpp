#include "engine/distribution.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/exact_math.h"
#include "engine/kernels/reduce.h"

namespace hone {
namespace {

// The strided sum over the vocabulary; tokens that are not kept count as exact zeros in their
// place, so the sum over a support of all tokens is the sum over all.
template <typename F>
float SumOverKept(std::span<const TokenId> kept, F f) {
  float partial[kLanes] = {};
  for (const TokenId v : kept) partial[v % kLanes] += f(static_cast<size_t>(v));
  for (int step = kLanes / 2; step > 0; step /= 2) {
    for (int lane = 0; lane < step; ++lane) partial[lane] += partial[lane + step];
  }
  return partial[0];
}

// The last one where the sum never exceeds the threshold.
template <typename Sum>
size_t FirstAbove(std::span<const float> probabilities, Sum threshold) {
  Sum running = 0;
  size_t last = 0;
  for (size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] == 0) continue;
    running += probabilities[i];
    last = i;
    if (running > threshold) break;
  }
  return last;
}

}  // namespace

Distribution DistributionOf(std::span<const float> logits, float temperature,
                            std::span<const TokenId> kept, const Kernels& kernels) {
  CHECK(temperature > 0);
  const FloatMode mode;
  Distribution d;
  d.inverse_temperature = 1.0f / temperature;
  const float inverse = d.inverse_temperature;
  const auto vocab = static_cast<int64_t>(logits.size());
  if (kept.empty()) {
    const float largest = kernels.largest(logits.data(), vocab, inverse);
    const float sum = kernels.exp_sum(logits.data(), vocab, inverse, largest);
    d.log_sum = largest + static_cast<float>(NaturalLog(sum));
    d.entropy = kernels.entropy(logits.data(), vocab, inverse, d.log_sum);
    return d;
  }
  float largest = -std::numeric_limits<float>::infinity();
  for (const TokenId v : kept) {
    largest = std::max(largest, logits[static_cast<size_t>(v)] * inverse);
  }
  const float sum =
      SumOverKept(kept, [&](size_t v) { return ExpF32(logits[v] * inverse - largest); });
  d.log_sum = largest + static_cast<float>(NaturalLog(sum));
  d.entropy = SumOverKept(kept, [&](size_t v) {  // every term of -p log p is at least 0
    const float log_p = d.LogProb(logits[v]);
    return -ExpF32(log_p) * log_p;
  });
  return d;
}

void DistributionBackward(std::span<const float> logits, const Distribution& d,
                          std::span<const TokenId> kept, TokenId token, float dlogprob,
                          float dentropy, const Kernels& kernels, std::span<float> dlogits) {
  const FloatMode mode;
  if (kept.empty()) {
    kernels.distribution_backward(logits.data(), static_cast<int64_t>(logits.size()),
                                  d.inverse_temperature, d.log_sum, d.entropy, dlogprob, dentropy,
                                  dlogits.data());
  } else {
    std::vector<float> of_kept(kept.size());  // first, for they may go where the logits lie
    for (size_t i = 0; i < kept.size(); ++i) {
      const float log_p = d.LogProb(logits[static_cast<size_t>(kept[i])]);
      const float p = ExpF32(log_p);
      of_kept[i] = (dlogprob * -p - dentropy * p * (log_p + d.entropy)) * d.inverse_temperature;
    }
    std::fill(dlogits.begin(), dlogits.end(), 0.0f);
    for (size_t i = 0; i < kept.size(); ++i) dlogits[static_cast<size_t>(kept[i])] = of_kept[i];
  }
  dlogits[static_cast<size_t>(token)] += dlogprob * d.inverse_temperature;
}

size_t DrawnPlace(std::span<const float> probabilities, double u) {
  // Up to here the sliver is of the size of a float's rounding.
  constexpr size_t kManyTokens = size_t{1} << 15;
  if (probabilities.size() < kManyTokens) {
    return FirstAbove(probabilities, static_cast<float>(u));
  }
  double total = 0;
  for (const float one : probabilities) total += one;
  return FirstAbove(probabilities, u * total);
}

}  // namespace hone
