#include "app/env_recipe.h"

#include <fmt/format.h>

#include "app/installed/shipped_files.h"
#include "train/training_recipe.h"

namespace hone {
namespace {

Result<Recipe> LoadRecipe(const EnvironmentChoice& choice) {
  if (choice.name.ends_with(".toml")) return LoadNamedRecipe(choice.name);
  const Result<LoadedEnvironment> known = NewBuiltIn(choice.name);
  if (!known.ok()) return known.error();
  return Recipe::Parse(fmt::format("[environment]\nkind = \"{}\"\n", choice.name), choice.name);
}

constexpr char kMadeByAStage[] = "made by a stage of hone train";

// Where a stage makes the simulator there is none yet, and most commands want none.
Result<BackendOptions> BackendOfRun(const EnvironmentChoice& choice) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, LoadRecipe(choice));
  for (const std::string& assignment : choice.overrides) recipe.Override(assignment);
  BackendOptions defaults;
  for (RecipeTable stage : recipe.Root().Tables("stage")) {
    std::string kind;
    stage.Read("kind", &kind, "");
    if (kind != "simulator") continue;
    defaults.simulator = SimulatorOptions{.kind = "learned", .folder = kMadeByAStage};
  }
  return defaults;
}

bool LacksSimulator(const BackendOptions& backend) {
  const bool simulates =
      backend.mode == ToolMode::kSimulate || backend.mode == ToolMode::kReplayElseSimulate;
  return simulates && backend.simulator && backend.simulator->folder == kMadeByAStage;
}

}  // namespace

std::string NamedEnvironments() {
  return EnvironmentsWith(&KindTraits::in_process) + ", or a recipe (.toml)";
}

Result<EnvironmentRecipe> ReadEnvironmentRecipe(const EnvironmentChoice& choice) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, LoadRecipe(choice));
  for (const std::string& assignment : choice.overrides) recipe.Override(assignment);
  if (!choice.mode.empty()) recipe.Override("answers.mode=" + choice.mode);
  if (!choice.journal.empty()) recipe.Override("answers.journal=" + choice.journal);
  PassOverTraining(recipe.Root());
  HONE_ASSIGN_OR_RETURN(BackendOptions defaults, BackendOfRun(choice));
  EnvironmentRecipe read{ReadEnvironment(recipe.Root()), ReadTools(recipe.Root()),
                         ReadBackend(recipe.Root(), std::move(defaults))};
  HONE_RETURN_IF_ERROR(recipe.Finish());
  return read;
}

Result<OpenedEnvironment> OpenEnvironment(const EnvironmentChoice& choice) {
  HONE_ASSIGN_OR_RETURN(EnvironmentRecipe read, ReadEnvironmentRecipe(choice));
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<const Toolbox> tools,
                        MakeTools(read.backend, std::move(read.tools)));
  HONE_ASSIGN_OR_RETURN(LoadedEnvironment loaded, read.environment.make(std::move(tools)));
  return OpenedEnvironment{std::move(loaded), std::move(read.backend)};
}

Result<AnsweredRun> BeginRun(const OpenedEnvironment& opened, std::string name, uint64_t seed) {
  if (LacksSimulator(opened.backend)) {
    return Error(ErrorCode::kInvalidArgument,
                 "a stage of hone train makes this recipe's simulator; ask the real tools (--mode "
                 "live), or name a simulator that is there (--set simulator.folder=FOLDER)");
  }
  AnsweredRun run{.name = std::move(name), .timeline = NewRealTimeline()};
  HONE_ASSIGN_OR_RETURN(BackendParts backend,
                        MakeBackendParts(opened.backend, run.name, seed,
                                         opened.loaded.environment->tools(), run.timeline.get()));
  run.simulated = backend.simulated;
  run.executor = std::make_unique<Executor>(std::move(backend.options), run.timeline.get());
  return run;
}

Result<std::map<std::string, TaskKeys>> TaskKeysOf(const EnvironmentChoice& choice) {
  std::map<std::string, TaskKeys> keys;
  if (!choice.name.ends_with(".toml")) return keys;
  HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(choice.name));
  for (const std::string& assignment : choice.overrides) recipe.Override(assignment);
  RecipeTable root = recipe.Root();
  std::vector<RecipeTable> tables;
  if (root.HasList("environment")) {
    tables = root.Tables("environment");
  } else {
    tables.push_back(root.Table("environment"));
  }
  for (RecipeTable& table : tables) {
    const TaskKeys own = ReadTaskKeys(table.Table("keys"));
    for (const auto& [split, file] : ReadSplitFiles(&table)) keys.emplace(file, own);
  }
  return keys;
}

}  // namespace hone
