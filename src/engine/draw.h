#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "engine/kernels/kernels.h"
#include "record/sampling.h"

namespace hone {

// How one turn is drawn. The stream names it (run, task, path): the randomness of the token at a
// position depends on that name and on the position, never on who is sampled beside it.
struct TurnRequest {
  int64_t max_new = 64;
  // Temperature 0 takes the likeliest token and records its probability at temperature 1; such
  // turns are not to be trained on.
  Sampling sampling;
  Rng rng{0};
  std::vector<TokenId> stop_tokens;  // the turn ends with one of these
  // Asked after each token with all new ones; true ends the turn. For stop strings. May be null.
  std::function<bool(std::span<const TokenId>)> stop;
  // Asked before each token with those drawn so far: the tokens that may follow, ascending; none
  // says that all may, and costs nothing else. The token is drawn from the distribution over these
  // alone, and its log-probability is of that: exactly 0 where there is one. Asked by any thread,
  // of one turn by one at a time; a copy of the request asks a copy. May be null: all may follow.
  std::function<std::vector<TokenId>(std::span<const TokenId>)> allow;
  int32_t likeliest = 0;  // so many of the likeliest tokens are told with each that is drawn
  // Which tokens could have been drawn is told too, where that is not all of them: as many numbers
  // for each token as the vocabulary has, at worst. Only who trains on it needs it.
  bool supports = true;
};

struct LikelyToken {
  TokenId token = 0;
  float logprob = 0;
};

// What is asked of a draw: the token at a position of a turn that has drawn some already.
struct DrawOrder {
  const TurnRequest* request = nullptr;
  std::span<const TokenId> drawn;  // of this turn, so far
  int64_t position = 0;            // of the token that is drawn

  // The draw's random number. The stream goes by the position and not by the number of draws so
  // far: a sequence that was preempted, forked or continued draws the same numbers.
  double Uniform() const;
};

struct DrawnToken {
  TokenId token = 0;
  float logprob = 0, entropy = 0;  // of the distribution it was drawn from
  Support support;
  std::vector<LikelyToken> likeliest;  // where asked
};

// The tokens that top_k, top_p and min_p leave of a row of logits, ascending; empty when all are
// left. Ties go to the lower id.
std::vector<TokenId> KeptTokens(std::span<const float> logits, const Sampling& sampling);

// Draws from a row of logits, in which forbidden tokens are masked already. Tokens that may not
// follow are masked in it.
DrawnToken DrawFrom(std::span<float> logits, const DrawOrder& order, const Kernels& kernels);

}  // namespace hone
