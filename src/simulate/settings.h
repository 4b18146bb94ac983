#pragma once

#include <memory>
#include <string>

#include "base/recipe.h"
#include "simulate/learned_model.h"
#include "simulate/model_player.h"
#include "simulate/model_settings.h"
#include "simulate/simulator.h"

namespace hone {

// Who plays the tools, as a recipe says it (docs/simulation.md).
struct SimulatorSettings {
  std::string kind = "random";  // random, endpoint, model or learned
  ModelSettings model;          // of kinds endpoint and model
  std::string folder;           // of kind learned
  ModelPlayerOptions model_player;
  LearnedPlayerOptions learned_player;
  CheckOptions check;
};
// What the recipe does not say stays as it is in `settings`.
SimulatorSettings ReadSimulatorSettings(RecipeTable table, SimulatorSettings settings = {});
LearnedOptions ReadLearnedOptions(RecipeTable table);

// `recorded` is what a model is shown of the journal; null: nothing.
Result<std::shared_ptr<Player>> NewPlayer(const SimulatorSettings& settings,
                                          std::shared_ptr<const RecordedCalls> recorded);

}  // namespace hone
