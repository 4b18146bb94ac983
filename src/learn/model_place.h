#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

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

}  // namespace hone
