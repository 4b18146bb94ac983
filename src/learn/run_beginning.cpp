#include "learn/run_beginning.h"

#include <fmt/format.h>

#include "base/file.h"
#include "learn/recipe_identity.h"
#include "learn/rl_stage.h"

namespace hone {

Result<void> Claim(const std::filesystem::path& folder, const TrainingRecipe& recipe) {
  const std::filesystem::path hash_file = folder / "recipe.hash";
  const std::string hash = RecipeHash(recipe);
  std::error_code ignored;
  if (std::filesystem::exists(hash_file, ignored)) {
    HONE_ASSIGN_OR_RETURN(const std::string before, ReadFile(hash_file));
    if (before == hash + "\n") return {};
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} was begun with another recipe (see recipe.toml there); choose "
                             "another name with run.name=NAME, or remove the folder",
                             folder.string()));
  }
  HONE_RETURN_IF_ERROR(
      WriteFileAtomic(folder / "recipe.toml",
                      fmt::format("# Resolved by hone; every key with the value it has.\n\n{}",
                                  recipe.resolved_text)));
  return WriteFileAtomic(hash_file, hash + "\n");
}

Result<std::filesystem::path> CheckpointToGoOnFrom(const RunFolder& folder,
                                                   const RunSettings& settings) {
  const std::vector<int64_t> steps = folder.Checkpoints();
  if (settings.resume == "never" && !steps.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} has checkpoints of an earlier run, which resume = \"never\" would "
                             "overwrite; choose another name with run.name=NAME, or remove the "
                             "folder",
                             folder.path().string()));
  }
  if (!steps.empty()) return folder.CheckpointPath(steps.back());
  if (settings.resume == "auto" || settings.resume == "never") return std::filesystem::path();
  return std::filesystem::path(settings.resume);
}

Result<void> Adopt(const std::filesystem::path& checkpoint, const Tokenizer& tokenizer,
                   const std::filesystem::path& folder) {
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / "tokenizer.json", tokenizer.ToJson()));
  const std::filesystem::path reference =
      std::filesystem::absolute(checkpoint).lexically_normal().parent_path().parent_path() /
      kReferenceFolder;
  std::error_code problem;
  if (!std::filesystem::is_directory(reference, problem)) return {};
  std::filesystem::copy(
      reference, folder / kReferenceFolder,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing,
      problem);
  if (!problem) return {};
  return Error(ErrorCode::kIo, fmt::format("cannot copy {} to {}: {}", reference.string(),
                                           folder.string(), problem.message()));
}

}  // namespace hone
