#pragma once

#include "base/recipe.h"
#include "train/compare/comparison_file.h"

namespace hone {

// Adds what a [[claim]] of a comparison file says. The sections must have been read. A section, an
// arm or a measure that is not there is a problem of the recipe's (Recipe::Finish).
void ReadClaim(RecipeTable* table, ComparisonFile* comparison);

}  // namespace hone
