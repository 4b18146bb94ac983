#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/kernels/kernels.h"
#include "engine/model_config.h"

namespace hone {

// The sum of what a training step holds on the processor, in bytes by name, as docs/engine.md
// derives it, for `tokens` tokens in one Accumulate. Before anything is allocated, so that one can
// see what fits. Of a model with adapters, which have so many numbers, only these are trained; 0:
// there are none, and all parameters are.
std::vector<std::pair<std::string, int64_t>> TrainingMemory(const ModelConfig& config,
                                                            Precision precision, int64_t tokens,
                                                            bool recompute_activations,
                                                            int64_t adapters = 0);

// What the weights take of an engine that draws and is not trained.
int64_t DrawingWeightBytes(const ModelConfig& config, Precision precision);

// What this machine has, used or not. 0: it does not say.
int64_t MachineMemoryBytes();

int64_t TotalBytes(const std::vector<std::pair<std::string, int64_t>>& parts);

}  // namespace hone
