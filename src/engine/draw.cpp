#include "engine/draw.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/check.h"
#include "engine/buffer.h"
#include "engine/distribution.h"
#include "engine/kernels/reduce.h"

namespace hone {
namespace {

constexpr float kMaskedLogit = -1e30f;  // its probability is exactly 0

// The first token, in vocabulary order, at which the running probability exceeds u.
TokenId DrawToken(std::span<const float> logits, const Distribution& d,
                  std::span<const TokenId> kept, double u, const Kernels& kernels) {
  static thread_local Floats p;
  const size_t count = kept.empty() ? logits.size() : kept.size();
  Room(&p, static_cast<int64_t>(count));
  if (kept.empty()) {
    kernels.probabilities(logits.data(), static_cast<int64_t>(count), d.inverse_temperature,
                          d.log_sum, p.data());
  } else {
    for (size_t i = 0; i < count; ++i) {
      p[i] = ExpF32(d.LogProb(logits[static_cast<size_t>(kept[i])]));
    }
  }
  const size_t place = DrawnPlace({p.data(), count}, u);
  return kept.empty() ? static_cast<TokenId>(place) : kept[place];
}

// Both ascend.
void MaskOthers(std::span<const TokenId> allowed, std::span<float> logits) {
  size_t next = 0;
  for (const TokenId token : allowed) {
    std::fill(logits.begin() + static_cast<std::ptrdiff_t>(next), logits.begin() + token,
              kMaskedLogit);
    next = static_cast<size_t>(token) + 1;
  }
  std::fill(logits.begin() + static_cast<std::ptrdiff_t>(next), logits.end(), kMaskedLogit);
}

// Those of `kept` that are allowed; no `kept` is all.
std::vector<TokenId> Among(std::vector<TokenId> kept, std::vector<TokenId> allowed) {
  if (kept.empty()) return allowed;
  std::vector<TokenId> both;
  std::set_intersection(kept.begin(), kept.end(), allowed.begin(), allowed.end(),
                        std::back_inserter(both));
  return both;
}

// Ties go to the lower id. Tokens that could not have been drawn are not among them.
std::vector<LikelyToken> Likeliest(std::span<const float> logits, const Distribution& d,
                                   std::span<const TokenId> kept, int32_t count) {
  std::vector<LikelyToken> tokens;
  const size_t size = kept.empty() ? logits.size() : kept.size();
  for (size_t i = 0; i < size; ++i) {
    const TokenId token = kept.empty() ? static_cast<TokenId>(i) : kept[i];
    const float logprob = d.LogProb(logits[static_cast<size_t>(token)]);
    if (std::isfinite(logprob)) tokens.push_back({token, logprob});
  }
  const size_t most = std::min(tokens.size(), static_cast<size_t>(count));
  std::partial_sort(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(most),
                    tokens.end(), [](const LikelyToken& a, const LikelyToken& b) {
                      return a.logprob != b.logprob ? a.logprob > b.logprob : a.token < b.token;
                    });
  tokens.resize(most);
  return tokens;
}

}  // namespace

double DrawOrder::Uniform() const {
  return request->rng.Split("token").Split(static_cast<uint64_t>(position)).NextDouble();
}

std::vector<TokenId> KeptTokens(std::span<const float> logits, const Sampling& sampling) {
  const bool all = sampling.top_k == 0 && sampling.top_p >= 1 && sampling.min_p <= 0;
  if (all) return {};  // the usual case of training: no sort of the vocabulary
  const FloatMode mode;
  std::vector<TokenId> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  auto likelier = [&](TokenId a, TokenId b) {
    const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  if (sampling.top_k > 0 && sampling.top_k < static_cast<int32_t>(order.size())) {
    std::nth_element(order.begin(), order.begin() + sampling.top_k, order.end(), likelier);
    order.resize(static_cast<size_t>(sampling.top_k));
  }
  std::sort(order.begin(), order.end(), likelier);
  const float inverse = 1.0f / sampling.temperature;
  const float largest = logits[static_cast<size_t>(order[0])] * inverse;
  std::vector<float> weights;  // relative to the likeliest
  for (const TokenId token : order) {
    weights.push_back(ExpF32(logits[static_cast<size_t>(token)] * inverse - largest));
  }
  size_t keep = order.size();
  if (sampling.top_p < 1) {
    // Of what top_k left. Both sums run in the same order, so the last running one is the total.
    float total = 0, running = 0;
    for (const float weight : weights) total += weight;
    for (size_t i = 0; i < keep; ++i) {
      running += weights[i];
      if (running >= sampling.top_p * total) {
        keep = i + 1;
        break;
      }
    }
  }
  // Sorted by weight, so what min_p cuts off is at the end; the likeliest token always stays.
  while (keep > 1 && weights[keep - 1] < sampling.min_p) --keep;
  if (keep == logits.size()) return {};
  order.resize(keep);
  // Ascending: the draw walks in vocabulary order, and so does whoever scores the turn again.
  std::sort(order.begin(), order.end());
  return order;
}

DrawnToken DrawFrom(std::span<float> logits, const DrawOrder& order, const Kernels& kernels) {
  const FloatMode mode;
  const TurnRequest& request = *order.request;
  std::vector<TokenId> allowed;
  if (request.allow) allowed = request.allow(order.drawn);
  const bool limited = !allowed.empty();
  if (limited) MaskOthers(allowed, logits);
  // The likeliest token has probability 1 at temperature 0, which says nothing: what is recorded is
  // its probability at temperature 1.
  const bool greedy = request.sampling.temperature == 0;
  std::vector<TokenId> kept =
      greedy ? std::vector<TokenId>() : KeptTokens(logits, request.sampling);
  if (limited) kept = Among(std::move(kept), std::move(allowed));
  const Distribution d =
      DistributionOf(logits, greedy ? 1.0f : request.sampling.temperature, kept, kernels);
  DrawnToken drawn;
  drawn.token =
      greedy ? static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin())
             : DrawToken(logits, d, kept, order.Uniform(), kernels);
  drawn.logprob = d.LogProb(logits[static_cast<size_t>(drawn.token)]);
  drawn.entropy = d.entropy;
  if (request.likeliest > 0) drawn.likeliest = Likeliest(logits, d, kept, request.likeliest);
  drawn.support.kept = std::move(kept);
  return drawn;
}

}  // namespace hone
