#include "train/verify/stored_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/toml.h"

namespace hone {
namespace {

constexpr int64_t kTreesPerQuery = 10'000;  // trees per query

Result<TrainingRecipe> ReadOwnRecipe(const std::filesystem::path& folder, std::string* begun_at) {
  const std::filesystem::path file = folder / "recipe.toml";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} is not the folder of a run: it has no recipe.toml; hone train "
                             "makes them in runs/NAME",
                             folder.string()));
  }
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  Result<TomlValue> said = ParseToml(text, file.string());
  if (!said.ok()) return said.error();
  if (TomlValue* run = said->Find("run"); run != nullptr) {
    const TomlValue* resume = run->Find("resume");
    if (resume != nullptr && resume->scalar.is_string() && resume->scalar != Json("auto") &&
        resume->scalar != Json("never")) {
      *begun_at = resume->scalar.AsString();
    }
  }
  // A place to begin at that is gone is no reason not to look at the rest.
  HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(file));
  recipe.Override("run.resume=auto");
  return ReadTrainingRecipe(&recipe);
}

Result<void> ReadStore(StoredRun* run) {
  const std::filesystem::path file = run->folder / "store.sqlite";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  HONE_ASSIGN_OR_RETURN(run->store, RunStore::OpenForReading(file));
  for (int64_t next = 0;;) {
    HONE_ASSIGN_OR_RETURN(const std::vector<RunStore::TreeSummary> page,
                          run->store->ListTrees(next, kTreesPerQuery));
    for (const RunStore::TreeSummary& one : page) run->groups[one.step].push_back(one);
    if (static_cast<int64_t>(page.size()) < kTreesPerQuery) break;
    next = page.back().id + 1;
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, run->store->MetricNames());
  for (const std::string& name : names) {
    HONE_ASSIGN_OR_RETURN(const auto values, run->store->ReadMetric(name));
    for (const auto& [step, value] : values) run->values[step][name] = value;
  }
  return {};
}

Result<void> ReadEnd(StoredRun* run) {
  if (!run->checkpoints.empty()) {
    HONE_ASSIGN_OR_RETURN(const TrainingState state,
                          ReadTrainingState(CheckpointIn(run->folder, run->checkpoints.back())));
    run->start = state.start;
  }
  std::error_code ignored;
  const std::filesystem::path file = run->folder / "result.json";
  if (!std::filesystem::exists(file, ignored)) return {};
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const Result<Json> result = ParseJson(text);
  if (!result.ok()) return result.error().In(file.string());
  if (const Json* weights = result->Find("weights"); weights != nullptr && weights->is_string()) {
    run->weights = weights->AsString();
  }
  return {};
}

// The folder that relative paths of the recipe were meant from; empty: it cannot be told.
std::filesystem::path BegunFrom(const StoredRun& run) {
  const std::filesystem::path said = run.recipe.Folder().lexically_normal();
  if (said.is_absolute()) return {};
  const std::filesystem::path is = std::filesystem::absolute(run.folder).lexically_normal();
  std::filesystem::path root = is;
  const auto parts = std::distance(said.begin(), said.end());
  for (auto i = parts; i > 0; --i) root = root.parent_path();
  return (root / said).lexically_normal() == is ? root : std::filesystem::path();
}

}  // namespace

std::filesystem::path StoredRun::CacheFolder() const {
  const std::filesystem::path said = recipe.run.cache;
  std::error_code ignored;
  if (said.is_absolute() || std::filesystem::is_directory(said, ignored)) return said;
  const std::filesystem::path root = BegunFrom(*this);
  return root.empty() ? said : root / said;
}

Result<std::unique_ptr<StoredRun>> OpenStoredRun(const std::filesystem::path& folder) {
  auto run = std::make_unique<StoredRun>();
  run->folder = (folder / "").lexically_normal().parent_path();
  HONE_ASSIGN_OR_RETURN(run->recipe, ReadOwnRecipe(run->folder, &run->begun_at));
  run->checkpoints = CheckpointsIn(run->folder);
  HONE_RETURN_IF_ERROR(ReadStore(run.get()));
  HONE_RETURN_IF_ERROR(ReadEnd(run.get()));
  if (!run->values.empty()) run->steps = run->values.rbegin()->first + 1;
  if (!run->checkpoints.empty()) run->steps = std::max(run->steps, run->checkpoints.back());
  run->derivable = run->steps;
  if (run->recipe.policy.on) {
    run->derivable = std::min(run->steps, run->recipe.StepsBeforePractice());
  }
  return run;
}

}  // namespace hone
