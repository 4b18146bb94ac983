#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/engine.h"

namespace hone {

// Where a model lies that a person has named: by a run, one of its checkpoints, or any Hugging Face
// folder.
struct ModelPlace {
  std::filesystem::path folder;  // with config.json
  std::filesystem::path run;     // that it is a checkpoint of; empty: of none
};

// `which` is "last", "best" (on dev) or a step, and says something only of runs. The error says
// what is wrong with the name, and what there is.
Result<ModelPlace> FindModel(const std::filesystem::path& named, const std::string& which);

// The models that `hone model get` has by name (app/models/catalogue.h).
std::span<const std::string_view> ModelsKnownByName();
// What to do where a model's folder is not there: a command, or several.
std::string HowToGetModel(const std::filesystem::path& folder);

// Where the chat template of a model lies: with it, or, for checkpoints from before these carried
// one, with the model that the run began with.
std::string TemplateFolder(const ModelPlace& place, const std::string& began_with);

// The engine of a model's folder. Where training left its master weights they are taken: they say
// more than the model beside them, and are what training goes on with.
Result<std::unique_ptr<Engine>> OpenModel(const std::filesystem::path& folder,
                                          Engine::Options options);

}  // namespace hone
