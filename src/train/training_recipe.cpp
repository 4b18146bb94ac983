#include "train/training_recipe.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/nearest.h"
#include "credit/methods.h"
#include "credit/short_form.h"
#include "record/reward_terms.h"
#include "rewards/reward_recipe.h"
#include "rollout/policy.h"
#include "train/folder/run_folder.h"
#include "train/objective_checks.h"
#include "train/recipe_checks.h"

namespace hone {
namespace {

RunOptions ReadRun(RecipeTable table) {
  RunOptions run;
  table.Read("name", &run.name, "of the run's folder");
  if (run.name.empty() || run.name.find('/') != std::string::npos || run.name.starts_with('.')) {
    table.Problem("name", "must be a name, not a path");
  }
  int64_t seed = static_cast<int64_t>(run.seed);
  table.Read("seed", &seed, "of everything random", AtLeast(0));
  run.seed = static_cast<uint64_t>(seed);
  table.Read("threads", &run.threads, "0: as many as the machine has", Between(0, 1024));
  table.Read("out", &run.out, "folder of runs");
  table.Read("cache", &run.cache, "stage outputs that recipes share; empty: out/cache");
  if (run.cache.empty()) run.cache = (std::filesystem::path(run.out) / "cache").string();
  table.Read("resume", &run.resume, "auto, never, or the folder of a checkpoint");
  if (run.resume != "auto" && run.resume != "never" && !std::filesystem::is_directory(run.resume)) {
    table.Problem("resume", fmt::format("\"{}\" is neither auto, never, nor a folder", run.resume));
  } else if (run.resume != "auto" && run.resume != "never") {
    const Result<TrainingState> state = ReadTrainingState(run.resume);
    if (!state.ok()) {
      table.Problem("resume", fmt::format("{} is not a checkpoint of a run: {}", run.resume,
                                          state.error().message()));
    }
  }
  table.Read("save_every", &run.save_every, "steps of rl between checkpoints", AtLeast(1));
  table.Read("sft_save_every", &run.sft_save_every, "steps of sft between checkpoints", AtLeast(1));
  table.Read("keep", &run.keep, "checkpoints, beside the best one", AtLeast(1));
  table.Read("store_groups", &run.store_groups, "trees per step that are stored; -1: all",
             AtLeast(-1));
  table.Read("log_every", &run.log_every, "steps of sft between entries of the log", AtLeast(1));
  table.Read("patience", &run.patience,
             "seconds that several processes wait for each other; 0: for ever", AtLeast(0));
  return run;
}

ModelConfig ReadFresh(RecipeTable table) {
  ModelConfig config;
  std::string family = "qwen3";
  table.ReadChoice("family", &family, {"qwen3", "llama"}, "whose software loads it");
  config.family = family == "qwen3" ? ModelConfig::Family::kQwen3 : ModelConfig::Family::kLlama;
  config.qk_norm = config.family == ModelConfig::Family::kQwen3;
  table.Read("layers", &config.layers, "", Between(1, 1000));
  table.Read("width", &config.width, "of the residual stream", Between(8, 65536));
  table.Read("heads", &config.heads, "", Between(1, 1024));
  config.kv_heads = config.heads;
  table.Read("kv_heads", &config.kv_heads, "divides heads", Between(1, 1024));
  config.ffn = 3 * config.width;
  table.Read("hidden", &config.ffn, "of the feed-forward layers", Between(1, 1 << 20));
  config.max_positions = 256;
  table.Read("positions", &config.max_positions, "tokens of context", Between(16, 1 << 20));
  config.head_dim = config.width / config.heads;
  if (config.width % config.heads != 0 || config.head_dim % 2 != 0) {
    table.Problem("width", fmt::format("{} does not fit {} heads: their quotient must be even",
                                       config.width, config.heads));
  }
  if (config.heads % config.kv_heads != 0) {
    table.Problem("kv_heads",
                  fmt::format("{} does not divide {} heads", config.kv_heads, config.heads));
  }
  return config;
}

// The keys of a table that say where something computes, and nothing of what.
std::vector<std::string> PlacesIn(std::string_view table) {
  if (table == "model" || table == "simulator" || table == "user") return {"device"};
  if (table == "policy") {
    return {"url", "model", "key_variable", "concurrent", "deadline", "retries", "push_folder"};
  }
  return {};
}

// What a recipe says, but for where models compute: a run that began on one machine goes on at
// another.
Json WithoutPlaces(const Json& said) {
  Json rest = Json::Object();
  for (const auto& [name, table] : said.AsObject()) {
    const std::vector<std::string> places = PlacesIn(name);
    const auto says = [&](const std::string& key) { return table.Find(key) != nullptr; };
    if (!table.is_object() || std::none_of(places.begin(), places.end(), says)) {
      rest.Set(name, table);
      continue;
    }
    Json others = Json::Object();
    for (const auto& [key, value] : table.AsObject()) {
      if (std::find(places.begin(), places.end(), key) == places.end()) others.Set(key, value);
    }
    if (!others.AsObject().empty()) rest.Set(name, std::move(others));
  }
  return rest;
}

// `check`: whether the model has to be there.
PolicyModelOptions ReadModel(RecipeTable table, bool check) {
  PolicyModelOptions model;
  table.ReadPath("folder", &model.folder, "a Hugging Face folder; empty: a fresh model",
                 PathUse::kPlace);
  table.Read("dialect", &model.dialect, "how calls are spelled");
  if (constexpr std::string_view kTagged = "tagged:";
      model.dialect.starts_with(kTagged) && model.dialect.ends_with(".toml")) {
    model.dialect =
        fmt::format("{}{}", kTagged,
                    table.PathAt("dialect", model.dialect.substr(kTagged.size()), PathUse::kInput));
  }
  std::string precision = "bf16";
  table.ReadChoice("precision", &precision, {"bf16", "f32"}, "of products");
  model.precision = precision == "bf16" ? Precision::kBf16 : Precision::kF32;
  std::string device(DeviceKindName(model.device));
  table.ReadChoice("device", &device, {"auto", "cpu", "cuda"},
                   "where it computes; auto: on the GPU where there is one");
  if (const Result<DeviceKind> kind = ParseDeviceKind(device); kind.ok()) model.device = *kind;
  table.Read("recompute_activations", &model.recompute_activations, "less memory, more time");
  std::string moments = "f32";
  table.ReadChoice("moments", &moments, {"f32", "8bit"},
                   "AdamW's; 8bit: a byte each, less memory, on a GPU only");
  model.small_moments = moments == "8bit";
  if (model.folder.empty()) {
    model.fresh = ReadFresh(table.Table("fresh"));
    RecipeTable tokenizer = table.Table("tokenizer");
    tokenizer.Read("vocabulary", &model.vocabulary, "bytes and merges, at most",
                   Between(256, 1 << 20));
    tokenizer.Read("texts", &model.texts, "demonstrations that it is trained on", AtLeast(1));
    tokenizer.Read("min_frequency", &model.min_frequency, "a pair seen less often is not merged",
                   AtLeast(1));
  }
  if (std::optional<RecipeTable> lora = table.OptionalTable("lora")) {
    LoraOptions options;
    lora->Read("rank", &options.rank, "of the adapters", AtLeast(1));
    lora->Read("alpha", &options.alpha, "their output is multiplied by alpha / rank", Above(0));
    lora->Read("targets", &options.targets, "names of projections, or all");
    model.lora = options;
  }
  if (!model.folder.empty()) {
    for (const char* key : {"fresh", "tokenizer"}) {
      if (!table.Has(key)) continue;
      table.PassOver(key);
      table.Problem(key,
                    "is of a fresh model, and model.folder names one that is there; to use that "
                    "one write model={folder=..., dialect=...}");
    }
  }
  if (check) CheckModel(model, &table);
  return model;
}

// A run of its own has its journal in its folder, and its simulator from a stage if it has one.
BackendOptions ReadAnswers(const TrainingRecipe& recipe, RecipeTable* root) {
  BackendOptions defaults{.journal = (recipe.Folder() / "journal.sqlite").string()};
  if (recipe.LearnsSimulator()) {
    defaults.simulator.emplace();
    defaults.simulator->kind = "learned";
    defaults.simulator->folder = "made by a stage";
  }
  BackendOptions backend = ReadBackend(*root, std::move(defaults));
  RecipeTable table = root->Table("answers");
  for (const std::string& file :
       {backend.mode == ToolMode::kReplay && !recipe.JournalsItself() ? backend.journal : "",
        backend.recorded}) {
    if (!file.empty() && !std::filesystem::exists(file)) {
      table.Problem(file == backend.recorded ? "recorded" : "journal",
                    fmt::format("there is no journal \"{}\"", file));
    }
  }
  return backend;
}

RunEvaluationOptions ReadEvaluation(RecipeTable table) {
  RunEvaluationOptions settings;
  table.Read("every", &settings.every, "steps of rl between evaluations on dev; 0: none",
             AtLeast(0));
  table.Read("dev_tasks", &settings.dev_tasks, "", AtLeast(1));
  table.Read("test_tasks", &settings.test_tasks, "before and after; 0: none", AtLeast(0));
  table.Read("temperature", &settings.temperature, "beside greedy", Between(1e-4, 100));
  table.Read("without_tools", &settings.without_tools,
             "test once more with the tools taken away, before and after");
  table.Read("more", &settings.more, "further splits to be measured at the end");
  for (const std::string& split : settings.more) {
    if (const auto known = SplitFromName(split); !known.ok()) {
      table.Problem("more", known.error().message());
    }
  }
  table.Read("more_tasks", &settings.more_tasks, "of each of them", AtLeast(1));
  int64_t seed = 0;
  table.Read("seed", &seed, "of evaluations: the same for runs that are compared", AtLeast(0));
  settings.seed = static_cast<uint64_t>(seed);
  return settings;
}

// `known_method`: whether the method can be asked what it needs.
void ReadStages(std::span<const StageKind> kinds, bool known_method, RecipeTable* root,
                TrainingRecipe* read) {
  std::vector<RecipeTable> stages = root->Tables("stage");
  if (stages.empty()) root->Problem("stage", "there is nothing to do: write a [[stage]]");
  for (RecipeTable& stage : stages) {
    std::shared_ptr<const Stage> one = ReadStage(stage, read->environment, kinds);
    if (one == nullptr) continue;  // the recipe has a problem
    if (read->environment.kind == kNoEnvironment && one->kind() != "sft" &&
        one->kind() != "preference") {
      stage.Problem("kind", fmt::format("there is nowhere for a stage {} to act: write an "
                                        "[environment] (docs/environments.md)",
                                        one->kind()));
    }
    if (!read->environment.members.empty() && !one->traits().trains_policy()) {
      stage.Problem("kind", fmt::format("a stage {} works with one environment, and there are {}; "
                                        "train with the tools themselves (answers.mode = \"live\")",
                                        one->kind(), read->environment.members.size()));
    }
    if (known_method) one->Check(*read, &stage);
    read->stages.push_back(std::move(one));
  }
}

}  // namespace

int64_t RunEvaluationOptions::TasksOf(Split split) const {
  if (split == Split::kDev) return dev_tasks;
  const bool more_of = split == Split::kUnseenKinds || split == Split::kUnseenPhrases;
  const int64_t tasks = more_of ? more_tasks : test_tasks;
  return tasks > 0 ? tasks : RunEvaluationOptions().test_tasks;
}

std::filesystem::path TrainingRecipe::Folder() const {
  return std::filesystem::path(run.out) / run.name;
}

Result<Method> TrainingRecipe::MethodAt(int64_t step) const {
  HONE_ASSIGN_OR_RETURN(Method then, NewMethodAt(credit, step));
  if (mask_truncated) then.filters.mask_truncated = true;
  return then;
}

bool TrainingRecipe::Makes(StageProduct product) const {
  return std::any_of(stages.begin(), stages.end(),
                     [&](const auto& stage) { return stage->traits().product == product; });
}

int64_t TrainingRecipe::StepsBeforePractice() const {
  int64_t steps = 0;
  for (const auto& stage : stages) {
    if (stage->traits().practice) break;
    if (stage->traits().trains_policy()) steps += stage->size().steps;
  }
  return steps;
}

void PassOverTraining(RecipeTable root) {
  for (const char* table :
       {"run", "model", "rewards", "credit", "objective", "policy", "rollout", "curriculum",
        "dynamic_sampling", "replay", "alarms", "stage", "evaluation"}) {
    root.PassOver(table);
  }
}

Result<PolicyModelOptions> ReadTrainedModel(const std::filesystem::path& run) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(run / "recipe.toml"));
  return ReadModel(recipe.Root().Table("model"), /*check=*/false);
}

