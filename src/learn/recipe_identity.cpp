#include "learn/recipe_identity.h"

#include "base/file.h"
#include "base/hash.h"
#include "learn/world.h"

namespace hone {
namespace {

// Changes when what a stage makes from the same recipe changes.
constexpr int64_t kStageVersion = 1;

Json HashOfFile(const std::filesystem::path& file) {
  const Result<std::string> text = ReadFile(file);
  return text.ok() ? Json(Sha256Hex(*text)) : Json();
}

Json HashesOfTaskFiles(const TrainingRecipe& recipe) {
  Json::Array files;
  for (const auto& [split, file] : recipe.environment.files) files.push_back(HashOfFile(file));
  return files;
}

// Whether somebody else's journal answers. As it was written: whoever verifies a run lets its own
// journal answer and wants the same run.
bool ReplaysAnothersJournal(const TrainingRecipe& recipe) {
  const Json answers = RecipePart(recipe, "answers");
  const Json* mode = answers.Find("mode");
  return mode != nullptr && *mode == Json("replay") && !recipe.RecordsItself();
}

}  // namespace

Json RecipePart(const TrainingRecipe& recipe, std::string_view key) {
  const Json* part = recipe.resolved.Find(key);
  return part == nullptr ? Json() : *part;
}

std::string RecipeHash(const TrainingRecipe& recipe) {
  Json essence = recipe.resolved;
  // Alarms that act go by what dev says and go back to what was saved.
  const bool acts = recipe.alarms.mode == AlarmOptions::Mode::kApply;
  Json run = Json::Of({{"seed", recipe.run.seed}});
  if (acts) run.Set("save_every", recipe.run.save_every);
  essence.Set("run", std::move(run));
  Json watched;  // what of evaluations reaches alarms
  if (acts) {
    watched = Json::Object{};
    const Json evaluation = RecipePart(recipe, "evaluation");
    for (const char* key : {"every", "dev_tasks", "temperature", "seed"}) {
      if (const Json* value = evaluation.Find(key)) watched.Set(key, *value);
    }
  }
  essence.Set("evaluation", std::move(watched));
  // Where the journal lies does not matter; what is in it does where it is what is told.
  if (Json answers = RecipePart(recipe, "answers"); answers.is_object()) {
    answers.Set("journal",
                ReplaysAnothersJournal(recipe) ? HashOfFile(recipe.answers.journal) : Json());
    essence.Set("answers", std::move(answers));
  }
  if (!recipe.environment.files.empty()) essence.Set("files", HashesOfTaskFiles(recipe));
  return ContentHash(essence);
}

Json StageInputs(const TrainingRecipe& recipe, size_t number) {
  Json inputs = Json::Of({{"version", kStageVersion},
                          {"seed", recipe.run.seed},
                          {"environment", RecipePart(recipe, "environment")},
                          {"files", HashesOfTaskFiles(recipe)},
                          {"tools", RecipePart(recipe, "tools")},
                          {"stage", RecipePart(recipe, "stage").AsArray()[number]}});
  // Where whoever shows how asks somebody outside of this program, what is said there is imitated.
  if (!HasToolsInProcess(recipe)) {
    for (const char* part : {"user", "redact"}) inputs.Set(part, RecipePart(recipe, part));
    if (ReplaysAnothersJournal(recipe)) {
      inputs.Set("replayed", HashOfFile(recipe.answers.journal));
    }
  }
  return inputs;
}

}  // namespace hone
