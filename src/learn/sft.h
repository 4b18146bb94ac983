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
  int64_t step_tokens = 8192;    // of one step of the optimiser, at most
  int64_t call_tokens = 16'384;  // of one call of the engine, at most
  int64_t epochs = 1;            // over the demonstrations
  int64_t steps = 0;             // above 0: so many, over as many epochs as that takes
};
// other_weight, step_tokens, call_tokens, epochs and steps of a table.
SftOptions ReadSft(RecipeTable* table);

// The tree as it is to be imitated: every distribution the plain one (temperature 1, the whole
// vocabulary), whatever the demonstrations were drawn with; without what the engine has no use for.
// A demonstration whose history was folded has a path per segment.
Tree ForImitation(const Tree& tree);

// One step of the optimiser: demonstrations by index, in calls of the engine.
struct SftBatch {
  int64_t epoch = 0;
  std::vector<std::vector<size_t>> calls;
};

// All steps. Each epoch has each demonstration once, in an order of its own, packed into steps of
// at most step_tokens; one that is longer has a step of its own. `tokens`: of each demonstration.
std::vector<SftBatch> PlanSft(const SftOptions& options, std::span<const int64_t> tokens,
                              const Rng& rng);

struct SftMetrics {
  double loss = 0;                              // the weighted mean of -log p that is minimised
  double policy_loss = 0;                       // nats per token of the policy
  double other_loss = 0;                        // nats per token of the others
  int64_t policy_tokens = 0, other_tokens = 0;  // per path
};

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
// The same losses without training, e.g. of held-out demonstrations.
SftMetrics EvaluateSft(const SftOptions& options, std::span<const Tree> demonstrations,
                       Engine* engine);

}  // namespace hone