Result<Json> ReadTrainedRewards(const std::filesystem::path& run) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(run / "recipe.toml"));
  return ToJson(ReadRewards(recipe.Root().Table("rewards")));
}

Result<MeasuringParts> ReadMeasuring(const std::filesystem::path& file,
                                     const std::vector<std::string>& overrides) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(file));
  for (const std::string& assignment : overrides) recipe.Override(assignment);
  RecipeTable root = recipe.Root();
  MeasuringParts read;
  read.evaluation = ReadEvaluation(root.Table("evaluation"));
  read.rewards = ToJson(ReadRewards(root.Table("rewards")));
  for (const char* table :
       {"environment", "tools", "answers", "simulator", "user", "faults", "conditions", "redact"}) {
    root.PassOver(table);
  }
  for (const char* table : {"run", "model", "credit", "objective", "policy", "rollout",
                            "curriculum", "dynamic_sampling", "replay", "alarms", "stage"}) {
    root.PassOver(table);
  }
  HONE_RETURN_IF_ERROR(recipe.Finish());
  return read;
}

Result<TrainingRecipe> ReadTrainedRecipe(const std::filesystem::path& run,
                                         const std::vector<std::string>& overrides) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(run / "recipe.toml"));
  for (const std::string& assignment : overrides) recipe.Override(assignment);
  RecipeTable root = recipe.Root();
  if (!root.Has("stage")) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{} has no [[stage]]", (run / "recipe.toml").string()));
  }
  recipe.Override("run.resume=auto");  // where a run began may be gone
  TrainingRecipe read;
  read.run = ReadRun(root.Table("run"));
  read.model = ReadModel(root.Table("model"), /*check=*/false);
  read.environment = ReadEnvironment(root);
  read.tools = ReadTools(root);
  read.rollout = ReadPractice(root.Table("rollout"), true);
  read.answers = ReadBackend(root, {});
  read.evaluation = ReadEvaluation(root.Table("evaluation"));
  for (const char* table : {"rewards", "credit", "objective", "policy", "curriculum",
                            "dynamic_sampling", "replay", "alarms", "stage"}) {
    root.PassOver(table);
  }
  HONE_RETURN_IF_ERROR(recipe.Finish());
  return read;
}

