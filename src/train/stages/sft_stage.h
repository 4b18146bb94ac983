#pragma once

#include <map>

#include "engine/learning_rate.h"
#include "engine/optimizer.h"
#include "learn/sft.h"
#include "learn/together/slices.h"
#include "train/stage.h"
#include "train/stage_context.h"
#include "train/stages/sft_data.h"

namespace hone {

// Imitation: `kind = "sft"`, of conversations in files, or of demonstrations, which are made on the
// fly.
struct SftStage {
  SftDataOptions data;
  DemonstratorOptions demonstrator;  // where there is no data
  EnvironmentMix mix = {};           // of several environments
  int64_t steps = 3000;
  int64_t batch = 64;          // conversations per step
  int64_t demonstrations = 0;  // different ones; 0: no demonstration comes twice
  int64_t slices = 1;          // of a step (learn/together/slices.h)
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
  static Result<std::unique_ptr<SftTraining>> Open(const SftStage& stage, int64_t number,
                                                   StageContext* context);

  // Takes the conversations of this step, and one step of the optimiser.
  Result<StageStep> Step(int64_t step) override;
  bool IsOver(int64_t steps) const override { return steps >= stage_.steps; }
  Json State() const override { return {}; }
  Result<void> Restore(const Json& /*state*/) override { return {}; }

 private:
  SftTraining(const SftStage& stage, int64_t number, StageContext* context);

  // Which demonstration is the n-th of the run.
  uint64_t NumberOf(uint64_t position);
  Result<Tree> DemonstrationAt(uint64_t position);
  // Some conversations of a step: those that are not too long.
  Result<std::vector<Tree>> BatchOf(int64_t step, int64_t begin, int64_t end);
  // The slices of this process, with the weights of all trees of the step.
  struct SlicedBatch {
    std::vector<std::vector<Tree>> mine;
    double weight = 0;
    bool empty = true;
  };
  Result<SlicedBatch> BatchOf(int64_t step, const Slices& slices);
  StepValues Learn(const SlicedBatch& batch, const Slices& slices, double learning_rate);

  SftStage stage_;
  StageContext* context_;
  LoadedEnvironment environment_;
  std::optional<SftData> data_;
  Demonstrator demonstrator_;
  uint64_t epoch_ = UINT64_MAX;  // that order_ is of
  std::vector<size_t> order_;
  std::map<uint64_t, Tree> shown_;  // by number, where they come again
};

}  // namespace hone
