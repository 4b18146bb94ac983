#include "train/stage_context.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/hash.h"
#include "train/environment_digest.h"
#include "train/processes/crew.h"
#include "train/recipe_identity.h"

namespace hone {

DemonstratorOptions FirstDemonstrator(const TrainingRecipe& recipe) {
  for (const auto& stage : recipe.stages) {
    if (stage->demonstrator() != nullptr) return *stage->demonstrator();
  }
  return {};
}

const ConversationMixture* FirstConversations(const TrainingRecipe& recipe) {
  for (const auto& stage : recipe.stages) {
    if (stage->conversations() != nullptr) return stage->conversations();
  }
  return nullptr;
}

namespace {

// Whether there is anything that a fresh model's tokenizer could be made from.
Result<void> CanShow(Demonstrator* demonstrator, const LoadedEnvironment& environment) {
  if (demonstrator->tasks().value_or(1) == 0) {
    return Error(ErrorCode::kNotFound,
                 "there are no tasks to train on, from which a fresh model's tokenizer is made");
  }
  if (environment.teacher) return {};
  const auto agent = environment.gold_agent(environment.tasks->Make(Split::kTrain, 0));
  if (agent.ok()) return {};
  return Error(agent.error().code(),
               fmt::format("a fresh model's tokenizer is made from demonstrations, and {}; give "
                           "tasks a metadata.plan, let a stage sft imitate conversations (data = "
                           "[\"chats.jsonl\"]), or name a model (model.folder)",
                           agent.error().message()));
}

// Starts the programs and servers of others, which may take as long as they like.
Result<std::shared_ptr<const Toolbox>> StartTools(const BackendOptions& backend,
                                                  const TrainingRecipe& recipe,
                                                  const SetUpHooks& hooks, double* seconds) {
  const std::unique_ptr<Clock> clock = NewRealClock();
  const Clock::Duration begin = clock->Now();
  const auto count = static_cast<int64_t>(recipe.tools.size());
  if (hooks.progress && count > 0) hooks.progress("starting tools", 0, count);
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<const Toolbox> tools, MakeTools(backend, recipe.tools));
  if (hooks.progress && count > 0) hooks.progress("starting tools", count, count);
  *seconds = std::chrono::duration<double>(clock->Now() - begin).count();
  return tools;
}

// Tools that are part of this program as they are, all others by chance.
Result<std::unique_ptr<Backend>> Rehearsing(const TrainingRecipe& recipe,
                                            const LoadedEnvironment& environment) {
  if (HasToolsInProcess(recipe)) return Backend::Real(recipe, environment, "");
  TrainingRecipe by_chance = recipe;
  by_chance.answers.mode = ToolMode::kSimulate;
  by_chance.answers.simulator = SimulatorOptions{.kind = "random"};
  by_chance.answers.faults.clear();
  return Backend::ForTraining(by_chance, environment, "");
}

}  // namespace

Result<std::unique_ptr<StageContext>> StageContext::Open(const TrainingRecipe& recipe,
                                                         const std::filesystem::path& folder,
                                                         const std::filesystem::path& tokenizer,
                                                         PassTimes* times,
                                                         const StageContextOptions& options) {
  const bool rehearsal = options.rehearsal;
  auto context = std::make_unique<StageContext>();
  context->recipe = &recipe;
  context->folder = folder;
  context->times = times;
  context->note = options.hooks.note;
  context->stop = options.hooks.stop;
  context->progress = options.hooks.progress;
  // Evaluation asks the tools in earnest, whoever answers in training.
  BackendOptions in_earnest = recipe.answers;
  in_earnest.mode = rehearsal ? ToolMode::kSimulate : ToolMode::kLive;
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<const Toolbox> tools,
                        StartTools(in_earnest, recipe, options.hooks, &context->tools_seconds));
  HONE_ASSIGN_OR_RETURN(context->environment, recipe.environment.make(std::move(tools)));
  const std::filesystem::path journal = HasToolsInProcess(recipe) || folder.empty()
                                            ? std::filesystem::path()
                                            : folder / "real.sqlite";
  HONE_ASSIGN_OR_RETURN(context->real, Backend::Real(recipe, context->environment, journal));
  if (rehearsal) {
    HONE_ASSIGN_OR_RETURN(context->showing, Rehearsing(recipe, context->environment));
  } else if (!folder.empty()) {
    HONE_ASSIGN_OR_RETURN(context->showing,
                          Backend::ForDemonstrations(recipe, context->environment, journal));
  }
  if (!tokenizer.empty()) {
    HONE_ASSIGN_OR_RETURN(Tokenizer loaded, Tokenizer::Load(tokenizer));
    HONE_ASSIGN_OR_RETURN(context->language, LanguageOf(recipe.model, std::move(loaded)));
  } else {
    const ConversationMixture* conversations = FirstConversations(recipe);
    CHECK(context->showing != nullptr, "a tokenizer is made from demonstrations, which a run has");
    Demonstrator demonstrator(FirstDemonstrator(recipe), &context->environment,
                              context->showing->executor(), recipe.run.seed);
    if (recipe.model.folder.empty() && conversations == nullptr) {
      HONE_RETURN_IF_ERROR(CanShow(&demonstrator, context->environment));
    }
    HONE_ASSIGN_OR_RETURN(context->language,
                          conversations != nullptr
                              ? MakeLanguage(recipe.model, *conversations, options.hooks)
                              : MakeLanguage(recipe.model, &demonstrator, options.hooks));
  }
  int64_t vocabulary = context->language.tokenizer->vocab_size();
  if (!recipe.model.folder.empty()) {
    HONE_ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(recipe.model.folder));
    vocabulary = config.vocab;
  }
  context->engine_options = EngineOptions(recipe, context->language, vocabulary);
  return context;
}

