#pragma once

#include <functional>

#include "learn/workshop.h"

namespace hone {

// Makes a simulator: plays training tasks on the real tools, records what those answer, and trains
// a model on it. Leaves in `folder` the learned model (simulate/learned_model.h) and
// recorded.sqlite, the journal it learned from. A function of the recipe and the seed.
Result<TrainingReport> MakeSimulator(const SimulatorStage& stage, Workshop* workshop,
                                     const std::filesystem::path& folder,
                                     const std::function<void(const TrainingProgress&)>& progress);

}  // namespace hone
