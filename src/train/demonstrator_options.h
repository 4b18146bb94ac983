#pragma once

#include <string>

#include "base/recipe.h"

namespace hone {

struct EnvironmentOptions;

// Who shows how it is done.
struct DemonstratorOptions {
  // "teacher": sloppy on purpose; "gold": as plans say; "idle": shows nothing, for estimates
  std::string agent = "gold";
  double teacher_error = 0.6;
  bool successful_only = false;  // those of full reward: the task done, no call wasted
};

// `demonstrator`, `teacher_error` and `successful_only` of a stage.
DemonstratorOptions ReadDemonstrator(RecipeTable* table, const EnvironmentOptions& environment);

}  // namespace hone
