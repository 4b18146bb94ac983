#pragma once

#include "engine/learning_rate.h"
#include "engine/optimizer.h"
#include "learn/sft.h"
#include "train/stage.h"
#include "train/stage_context.h"

namespace hone {

// Imitation: `kind = "sft"`. Demonstrations are made on the fly.
struct SftStage {
  DemonstratorOptions demonstrator;
  int64_t steps = 3000;
  int64_t batch = 64;          // demonstrations per step
  int64_t demonstrations = 0;  // different ones; 0: no demonstration comes twice
  SftOptions loss;
  LearningRate rate;
  OptimizerOptions optimizer;
};
std::shared_ptr<Stage> ReadSftStage(RecipeTable table, const EnvironmentOptions& environment);

// An error where the model cannot read the demonstration; it says what to change.
Result<void> CheckDemonstration(const Engine& engine, const Tree& tree);

// Imitation, step by step. What a step does depends on the weights, the seed and its number alone.
class SftTraining final : public StageRun {
 public:
  // The context must outlive it.
  SftTraining(const SftStage& stage, StageContext* context);

  // Makes the demonstrations of this step and takes one step of the optimiser.
  Result<StageStep> Step(int64_t step) override;
  bool IsOver(int64_t steps) const override { return steps >= stage_.steps; }
  Json State() const override { return {}; }
  Result<void> Restore(const Json& /*state*/) override { return {}; }

 private:
  // Which demonstration is the n-th of the run.
  uint64_t NumberOf(uint64_t position);
  Result<Tree> DemonstrationAt(uint64_t position);

  SftStage stage_;
  StageContext* context_;
  Demonstrator demonstrator_;
  uint64_t epoch_ = UINT64_MAX;  // that order_ is of
  std::vector<size_t> order_;
};

}  // namespace hone
