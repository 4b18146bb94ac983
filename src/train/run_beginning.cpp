#include "train/run_beginning.h"

#include <fmt/format.h>

#include "base/file.h"
#include "train/folder/run_inputs.h"
#include "train/recipe_identity.h"
#include "train/reference.h"

namespace hone {

namespace {

constexpr char kEngineFile[] = "engine.txt";

// What calls were answered for another recipe is nothing that this one goes on with, and its files
// are not this one's.
void ClearOfAnother(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const char* kept : {kModelFiles, "inputs", kPlacesFile}) {
    std::filesystem::remove_all(folder / kept, ignored);
  }
  for (const char* name : {"journal.sqlite", "real.sqlite"}) {
    for (const char* part : {"", "-wal", "-shm"}) {
      const std::filesystem::path file = folder / fmt::format("{}{}", name, part);
      if (Exists(file)) std::filesystem::rename(file, file.string() + ".old", ignored);
    }
  }
}

}  // namespace

Result<void> Claim(const std::filesystem::path& folder, const TrainingRecipe& recipe,
                   const std::function<void(std::string_view)>& note) {
  const std::filesystem::path hash_file = folder / "recipe.hash";
  const std::string hash = RecipeHash(recipe);
  if (Exists(hash_file)) {
    HONE_ASSIGN_OR_RETURN(const std::string before, ReadFile(hash_file));
    if (before == hash + "\n") return {};
    if (!CheckpointsIn(folder).empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{} was begun with another recipe (see recipe.toml there); choose "
                               "another name with run.name=NAME, or remove the folder",
                               folder.string()));
    }
    note(
        fmt::format("{} was begun with another recipe, of which nothing had been computed; it is "
                    "this one's now",
                    folder.string()));
    ClearOfAnother(folder);
  }
  HONE_RETURN_IF_ERROR(
      WriteFileAtomic(folder / "recipe.toml",
                      fmt::format("# Resolved by hone; every key with the value it has.\n\n{}",
                                  recipe.resolved_text)));
  HONE_RETURN_IF_ERROR(KeepInputs(recipe.paths, folder));
  if (!recipe.model.folder.empty()) {
    HONE_RETURN_IF_ERROR(KeepModelFiles(recipe.model.folder, folder));
  }
  return WriteFileAtomic(hash_file, hash + "\n");
}

Result<void> NoteEngine(const std::filesystem::path& folder, const std::string& description) {
  const std::filesystem::path file = folder / kEngineFile;
  std::string lines;
  if (Exists(file)) {
    HONE_ASSIGN_OR_RETURN(lines, ReadFile(file));
  }
  if (lines.ends_with(description + "\n")) return {};
  return WriteFileAtomic(file, lines + description + "\n");
}

Result<void> CheckSameKindOfDevice(const std::filesystem::path& folder, const Device* device) {
  std::string last = "cpu";
  if (Exists(folder / kEngineFile)) {
    HONE_ASSIGN_OR_RETURN(std::string lines, ReadFile(folder / kEngineFile));
    while (lines.ends_with('\n')) lines.pop_back();
    last = lines.substr(lines.rfind('\n') + 1);
    last = last.substr(0, last.find(';'));  // which products it chose changes no bit
  }
  // Every processor has the same bits.
  const bool same = device == nullptr ? last.starts_with("cpu") : last == device->Description();
  if (same) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{} was computed by {}; here computes {}, whose bits are others: derive "
                           "it where it was computed, or name that device with --device",
                           folder.string(), last,
                           device == nullptr ? "the processor" : device->Description()));
}

Result<std::filesystem::path> CheckpointToGoOnFrom(
    const RunOptions& settings, RunFolder* folder,
    const std::function<void(std::string_view)>& note) {
  if (settings.resume == "never" && !folder->Checkpoints().empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} has checkpoints of an earlier run, which resume = \"never\" would "
                             "overwrite; choose another name with run.name=NAME, or remove the "
                             "folder",
                             folder->path().string()));
  }
  HONE_ASSIGN_OR_RETURN(std::filesystem::path newest, folder->NewestSound(note));
  if (!newest.empty() || settings.resume == "auto" || settings.resume == "never") return newest;
  HONE_RETURN_IF_ERROR(CheckCheckpoint(settings.resume));
  return std::filesystem::path(settings.resume);
}

Result<void> CopyReferences(const std::filesystem::path& run, const std::filesystem::path& folder) {
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(run, problem)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kReferencePrefix)) continue;
    std::filesystem::copy(entry.path(), folder / name,
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing,
                          problem);
    if (problem) {
      return Error(ErrorCode::kIo, fmt::format("cannot copy {} to {}: {}", entry.path().string(),
                                               folder.string(), problem.message()));
    }
  }
  return {};
}

Result<void> Adopt(const std::filesystem::path& checkpoint, const Tokenizer& tokenizer,
                   const std::filesystem::path& folder) {
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / "tokenizer.json", tokenizer.ToJson()));
  // A checkpoint lies in its run's folder of checkpoints.
  const auto whole = std::filesystem::absolute(checkpoint).lexically_normal();
  return CopyReferences(whole.parent_path().parent_path(), folder);
}

}  // namespace hone
