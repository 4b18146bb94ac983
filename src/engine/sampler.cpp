#include "engine/sampler.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "engine/distribution.h"
#include "engine/reduce.h"

namespace hone {
namespace {

// One sample in progress.
struct Live {
  const SampleRequest* request;
  KvCache cache;
  SampleResult result;
  std::vector<TokenId> feed;  // tokens that the model has not seen yet
};

// The first token, in vocabulary order, at which the running probability exceeds u.
TokenId Draw(std::span<const float> logits, const Distribution& distribution,
             std::span<const TokenId> kept, double u) {
  const size_t count = kept.empty() ? logits.size() : kept.size();
  const auto threshold = static_cast<float>(u);
  float running = 0;
  TokenId last = 0;
  for (size_t i = 0; i < count; ++i) {
    const TokenId token = kept.empty() ? static_cast<TokenId>(i) : kept[i];
    const float p = ExpF32(distribution.LogProb(logits[static_cast<size_t>(token)]));
    if (p == 0) continue;
    running += p;
    last = token;
    if (running > threshold) return token;
  }
  return last;  // rounding left a sliver at the end
}

void TakeToken(std::span<const float> logits, Live* live) {
  const SampleRequest& request = *live->request;
  SampleResult& result = live->result;
  const bool greedy = request.sampling.temperature == 0;
  std::vector<TokenId> kept =
      greedy ? std::vector<TokenId>() : KeptTokens(logits, request.sampling);
  const Distribution distribution =
      DistributionOf(logits, greedy ? 1.0f : request.sampling.temperature, kept);
  TokenId token = 0;
  if (greedy) {
    token = static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  } else {
    const auto position = static_cast<uint64_t>(live->cache.length());
    token =
        Draw(logits, distribution, kept, request.rng.Split("token").Split(position).NextDouble());
  }
  result.tokens.push_back(token);
  result.logprobs.push_back(distribution.LogProb(logits[static_cast<size_t>(token)]));
  result.entropies.push_back(distribution.entropy);
  result.supports.push_back({std::move(kept)});
  live->feed = {token};
  const auto& stops = request.stop_tokens;
  result.stopped = std::find(stops.begin(), stops.end(), token) != stops.end() ||
                   (request.stop && request.stop(result.tokens));
}

bool IsDone(const Live& live, int64_t max_positions) {
  return live.result.stopped ||
         static_cast<int64_t>(live.result.tokens.size()) >= live.request->max_new ||
         live.cache.length() + static_cast<int64_t>(live.feed.size()) > max_positions;
}

}  // namespace

std::vector<TokenId> KeptTokens(std::span<const float> logits, const Sampling& sampling) {
  const bool all = sampling.top_k == 0 && sampling.top_p >= 1 && sampling.min_p <= 0;
  if (all) return {};
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
  while (keep > 1 && weights[keep - 1] < sampling.min_p) --keep;
  if (keep == logits.size()) return {};
  order.resize(keep);
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<SampleResult> DrawSamples(const Decoder& decoder,
                                      std::span<const SampleRequest> requests) {
  const FloatMode mode;
  const int64_t width = decoder.config().width;
  const auto vocab = static_cast<size_t>(decoder.config().vocab);
  std::vector<Live> live;
  for (const SampleRequest& request : requests) {
    CHECK(!request.prompt.empty(), "a sample needs a prompt");
    live.push_back({&request, KvCache(decoder.config()), {}, request.prompt});
  }
  while (true) {
    std::vector<Decoder::Chunk> chunks;
    std::vector<Live*> running;
    for (Live& sample : live) {
      if (IsDone(sample, decoder.max_positions())) continue;
      chunks.push_back({&sample.cache, sample.feed});
      running.push_back(&sample);
    }
    if (running.empty()) break;
    const std::vector<float> hidden = decoder.Hidden(chunks);
    // The last row of each sample predicts its next token.
    std::vector<float> last = PaddedBuffer(static_cast<int64_t>(running.size()) * width);
    int64_t row = -1;
    for (size_t i = 0; i < running.size(); ++i) {
      row += static_cast<int64_t>(chunks[i].tokens.size());
      std::copy_n(hidden.data() + row * width, width,
                  last.data() + static_cast<int64_t>(i) * width);
    }
    const std::vector<float> logits =
        decoder.Logits(last.data(), static_cast<int64_t>(running.size()));
    for (size_t i = 0; i < running.size(); ++i) {
      TakeToken({logits.data() + i * vocab, vocab}, running[i]);
    }
  }
  std::vector<SampleResult> results;
  for (Live& sample : live) {
    auto& supports = sample.result.supports;
    const bool whole = std::all_of(supports.begin(), supports.end(),
                                   [](const Support& support) { return support.kept.empty(); });
    if (whole) supports.clear();
    results.push_back(std::move(sample.result));
  }
  return results;
}

}  // namespace hone
