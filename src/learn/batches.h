#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/recipe.h"
#include "base/rng.h"

// Which groups are trained on when. A pure function of how many tokens each has and of an Rng:
// nothing depends on what came first or on how fast anything was.

namespace hone {

struct BatchOptions {
  int64_t mini_batches = 1;      // per epoch: that many steps of the optimiser
  int64_t epochs = 1;            // over the groups of a training step
  int64_t call_tokens = 16'384;  // of one call of the engine, at most: bounds its memory
  int64_t slices = 1;            // of a mini-batch (learn/together/slices.h)
};

// What goes through the engine at once: items by index.
using EngineCalls = std::vector<std::vector<size_t>>;

// One step of the optimiser: groups by index, in slices, in calls of the engine.
struct MiniBatch {
  int64_t epoch = 0;
  std::vector<EngineCalls> slices;

  std::vector<size_t> Groups() const;  // all of them, in order
};

// Cuts items of `tokens` each, in their order, into runs of at most `limit` tokens. An item that is
// larger has a run of its own.
EngineCalls PackByTokens(std::span<const size_t> order, std::span<const int64_t> tokens,
                         int64_t limit);

// Items in even slices of their order, each in runs of at most `limit` tokens. Slices are empty
// where items are fewer.
std::vector<EngineCalls> SlicesOf(std::span<const size_t> order, std::span<const int64_t> tokens,
                                  int64_t slices, int64_t limit);

// The mini-batches of one training step, in order. Every epoch has every group once, in an order of
// its own, spread as evenly as can be; no mini-batch is empty, so there are fewer of them where
// groups are fewer.
std::vector<MiniBatch> MakeMiniBatches(const BatchOptions& options, std::span<const int64_t> tokens,
                                       const Rng& rng);

}  // namespace hone
