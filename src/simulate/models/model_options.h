#pragma once

#include <memory>
#include <string>

#include "base/recipe.h"
#include "engine/device/device.h"
#include "simulate/models/endpoint.h"
#include "simulate/models/language_model.h"

namespace hone {

// A language model as a recipe names it (docs/simulation.md).
struct ModelOptions {
  std::string folder;  // of a local checkpoint
  std::string dialect = "hermes";
  DeviceKind device = DeviceKind::kAuto;  // of a local checkpoint
  EndpointOptions endpoint;
  LanguageModelOptions language_model;
  std::string completions;  // a journal for what it says; empty: none
};

// Reads the keys of `kind`, endpoint or model, into the settings.
void ReadModelOptions(RecipeTable* table, const std::string& kind, ModelOptions* settings);

// Connects to nothing yet, but reads a checkpoint, and the key of an endpoint.
Result<std::shared_ptr<LanguageModel>> OpenModel(const ModelOptions& settings,
                                                 const std::string& kind);

}  // namespace hone
