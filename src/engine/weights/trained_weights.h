#pragma once

#include <filesystem>

#include "base/result.h"
#include "engine/model.h"

namespace hone {

// What training changes of a model, in one file: the float32 numbers of the parameters that are
// trained, and no others. With adapters these are small, for the weights below them are frozen.

Result<void> WriteTrainedWeights(const Model& model, const std::filesystem::path& file);
// Into a model of the same parameters. An error names the file, and leaves the model in any state.
Result<void> ReadTrainedWeights(const std::filesystem::path& file, Model* model);

}  // namespace hone
