#include "app/env_recipe.h"

#include <fmt/format.h>

#include "train/training_recipe.h"

namespace hone {
namespace {

Result<Recipe> LoadRecipe(const EnvironmentChoice& choice) {
  if (choice.name.ends_with(".toml")) return Recipe::Load(choice.name);
  const Result<LoadedEnvironment> known = NewBuiltIn(choice.name);
  if (!known.ok()) return known.error();
  return Recipe::Parse(fmt::format("[environment]\nkind = \"{}\"\n", choice.name), choice.name);
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
  EnvironmentRecipe read{ReadEnvironment(recipe.Root()), ReadTools(recipe.Root()),
                         ReadBackend(recipe.Root())};
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
  AnsweredRun run{.name = std::move(name), .timeline = NewRealTimeline()};
  HONE_ASSIGN_OR_RETURN(BackendParts backend,
                        MakeBackendParts(opened.backend, run.name, seed,
                                         opened.loaded.environment->tools(), run.timeline.get()));
  run.simulated = backend.simulated;
  run.executor = std::make_unique<Executor>(std::move(backend.options), run.timeline.get());
  return run;
}

}  // namespace hone
