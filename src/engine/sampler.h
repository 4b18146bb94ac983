#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "engine/decoder.h"
#include "record/sampling.h"

namespace hone {

// One sample to be drawn. The stream names it (run, task, path): its n-th token's randomness
// depends on that name and on n, never on who is sampled beside it.
struct SampleRequest {
  std::vector<TokenId> prompt;  // not empty
  int64_t max_new = 64;
  Sampling sampling;
  Rng rng{0};
  std::vector<TokenId> stop_tokens;  // the sample ends with one of these
  // Asked after each token with all new ones; true ends the sample. For stop strings. May be null.
  std::function<bool(std::span<const TokenId>)> stop;
};

struct SampleResult {
  std::vector<TokenId> tokens;  // the new ones
  std::vector<float> logprobs;  // of the distribution each was drawn from
  std::vector<float> entropies;
  std::vector<Support> supports;  // per token; empty when all were the whole vocabulary
  bool stopped = false;  // by a stop token or `stop`; else by max_new or the model's positions
};

// The tokens that top_k, top_p and min_p leave of a row of logits, ascending; empty when all are
// left. Ties go to the lower id.
std::vector<TokenId> KeptTokens(std::span<const float> logits, const Sampling& sampling);

// Draws all samples, together. Temperature 0 takes the likeliest token and records its probability
// at temperature 1; such turns are not to be trained on.
std::vector<SampleResult> DrawSamples(const Decoder& decoder,
                                      std::span<const SampleRequest> requests);

}  // namespace hone
