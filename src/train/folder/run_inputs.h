#pragma once

#include <filesystem>
#include <span>

#include "base/recipe.h"
#include "base/result.h"

// What a run keeps of the files that its recipe names, so that it can be carried elsewhere.

namespace hone {

// Whether a place is below another one, or the same.
bool LiesIn(const std::filesystem::path& inner, const std::filesystem::path& outer);

// Copies the inputs among the paths, files and folders, to folder/inputs, and writes
// folder/places.json, by which the recipe in the folder finds them there (base/recipe.h). All other
// paths are written down whole: they lead where they led from any folder of this machine. Inputs
// larger than `largest` bytes count among those.
Result<void> KeepInputs(std::span<const RecipePath> paths, const std::filesystem::path& folder,
                        int64_t largest = int64_t{256} << 20);

// Copies what stands beside a model's weights and tokenizer and is not changed by training (chat
// templates, generation settings, the tokenizer's configuration) to folder/model_files, which goes
// into every checkpoint.
Result<void> KeepModelFiles(const std::filesystem::path& model,
                            const std::filesystem::path& folder);
inline constexpr char kModelFiles[] = "model_files";

// All of a folder into another, which is made where it is not there. Nothing where there is none.
Result<void> CopyFolder(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace hone
