#include "learn/recipe_identity.h"

#include "base/file.h"
#include "base/hash.h"

namespace hone {
namespace {

// Changes when what a stage makes from the same recipe changes.
constexpr int64_t kStageVersion = 1;

}  // namespace

Json RecipePart(const TrainingRecipe& recipe, std::string_view key) {
  const Json* part = recipe.resolved.Find(key);
  return part == nullptr ? Json() : *part;
}

std::string RecipeHash(const TrainingRecipe& recipe) {
  Json essence = recipe.resolved;
  essence.Set("run", Json::Of({{"seed", recipe.run.seed}}));
  essence.Set("evaluation", Json());
  // Where the journal lies does not matter.
  if (Json answers = RecipePart(recipe, "answers"); answers.is_object()) {
    answers.Set("journal", Json());
    essence.Set("answers", std::move(answers));
  }
  return ContentHash(essence);
}

Json StageInputs(const TrainingRecipe& recipe, size_t number) {
  Json::Array files;
  for (const auto& [split, file] : recipe.environment.files) {
    const Result<std::string> text = ReadFile(file);
    files.push_back(text.ok() ? Json(Sha256Hex(*text)) : Json());
  }
  return Json::Of({{"version", kStageVersion},
                   {"seed", recipe.run.seed},
                   {"environment", RecipePart(recipe, "environment")},
                   {"files", std::move(files)},
                   {"tools", RecipePart(recipe, "tools")},
                   {"stage", RecipePart(recipe, "stage").AsArray()[number]}});
}

}  // namespace hone
