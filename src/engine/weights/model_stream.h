#pragma once

#include <filesystem>
#include <functional>

#include "base/result.h"
#include "engine/model.h"

namespace hone {

// Models that go from file to file without being in memory whole: one parameter at a time is.

// Fills the value of a parameter, which has as many numbers as its shape says, by its name. Where
// there is no such tensor, or it does not hold finite numbers, the error names it.
using ParameterReader = std::function<Result<void>(Parameter*)>;

// Of a Hugging Face folder whose config.json says `config`. Names, shapes and types are checked
// here, numbers when they are read.
Result<ParameterReader> ReaderOfFolder(const std::filesystem::path& folder,
                                       const ModelConfig& config);

// The whole model from such a reader.
Result<Model> ReadModel(const ModelConfig& config, const ParameterReader& reader);

// The files that SaveModel (engine/model.h) writes, byte for byte.
Result<void> SaveModelFrom(const ModelConfig& config, const ParameterReader& reader, SaveType type,
                           const std::filesystem::path& folder);

}  // namespace hone
