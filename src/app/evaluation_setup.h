#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/folder/model_place.h"
#include "train/stage_context.h"

namespace hone {

// What a command line says of a model that is to be evaluated.
struct EvaluationChoice {
  std::string model;                   // a run, a checkpoint or a Hugging Face folder
  std::string checkpoint = "last";     // of a run: last, best or a step
  std::string environment;             // a name or a recipe; empty: that of the run
  std::vector<std::string> overrides;  // of the recipe that says the environment
  std::string dialect;                 // empty: that of the run or the recipe
  std::optional<int64_t> threads;
  std::optional<DeviceKind> device;  // absent: that of the run, else auto
};

// A model in an environment, on its real tools; nothing is trained, and nothing is written down.
struct EvaluationSetup {
  ModelPlace place;
  std::string environment;  // as it is called: "desk", "planner"
  TrainingRecipe recipe;  // what there is of one: the model's, with the environment that was chosen
  std::unique_ptr<StageContext> context;  // points to the recipe
};

// Every way in which they cannot be had, or do not fit each other, is an error that says what to
// do.
Result<std::unique_ptr<EvaluationSetup>> OpenForEvaluation(const EvaluationChoice& choice);

}  // namespace hone
