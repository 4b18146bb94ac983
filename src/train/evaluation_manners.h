#pragma once

#include <string>
#include <vector>

#include "train/training_recipe.h"

namespace hone {

// One way in which a run measures its policy, as it is called in TrainingState::evaluations.
struct EvaluationManner {
  std::string name;  // "sampled"
  double temperature = 0;
  bool without_tools = false;
};

// Sampled and greedy; of test, where it is asked for, sampled without tools besides.
std::vector<EvaluationManner> MannersOf(const RunEvaluationOptions& options, Split split);

}  // namespace hone
