#pragma once

#include <filesystem>
#include <string>

#include "train/training_recipe.h"

// What a run leaves in its folder when it is over: result.json, with the hash of its weights.

namespace hone {

// Whether a run came to its end with this step, measured as this recipe says.
bool CameToItsEnd(const std::filesystem::path& folder, const TrainingRecipe& recipe, int64_t step);

Result<void> WriteResult(const std::filesystem::path& folder, const TrainingRecipe& recipe,
                         int64_t step, const std::string& weights);

}  // namespace hone
