#include "learn/workshop.h"

namespace hone {
namespace {

// Whoever shows how to do it in the recipe's first stage that shows anything; the tokenizer learns
// from the same.
DemonstratorSettings FirstDemonstrator(const TrainingRecipe& recipe) {
  for (const StageSettings& stage : recipe.stages) {
    if (const auto* sft = std::get_if<SftStage>(&stage)) return sft->demonstrator;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Workshop>> Workshop::Open(const TrainingRecipe& recipe,
                                                 const std::filesystem::path& folder,
                                                 const std::filesystem::path& tokenizer,
                                                 PassTimes* times) {
  auto workshop = std::make_unique<Workshop>();
  workshop->recipe = &recipe;
  workshop->folder = folder;
  workshop->times = times;
  // Evaluation asks the tools in earnest, whoever answers in training.
  AnsweringPlan in_earnest = recipe.answers;
  in_earnest.mode = ToolMode::kLive;
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<const Toolbox> tools, MakeTools(in_earnest, recipe.tools));
  HONE_ASSIGN_OR_RETURN(workshop->environment, recipe.environment.make(std::move(tools)));
  HONE_ASSIGN_OR_RETURN(
      workshop->real,
      World::Real(recipe, workshop->environment,
                  HasToolsInProcess(recipe) ? std::filesystem::path() : folder / "real.sqlite"));
  if (!tokenizer.empty()) {
    HONE_ASSIGN_OR_RETURN(Tokenizer loaded, Tokenizer::Load(tokenizer));
    HONE_ASSIGN_OR_RETURN(workshop->language, LanguageOf(recipe.model, std::move(loaded)));
  } else {
    Demonstrator demonstrator(FirstDemonstrator(recipe), &workshop->environment,
                              workshop->real->executor(), recipe.run.seed);
    HONE_ASSIGN_OR_RETURN(workshop->language, MakeLanguage(recipe.model, &demonstrator));
  }
  int64_t vocabulary = workshop->language.tokenizer->vocab_size();
  if (!recipe.model.folder.empty()) {
    HONE_ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(recipe.model.folder));
    vocabulary = config.vocab;
  }
  workshop->engine_options = EngineOptions(recipe, workshop->language, vocabulary);
  return workshop;
}

Result<Policy> Workshop::PolicyAt(double temperature, int64_t version) const {
  PolicyOptions options = recipe->rollout.policy;
  options.version = version;
  options.sampling.temperature = static_cast<float>(temperature);
  return Policy::New(engine.get(), language.dialect.get(), language.tokenizer.get(), options);
}

Result<Evaluation> Workshop::Evaluate(Split split, int64_t tasks, double temperature) const {
  HONE_ASSIGN_OR_RETURN(const Policy policy, PolicyAt(temperature, 0));
  // The journal of real tools that are not part of this program tells evaluations apart by weights.
  const std::string run = HasToolsInProcess(*recipe)
                              ? "evaluation"
                              : "evaluation-" + engine->WeightsHash().substr(0, 16);
  return EvaluatePolicy(
      {.split = split, .tasks = tasks, .seed = recipe->evaluation.seed, .run = run}, environment,
      policy, real->executor());
}

}  // namespace hone
