#include "app/evaluation_setup.h"

#include <fmt/format.h>

#include "app/env_recipe.h"
#include "app/installed/shipped_files.h"
#include "text/template_dialect.h"
#include "train/recipe_checks.h"

namespace hone {
namespace {

// What a whole recipe says; nothing for one that only describes an environment.
Result<std::optional<TrainingRecipe>> ReadWhole(const std::string& file,
                                                const std::vector<std::string>& overrides) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, LoadNamedRecipe(file));
  if (!recipe.Root().Has("stage")) return std::optional<TrainingRecipe>();
  for (const std::string& assignment : overrides) recipe.Override(assignment);
  recipe.Override("run.resume=auto");  // where a run began may be gone
  HONE_ASSIGN_OR_RETURN(TrainingRecipe read, ReadTrainingRecipe(&recipe));
  return std::optional<TrainingRecipe>(std::move(read));
}

Result<void> TakeEnvironment(const EvaluationChoice& choice, bool of_run, TrainingRecipe* recipe) {
  if (choice.environment.ends_with(".toml")) {
    HONE_ASSIGN_OR_RETURN(std::optional<TrainingRecipe> whole,
                          ReadWhole(choice.environment, choice.overrides));
    if (whole) {
      if (!of_run) {
        *recipe = std::move(*whole);
        return {};
      }
      recipe->environment = std::move(whole->environment);
      recipe->tools = std::move(whole->tools);
      recipe->answers = std::move(whole->answers);
      recipe->evaluation = whole->evaluation;
      return {};
    }
  }
  HONE_ASSIGN_OR_RETURN(EnvironmentRecipe read,
                        ReadEnvironmentRecipe({.name = choice.environment,
                                               .overrides = choice.overrides,
                                               .mode = "live",
                                               .journal = ""}));
  recipe->environment = std::move(read.environment);
  recipe->tools = std::move(read.tools);
  recipe->answers = std::move(read.backend);
  return {};
}

}  // namespace

Result<std::unique_ptr<EvaluationSetup>> OpenForEvaluation(const EvaluationChoice& choice) {
  auto setup = std::make_unique<EvaluationSetup>();
  HONE_ASSIGN_OR_RETURN(setup->place, FindModel(choice.model, choice.checkpoint));
  TrainingRecipe& recipe = setup->recipe;
  const bool of_run = !setup->place.run.empty();
  if (!of_run && choice.environment.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} is not of a run whose recipe says where it acts; name an "
                             "environment with --env: {}",
                             choice.model, NamedEnvironments()));
  }
  if (of_run) {
    const bool own = choice.environment.empty();
    HONE_ASSIGN_OR_RETURN(
        recipe,
        ReadTrainedRecipe(setup->place.run, own ? choice.overrides : std::vector<std::string>()));
  }
  if (!choice.environment.empty()) {
    HONE_RETURN_IF_ERROR(TakeEnvironment(choice, of_run, &recipe));
  }
  recipe.rollout.policy.sampling.forbidden_set = 1;  // as recipes have it
  recipe.model.dialect =
      DialectIn(recipe.model.dialect, TemplateFolder(setup->place, recipe.model.folder));
  recipe.model.folder = setup->place.folder.string();
  if (!choice.dialect.empty()) recipe.model.dialect = choice.dialect;
  if (choice.threads) recipe.run.threads = *choice.threads;
  if (choice.device) recipe.model.device = *choice.device;
  HONE_ASSIGN_OR_RETURN(setup->context,
                        StageContext::Open(recipe, {}, setup->place.folder, nullptr));
  setup->environment = setup->context->environment.environment->traits().name;
  const RunLanguage& language = setup->context->language;
  HONE_RETURN_IF_ERROR(
      CheckMarkers(*language.tokenizer, *language.dialect, setup->place.folder.string()));
  HONE_ASSIGN_OR_RETURN(setup->context->engine,
                        OpenModel(setup->place.folder, setup->context->engine_options));
  return setup;
}

}  // namespace hone
