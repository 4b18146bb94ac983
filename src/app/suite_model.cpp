#include "app/suite_model.h"

#include "text/template_dialect.h"
#include "train/recipe_checks.h"

namespace hone {

Result<Policy> SuiteModel::PolicyAt(double temperature) const {
  PolicyOptions options = policy;
  options.sampling.temperature = static_cast<float>(temperature);
  return Policy::New(engine.get(), language.dialect.get(), language.tokenizer.get(), options);
}

Result<std::unique_ptr<SuiteModel>> OpenSuiteModel(const EvaluationChoice& choice,
                                                   int64_t turn_tokens) {
  auto model = std::make_unique<SuiteModel>();
  HONE_ASSIGN_OR_RETURN(model->place, FindModel(choice.model, choice.checkpoint));
  TrainingRecipe recipe;
  if (!model->place.run.empty()) {
    HONE_ASSIGN_OR_RETURN(recipe.model, ReadTrainedModel(model->place.run));
  }
  const std::filesystem::path& folder = model->place.folder;
  recipe.model.dialect =
      DialectIn(recipe.model.dialect, TemplateFolder(model->place, recipe.model.folder));
  recipe.model.folder = folder.string();
  if (!choice.dialect.empty()) recipe.model.dialect = choice.dialect;
  if (choice.threads) recipe.run.threads = *choice.threads;
  if (choice.device) recipe.model.device = *choice.device;
  HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Load(folder));
  HONE_ASSIGN_OR_RETURN(model->language, LanguageOf(recipe.model, std::move(tokenizer)));
  HONE_RETURN_IF_ERROR(
      CheckMarkers(*model->language.tokenizer, *model->language.dialect, folder.string()));
  HONE_ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(folder));
  const Engine::Options options = EngineOptions(recipe, model->language, config.vocab);
  HONE_ASSIGN_OR_RETURN(model->engine, OpenModel(folder, options));
  model->policy.sampling.forbidden_set = 1;  // as recipes have it
  model->policy.max_turn_tokens = turn_tokens;
  return model;
}

}  // namespace hone