LoadedEnvironment StageContext::EnvironmentOf(const EnvironmentMix& mix, int64_t stage) const {
  if (environment.members.empty()) return environment;
  constexpr int kTasksOfStage = 32;  // as a power of two
  return Remixed(environment, mix, static_cast<uint64_t>(stage) << kTasksOfStage);
}

bool StageContext::HasSeveralOnDev() const {
  return environment.members.size() > 1 && !environment.tasks->Measured(Split::kDev, 1).empty();
}

Result<std::unique_ptr<Curriculum>> StageContext::OpenCurriculum(const TaskSource& tasks) const {
  HONE_ASSIGN_OR_RETURN(
      std::unique_ptr<Curriculum> opened,
      NewCurriculum(recipe->curriculum, &tasks, Rng(recipe->run.seed).Split("curriculum")));
  if (!curriculum.is_null()) HONE_RETURN_IF_ERROR(opened->Restore(curriculum));
  return opened;
}

Result<Policy> StageContext::PolicyAt(double temperature, int64_t version) const {
  return PolicyOf(engine.get(), temperature, version);
}

Result<Policy> StageContext::PolicyOf(Engine* weights, double temperature, int64_t version) const {
  PolicyOptions options = recipe->rollout.policy;
  options.version = version;
  options.sampling.temperature = static_cast<float>(temperature);
  return Policy::New(weights, language.dialect.get(), language.tokenizer.get(), options);
}

Result<void> StageContext::MakeEngine() {
  HONE_ASSIGN_OR_RETURN(Model model,
                        MakeModel(recipe->model, *language.tokenizer, recipe->run.seed));
  engine = std::make_unique<Engine>(std::move(model), engine_options);
  ShareSteps();
  return crew == nullptr ? Result<void>() : crew->EngineWasMade(*engine);
}

Result<void> StageContext::LoadEngine(const std::filesystem::path& state) {
  HONE_ASSIGN_OR_RETURN(engine, Engine::Load(state, engine_options));
  ShareSteps();
  return crew == nullptr ? Result<void>() : crew->EngineWasLoaded(state, *engine);
}

Result<void> StageContext::FreshEngine(bool critic) {
  Model model = engine->model();
  if (critic) AddScalarHead(&model);
  engine = std::make_unique<Engine>(std::move(model), engine_options);
  ShareSteps();
  return crew == nullptr ? Result<void>() : crew->EngineIsFresh(critic, *engine);
}

void StageContext::ShareSteps() {
  if (cluster == nullptr || cluster->size() == 1) return;
  shared_step = std::make_unique<SharedStep>(cluster, engine->GradientSizes());
  if (crew != nullptr) shared_step->tell_others = [this] { crew->AskForMoments(); };
  engine->ShareSteps(&shared_step->share());
}

