#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/kernels/kernels.h"
#include "engine/model_config.h"

namespace hone {

// The sum of what a training step holds, in bytes by name, as docs/engine.md derives it: for all
// parameters trained, and `tokens` tokens in one Accumulate. Before anything is allocated, so that
// one can see what fits.
std::vector<std::pair<std::string, int64_t>> TrainingMemory(const ModelConfig& config,
                                                            Precision precision, int64_t tokens,
                                                            bool recompute_activations);

// What the weights take of an engine that draws and is not trained.
int64_t DrawingWeightBytes(const ModelConfig& config, Precision precision);

int64_t TotalBytes(const std::vector<std::pair<std::string, int64_t>>& parts);

}  // namespace hone