Result<TrainingRecipe> ReadTrainingRecipe(Recipe* recipe, std::span<const StageKind> kinds,
                                          RecipeUse use) {
  RecipeTable root = recipe->Root();
  TrainingRecipe read;
  read.run = ReadRun(root.Table("run"));
  read.model = ReadModel(root.Table("model"), use == RecipeUse::kToTrain);
  read.environment = ReadEnvironment(root);
  read.tools = ReadTools(root);
  for (const auto& [split, file] : read.environment.files) {
    if (!std::filesystem::exists(file)) {
      root.Problem("environment", fmt::format("the task file {} is not there", file));
    }
  }
  read.rewards = ToJson(ReadRewards(root.Table("rewards")));
  read.reward_scale = ReadRewardScale(root.Table("rewards").Table("normalise"));
  RecipeTable credit = root.Table("credit");
  credit.Read("method", &read.credit, "of credit assignment, with settings behind a colon");
  credit.Read("mask_truncated", &read.mask_truncated,
              "trajectories that a limit of tokens cut off leave the loss, with any method");
  bool known_method = false;
  if (Result<Method> method = read.MethodAt(0); method.ok()) {
    read.method = *std::move(method);
    known_method = true;
  } else {
    credit.Problem("method", method.error().message());
  }
  read.objective = ReadObjective(root.Table("objective"));
  read.policy = ReadRemoteOptions(root.Table("policy"));
  read.rollout = ReadPractice(root.Table("rollout"), true);
  read.curriculum = ReadCurriculum(root.Table("curriculum"));
  read.dynamic_sampling = ReadDynamicSampling(root.Table("dynamic_sampling"));
  read.replay = ReadSelfImitation(root.Table("replay"));
  // Of a method that is not about outcomes, what it is about.
  if (known_method && !read.method.reads.Has(kOutcomeTerm)) read.replay.outcome = read.method.reads;
  read.alarms = ReadAlarms(root.Table("alarms"));
  read.alarms.has_reference = read.objective.NeedsReference();
  ReadStages(kinds, known_method, &root, &read);
  if (known_method) {
    CheckCredit(read, &root);
    CheckObjective(read, &root);
  }
  CheckTerms(read, &root);
  read.answers = ReadAnswers(read, &root);
  CheckAnswers(read, &root);
  CheckRules(read, &root);
  CheckRemote(read, &root);
  read.evaluation = ReadEvaluation(root.Table("evaluation"));
  HONE_RETURN_IF_ERROR(recipe->Finish());
  read.paths = recipe->Paths();
  read.resolved_text = recipe->Resolved();
  read.resolved = recipe->Values();
  read.said = WithoutPlaces(recipe->Said());
  return read;
}

}  // namespace hone
