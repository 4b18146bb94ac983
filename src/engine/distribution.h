#pragma once

#include <cstdint>
#include <span>

#include "engine/kernels/kernels.h"
#include "record/sampling.h"

namespace hone {

// The distribution over the next token that one row of logits gives: softmax of logits /
// temperature over the kept tokens (all of them when `kept` is empty). The same function serves the
// sampler, the scorer and the trainer. Sums run in vocabulary order.
struct Distribution {
  float inverse_temperature = 1;
  float log_sum = 0;  // of exp(logit * inverse_temperature) over the kept tokens
  float entropy = 0;  // in nats

  // Of a kept token with this logit; never above 0.
  float LogProb(float logit) const {
    const float log_probability = logit * inverse_temperature - log_sum;
    return log_probability > 0 ? 0 : log_probability;  // not-a-number stays one
  }
};

Distribution DistributionOf(std::span<const float> logits, float temperature,
                            std::span<const TokenId> kept = {},
                            const Kernels& kernels = BestKernels());

// dlogits = the gradient of dlogprob * LogProb(token) + dentropy * entropy; it may lie where the
// logits do.
void DistributionBackward(std::span<const float> logits, const Distribution& distribution,
                          std::span<const TokenId> kept, TokenId token, float dlogprob,
                          float dentropy, const Kernels& kernels, std::span<float> dlogits);

// The place of the first probability at which their running sum exceeds u in [0, 1). Rounding may
// leave a sliver at the end, which the last one that is not 0 takes; where there are so many that
// small ones would be lost to a sum of floats, there is none.
size_t DrawnPlace(std::span<const float> probabilities, double u);

}  // namespace hone
