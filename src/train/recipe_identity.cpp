#include "train/recipe_identity.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/file_hash.h"
#include "base/hash.h"
#include "train/backend.h"

namespace hone {
namespace {

// Of the form of what stages depend on.
constexpr int64_t kStageVersion = 2;

Json HashOfFile(const std::filesystem::path& file) {
  const Result<std::string> text = ReadFile(file);
  return text.ok() ? Json(Sha256Hex(*text)) : Json();
}

// A file, or a folder of texts.
Json HashOfInput(const std::filesystem::path& input) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(input, ignored)) return HashOfFile(input);
  const Result<std::string> hash = HashFolder(input);
  return hash.ok() ? Json(*hash) : Json();
}

Json HashesOfTaskFiles(const TrainingRecipe& recipe) {
  Json::Array files;
  for (const auto& [split, file] : recipe.environment.files) files.push_back(HashOfFile(file));
  return files;
}

// Of what a tool reads, or a dialect: a corpus, schemas, markers.
Json HashesOfOtherInputs(const TrainingRecipe& recipe) {
  std::set<std::string> known;
  for (const auto& [split, file] : recipe.environment.files) known.insert(file);
  for (const auto& stage : recipe.stages) {
    for (const std::string& file : stage->files()) known.insert(file);
  }
  Json::Array hashes;
  for (const RecipePath& path : recipe.paths) {
    if (path.use != PathUse::kInput || known.contains(path.place)) continue;
    hashes.push_back(HashOfInput(path.place));
  }
  return hashes;
}

bool HasInputFolders(const TrainingRecipe& recipe) {
  std::error_code ignored;
  return std::any_of(recipe.paths.begin(), recipe.paths.end(), [&](const RecipePath& path) {
    return path.use == PathUse::kInput && std::filesystem::is_directory(path.place, ignored);
  });
}

// Whether somebody else's journal answers. As it was written: whoever verifies a run lets its own
// journal answer and wants the same run.
bool ReplaysAnothersJournal(const TrainingRecipe& recipe) {
  const Json answers = RecipePart(recipe, "answers");
  const Json* mode = answers.Find("mode");
  return mode != nullptr && *mode == Json("replay") && !recipe.JournalsItself();
}

Json Without(std::string_view key, const Json& table) {
  Json rest = Json::Object();
  for (const auto& [name, value] : table.AsObject()) {
    if (name != key) rest.Set(name, value);
  }
  return rest;
}

}  // namespace

Json RecipePart(const TrainingRecipe& recipe, std::string_view key) {
  const Json* part = recipe.resolved.Find(key);
  return part == nullptr ? Json() : *part;
}

Json SaidPart(const TrainingRecipe& recipe, std::string_view key) {
  const Json* part = recipe.said.Find(key);
  return part == nullptr ? Json(Json::Object()) : *part;
}

Json RecipeIdentity(const TrainingRecipe& recipe, std::span<const LearningVersion> versions) {
  Json identity = Json::Object();
  for (const auto& [name, table] : recipe.said.AsObject()) {
    if (name != "run" && name != "evaluation") identity.Set(name, table);
  }
  identity.Set("seed", recipe.run.seed);
  // Alarms that act go by what dev says and go back to what was saved.
  if (recipe.alarms.mode == AlarmOptions::Mode::kApply) {
    for (const auto& [table, keys] :
         {std::pair<const char*, std::vector<const char*>>{"run", {"save_every"}},
          {"evaluation", {"every", "dev_tasks", "temperature", "seed"}}}) {
      Json watched = Json::Object();
      for (const char* key : keys) {
        const Json said = SaidPart(recipe, table);
        if (const Json* value = said.Find(key)) watched.Set(key, *value);
      }
      identity.Set(table, std::move(watched));
    }
  }
  // Where the journal lies does not matter; what is in it does where it is what is told.
  Json answers = Without("journal", SaidPart(recipe, "answers"));
  if (ReplaysAnothersJournal(recipe)) answers.Set("journal", HashOfFile(recipe.answers.journal));
  identity.Set("answers", std::move(answers));
  if (!recipe.environment.files.empty()) identity.Set("files", HashesOfTaskFiles(recipe));
  Json::Array imitated;
  for (const auto& stage : recipe.stages) {
    for (const std::string& file : stage->files()) imitated.push_back(HashOfFile(file));
  }
  if (!imitated.empty()) identity.Set("imitated", std::move(imitated));
  if (Json others = HashesOfOtherInputs(recipe); !others.AsArray().empty()) {
    identity.Set("inputs", std::move(others));
  }
  identity.Set("versions", VersionsOf(recipe, versions));
  return identity;
}

std::string RecipeHash(const TrainingRecipe& recipe, std::span<const LearningVersion> versions) {
  return ContentHash(RecipeIdentity(recipe, versions));
}

Json StageInputs(const TrainingRecipe& recipe, size_t number,
                 std::span<const LearningVersion> versions) {
  Json inputs = Json::Of({{"version", kStageVersion},
                          {"seed", recipe.run.seed},
                          {"environment", SaidPart(recipe, "environment")},
                          {"files", HashesOfTaskFiles(recipe)},
                          {"tools", SaidPart(recipe, "tools")},
                          {"stage", recipe.said.Find("stage")->AsArray()[number]},
                          {"versions", VersionsOfStage(recipe, number, versions)}});
  Json::Array imitated;
  for (const std::string& file : recipe.stages[number]->files()) {
    imitated.push_back(HashOfFile(file));
  }
  if (!imitated.empty()) inputs.Set("imitated", std::move(imitated));
  // Folders alone: what was made from single files is found as it was before these were counted.
  if (HasInputFolders(recipe)) inputs.Set("inputs", HashesOfOtherInputs(recipe));
  // Where whoever shows how asks somebody outside of this program, what is said there is imitated.
  if (!HasToolsInProcess(recipe)) {
    for (const char* part : {"user", "redact"}) inputs.Set(part, SaidPart(recipe, part));
    if (ReplaysAnothersJournal(recipe)) {
      inputs.Set("replayed", HashOfFile(recipe.answers.journal));
    }
  }
  return inputs;
}

}  // namespace hone
