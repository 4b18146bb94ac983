#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/recipe.h"
#include "base/rng.h"
#include "engine/engine.h"

// Imitation: the likelihood of what demonstrations say.

namespace hone {

struct SftOptions {
  double other_weight = 0.1;     // of tokens that somebody else than the policy wrote
  int64_t call_tokens = 16'384;  // of one call of the engine, at most
};

// The tree as it is to be imitated: every distribution the plain one (temperature 1, the whole
// vocabulary), whatever the demonstrations were drawn with; without what the engine has no use for.
// A demonstration whose history was folded has a path per segment.
Tree ForImitation(const Tree& tree);

// One step of the optimiser: demonstrations by index, in calls of the engine.
using SftBatch = std::vector<std::vector<size_t>>;

struct SftMetrics {
  double loss = 0;                              // the weighted mean of -log p that is minimised
  double policy_loss = 0;                       // nats per token of the policy
  double other_loss = 0;                        // nats per token of the others
  int64_t policy_tokens = 0, other_tokens = 0;  // per path
};

template <typename Wire>
void Fields(Wire& wire, SftMetrics& m) {
  wire(m.loss, m.policy_loss, m.other_loss, m.policy_tokens, m.other_tokens);
}
// Of a step, from those of its slices.
SftMetrics Combine(std::span<const SftMetrics> slices);

// The loss of some of the trees of a step, for one call of Engine::Accumulate with them. `weight`:
// TokenWeight of all trees of the step. Adds what it saw to *metrics, whose losses are those of the
// step when all calls were made. The trees and the metrics must outlive it.
double TokenWeight(const SftOptions& options, std::span<const Tree> trees);
Loss SftLoss(const SftOptions& options, std::span<const Tree> trees, double weight,
             SftMetrics* metrics);

// One step through the engine: every call of it, ready for Engine::Step. `demonstrations` are from
// ForImitation.
SftMetrics AccumulateSft(const SftOptions& options, std::span<const Tree> demonstrations,
                         const SftBatch& batch, Engine* engine);
// The same with a weight of the caller's, where the step has other tokens beside these.
SftMetrics AccumulateSft(const SftOptions& options, std::span<const Tree> demonstrations,
                         const SftBatch& batch, double weight, Engine* engine);

}  // namespace hone
