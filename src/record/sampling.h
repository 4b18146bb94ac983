#pragma once

#include <cstdint>
#include <vector>

namespace hone {

using TokenId = int32_t;

// The settings a turn was sampled with: together with the logits, the distribution that was drawn
// from.
struct Sampling {
  float temperature = 1;      // 0: greedy, and then the turn cannot be trained on
  int32_t top_k = 0;          // 0: no limit
  float top_p = 1;            // in (0, 1]
  float min_p = 0;            // in [0, 1)
  int32_t forbidden_set = 0;  // id of the run's constant set of forbidden tokens; 0: none

  bool operator==(const Sampling&) const = default;
};

// The tokens one draw could have given, in ascending order; empty: the whole vocabulary. Training
// renormalises the new logits over the *stored* support, because after an update the top-p set
// moves and a sampled token could fall outside it.
struct Support {
  std::vector<TokenId> kept;

  bool operator==(const Support&) const = default;
};

}  // namespace hone
