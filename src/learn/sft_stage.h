#pragma once

#include "learn/workshop.h"

namespace hone {

// An error where the model cannot read the demonstration; it says what to change.
Result<void> CheckDemonstration(const Engine& engine, const Tree& tree);

// Imitation, step by step. What a step does depends on the weights, the seed and its number alone.
class SftTraining {
 public:
  // The workshop must outlive it.
  SftTraining(const SftStage& stage, Workshop* workshop);

  // Makes the demonstrations of this step and takes one step of the optimiser.
  Result<StepValues> Step(int64_t step);

 private:
  // Which demonstration is the n-th of the run.
  uint64_t NumberOf(uint64_t position);
  Result<Tree> DemonstrationAt(uint64_t position);

  SftStage stage_;
  Workshop* workshop_;
  Demonstrator demonstrator_;
  uint64_t epoch_ = UINT64_MAX;  // that order_ is of
  std::vector<size_t> order_;
};

}  // namespace hone
