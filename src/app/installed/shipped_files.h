#pragma once

#include <filesystem>
#include <string>

#include "base/recipe.h"
#include "base/result.h"

namespace hone {

// Files that come with Hone: recipes/, examples/ and comparisons/. They lie in share/hone beside an
// installed program, and in the source's folder beside a built one.

// Empty when they are nowhere.
std::filesystem::path ShippedFolder();

// What a person means by a name like "recipes/quickstart.toml": the file in the current folder, or
// else the one that comes with Hone. A name that is neither stays as it is.
std::string NamedFile(const std::string& name);

// Recipe::Load of what is meant.
Result<Recipe> LoadNamedRecipe(const std::string& name);

}  // namespace hone
