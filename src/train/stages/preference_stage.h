#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/learning_rate.h"
#include "engine/optimizer.h"
#include "learn/losses/preference_loss.h"
#include "train/stage.h"
#include "train/stage_context.h"

namespace hone {

struct PreferenceRow;

// Preferences: `kind = "preference"`, of pairs in files (data/preference_file.h). The reference is
// the policy as it was when the stage began.
struct PreferenceStage {
  std::vector<std::string> files;
  std::shared_ptr<const std::vector<PreferenceRow>> rows;  // null: they could not be read
  std::vector<std::string> places;                         // of each row: "pairs.jsonl:17"
  bool skip_too_long = false;                              // else they are an error
  int64_t batch = 16;                                      // pairs per step
  int64_t steps = 1;
  PreferenceOptions loss;
  LearningRate rate;
  OptimizerOptions optimizer;
};
std::shared_ptr<Stage> ReadPreferenceStage(RecipeTable table,
                                           const EnvironmentOptions& environment);

}  // namespace hone
