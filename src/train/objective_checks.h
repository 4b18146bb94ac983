#pragma once

#include "train/training_recipe.h"

namespace hone {

// Settings of [objective] that could do nothing are problems of the recipe: those that the loss
// never looks at, a critic that the method does not read, and a method that has lost its loss or
// critic.
void CheckObjective(const TrainingRecipe& recipe, RecipeTable* root);

}  // namespace hone
