#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "train/learning_versions.h"
#include "train/training_recipe.h"

// What of a recipe reaches what it makes: two recipes that agree in it make the same.
//
// Keys that have their default do not count, so that a run stays what it is when the program learns
// to read another key. What the program makes of the same keys counts by the versions of the parts
// that a recipe uses (train/learning_versions.h).

namespace hone {

// A table of the resolved recipe; null where there is none.
Json RecipePart(const TrainingRecipe& recipe, std::string_view key);
// What of it differs from the defaults; an empty object where nothing does.
Json SaidPart(const TrainingRecipe& recipe, std::string_view key);

// Everything that reaches the weights at the end: task files, and a journal that is replayed, by
// what is in them; not names, folders and logs; and evaluations and checkpoints only where alarms
// act on them.
Json RecipeIdentity(const TrainingRecipe& recipe,
                    std::span<const LearningVersion> versions = LearningVersions());
// SHA-256 of it: what recipe.hash of a run's folder holds.
std::string RecipeHash(const TrainingRecipe& recipe,
                       std::span<const LearningVersion> versions = LearningVersions());

// Everything that the output of this stage depends on beside what earlier stages made: the seed,
// the tasks (files by what is in them), the tools and the stage itself.
Json StageInputs(const TrainingRecipe& recipe, size_t number,
                 std::span<const LearningVersion> versions = LearningVersions());

}  // namespace hone
