#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/recipe.h"

namespace hone {

// Weights by name.
using Shares = std::map<std::string, double>;

// "desk=0.5": false where it is no name and weight, the weight is below 0 (or is 0, unless `zero`),
// or the name is there already.
bool ReadShare(std::string_view text, bool zero, Shares* shares);

// key = ["desk=0.5", "board=2"] of a table. What is wrong is a problem of the recipe; where `names`
// are given, others are too.
Shares ReadShares(RecipeTable* table, std::string_view key, std::string_view comment,
                  const std::vector<std::string>& names = {});

}  // namespace hone