Result<Evaluation> StageContext::Evaluate(EvaluationOptions options, double temperature) const {
  HONE_ASSIGN_OR_RETURN(const Policy policy, PolicyAt(temperature, 0));
  // The journal of real tools that are not part of this program tells evaluations apart by weights,
  // temperature and split: each makes calls of its own.
  options.run = HasToolsInProcess(*recipe)
                    ? "evaluation"
                    : fmt::format("evaluation-{}-{}-{}", engine->WeightsHash().substr(0, 16),
                                  temperature, SplitName(options.split));
  if (options.without_tools) options.run += "-without-tools";
  if (crew != nullptr) {
    options.play = [&](std::span<const GroupRequest> requests) -> Result<RolloutResult> {
      const PlayOrder order{.practice = false,
                            .run = options.run,
                            .max_live = options.max_live,
                            .temperature = temperature,
                            .without_tools = options.without_tools};
      HONE_ASSIGN_OR_RETURN(Played played,
                            crew->Play(order, *this, nullptr, requests, options.progress));
      return std::move(played.result);
    };
  }
  return EvaluatePolicy(options, environment, policy, real->executor());
}

Result<Json> StageContext::InputsOf(size_t stage) {
  if (environment_is.empty()) {
    // Who asks somebody outside of this program is not asked for this.
    Executor* executor = HasToolsInProcess(*recipe) ? showing->executor() : nullptr;
    HONE_ASSIGN_OR_RETURN(environment_is, EnvironmentDigest(environment, executor));
  }
  Json inputs = StageInputs(*recipe, stage);
  inputs.Set("environment_is", environment_is);
  // It is made from the first conversations, which may be those of another stage.
  if (FirstConversations(*recipe) != nullptr) {
    inputs.Set("tokenizer", Sha256Hex(language.tokenizer->ToJson()));
  }
  if (recipe->stages[stage]->needs_policy()) {
    inputs.Set("model", SaidPart(*recipe, "model"));
    inputs.Set("before", engine->WeightsHash());
  }
  // What the policy plays is added to what was recorded before.
  if (recipe->stages[stage]->needs_policy() && !recipe->stages[stage]->traits().trains_policy()) {
    inputs.Set("rollout", SaidPart(*recipe, "rollout"));
    inputs.Set("curriculum", SaidPart(*recipe, "curriculum"));
    inputs.Set("earlier", simulator.filename().string());
  }
  return inputs;
}

std::function<void(int64_t, int64_t)> StageContext::ProgressOf(std::string part) const {
  if (!progress) return nullptr;
  return [told = progress, part = std::move(part)](int64_t done, int64_t all) {
    told(part, done, all);
  };
}

void StageContext::Provide(StageProduct product, const std::filesystem::path& made) {
  made_last = made;
  switch (product) {
    case StageProduct::kPolicy: return;  // the engine has it
    case StageProduct::kSimulator: simulator = made; return;
    case StageProduct::kJournal: recorded = made / kRecordedJournal; return;
  }
}

AgentCard StageContext::Card() const {
  const std::string& dialect = recipe->model.dialect;
  const TaskSource& tasks = *environment.tasks;
  const Environment& rules = *environment.environment;
  std::vector<std::string> known;
  for (const Toolbox::Tool& tool : rules.tools()->tools()) {
    if (!IsHidden(rules.traits(), tool.spec.name)) known.push_back(tool.spec.name);
  }
  constexpr uint64_t kLookedAtTasks = 8;
  std::optional<AgentCard> card;
  for (uint64_t i = 0;
       i < std::min(kLookedAtTasks, tasks.count(Split::kTrain).value_or(kLookedAtTasks)); ++i) {
    const auto episode = rules.Open(tasks.Make(Split::kTrain, i), 0);
    if (!episode.ok()) continue;
    const Opening& opening = (*episode)->opening();
    const AgentCard seen = AgentCardOf(dialect, opening.messages, opening.tools, known);
    if (!card) card = seen;
    if (seen.system != card->system) card->system.reset();  // every task has its own
  }
  if (card) return *card;
  card = AgentCard{.dialect = dialect, .tools = std::move(known)};
  if (const ConversationMixture* rows = FirstConversations(*recipe)) {
    const Conversation* first = nullptr;
    for (const auto& file : rows->files()) {
      for (const ConversationMixture::Placed& placed : file) {
        if (placed.row.conversation.messages.empty()) continue;  // plain text
        const Message& opening = placed.row.conversation.messages.front();
        std::optional<std::string> system;
        if (opening.role == Role::kSystem) system = opening.content;
        if (first == nullptr) card->system = system;
        if (first == nullptr) first = &placed.row.conversation;
        if (system != card->system) card->system.reset();  // every row has its own
      }
    }
    for (const Json& tool : first == nullptr ? Json::Array() : first->tools) {
      const Json* function = tool.Find("function");
      const Json* name = (function != nullptr ? *function : tool).Find("name");
      if (name != nullptr && name->is_string()) card->tools.push_back(name->AsString());
    }
  }
  return *card;
}

}  // namespace hone
