#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "learn/training_recipe.h"

// What of a recipe reaches what it makes: two recipes that agree in it make the same.

namespace hone {

// A table of the resolved recipe; null where there is none.
Json RecipePart(const TrainingRecipe& recipe, std::string_view key);

// SHA-256 of everything that reaches the weights at the end: task files, and a journal that is
// replayed, by what is in them; not names, folders and logs; and evaluations and checkpoints only
// where alarms act on them. What recipe.hash of a run's folder
// holds.
std::string RecipeHash(const TrainingRecipe& recipe);

// Everything that the output of this stage depends on beside what earlier stages made: the seed,
// the tasks (files by what is in them), the tools and the stage itself.
Json StageInputs(const TrainingRecipe& recipe, size_t number);

}  // namespace hone
