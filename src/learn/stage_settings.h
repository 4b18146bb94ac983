#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/recipe.h"
#include "engine/learning_rate.h"
#include "engine/optimizer.h"
#include "learn/batches.h"
#include "learn/sft.h"
#include "simulate/learned_model.h"

// The `[[stage]]` entries of a recipe: what is done, in this order.

namespace hone {

// Who shows how it is done.
struct DemonstratorSettings {
  std::string agent = "gold";  // "teacher": sloppy on purpose; "gold": as plans say
  double teacher_error = 0.6;
  bool successful_only = false;  // those of full reward: the task done, no call wasted
};

// Imitation: `kind = "sft"`. Demonstrations are made on the fly.
struct SftStage {
  DemonstratorSettings demonstrator;
  int64_t steps = 3000;
  int64_t batch = 64;          // demonstrations per step
  int64_t demonstrations = 0;  // different ones; 0: no demonstration comes twice
  SftOptions loss;
  LearningRate rate;
  OptimizerOptions optimizer;
};

// Calls of real tools are recorded, and a model learns to answer like them: `kind = "simulator"`.
struct SimulatorStage {
  int64_t tasks = 20'000;  // played for the record (evaluate/recording.h), all on train
  double mistakes = 0.6;   // share of the calls that go wrong there
  LearnedOptions model;
};

// Trial and error: `kind = "rl"`.
struct RlStage {
  int64_t steps = 150;
  int64_t groups = 32;       // tasks per step
  int64_t group = 8;         // trajectories per task
  int64_t trajectories = 0;  // above 0: the stage is over once so many were drawn, if not before
  BatchOptions batches;
  LearningRate rate;
  OptimizerOptions optimizer;
};

// Calls of real tools are recorded, for a run that is answered by the record: `kind = "record"`.
struct RecordStage {
  int64_t tasks = 5'000;  // the first ones of train (evaluate/recording.h)
  double mistakes = 0.6;  // share of the calls that go wrong there
  bool gold = false;      // what plans do, and nothing else
};

using StageSettings = std::variant<SftStage, SimulatorStage, RlStage, RecordStage>;
std::string_view StageKind(const StageSettings& stage);

// One entry; `environment` is the kind of the recipe's. Problems go to the recipe.
StageSettings ReadStage(RecipeTable table, std::string_view environment);

}  // namespace hone
