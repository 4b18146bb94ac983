#pragma once

#include <functional>

#include "simulate/players/learned_model.h"
#include "train/stage.h"
#include "train/stage_context.h"

namespace hone {

// Calls of real tools are recorded, and a model learns to answer like them: `kind = "simulator"`.
struct SimulatorStage {
  int64_t tasks = 20'000;  // played for the record (evaluate/journaling.h), all on train
  int64_t calls = 0;       // above 0: so many are recorded, and no more
  double mistakes = 0.6;   // share of the calls that go wrong there
  // The policy as it is now plays instead, and what the tools answer is added to what the stage
  // before this one recorded: a simulator is refreshed where the policy goes.
  bool by_policy = false;
  int64_t slices = 1;  // of a step (learn/together/slices.h)
  LearnedOptions model;
};
std::shared_ptr<Stage> ReadSimulatorStage(RecipeTable table, const EnvironmentOptions& environment);

// Makes a simulator: plays training tasks on the real tools, records what those answer, and trains
// a model on it. Leaves in `folder` the learned model (simulate/players/learned_model.h) and
// recorded.sqlite, the journal it learned from. A function of the recipe and the seed.
Result<TrainingReport> MakeSimulator(const SimulatorStage& stage, StageContext* context,
                                     const std::filesystem::path& folder,
                                     const std::function<void(const TrainingProgress&)>& progress);

}  // namespace hone
