#pragma once

#include <string>

#include "base/recipe.h"

namespace hone {

struct EnvironmentPlan;

// Who shows how it is done.
struct DemonstratorSettings {
  std::string agent = "gold";  // "teacher": sloppy on purpose; "gold": as plans say
  double teacher_error = 0.6;
  bool successful_only = false;  // those of full reward: the task done, no call wasted
};

// `demonstrator`, `teacher_error` and `successful_only` of a stage.
DemonstratorSettings ReadDemonstrator(RecipeTable* table, const EnvironmentPlan& environment);

}  // namespace hone
