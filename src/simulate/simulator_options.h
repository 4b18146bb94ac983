#pragma once

#include <memory>
#include <string>

#include "base/recipe.h"
#include "simulate/models/model_options.h"
#include "simulate/players/learned_model.h"
#include "simulate/players/model_player.h"
#include "simulate/players/taught_model.h"
#include "simulate/simulator.h"

namespace hone {

// Who plays the tools, as a recipe says it (docs/simulation.md).
struct SimulatorOptions {
  std::string kind = "random";  // random, endpoint, model or learned
  ModelOptions model;           // of kinds endpoint and model
  std::string folder;           // of kind learned
  ModelPlayerOptions model_player;
  LearnedPlayerOptions learned_player;
  CheckOptions check;

  // Whether who plays is shown recorded calls: language models are.
  bool shows_record() const { return kind == "endpoint" || kind == "model"; }
};
// What the recipe does not say stays as it is in `settings`.
SimulatorOptions ReadSimulatorOptions(RecipeTable table, SimulatorOptions settings = {});
LearnedOptions ReadLearnedOptions(RecipeTable table, LearnedOptions options = {});
TeachingOptions ReadTeachingOptions(RecipeTable table);

// `recorded` is what a model is shown of the journal; null: nothing.
Result<std::shared_ptr<Player>> NewPlayer(const SimulatorOptions& settings,
                                          std::shared_ptr<const JournaledCalls> recorded);

}  // namespace hone
