#include "simulate/settings.h"

#include <fmt/format.h>

namespace hone {
namespace {

using std::chrono::milliseconds;

void ReadMilliseconds(RecipeTable* table, const char* key, milliseconds* value,
                      std::string_view comment) {
  int64_t count = value->count();
  table->Read(key, &count, comment, AtLeast(1));
  *value = milliseconds(count);
}

void ReadLanguageModel(RecipeTable* table, LanguageModelOptions* options) {
  ReadMilliseconds(table, "deadline_ms", &options->limits.deadline,
                   "of a completion, retries included");
  ReadMilliseconds(table, "attempt_ms", &options->limits.attempt, "of one attempt at it");
  ReadMilliseconds(table, "backoff_ms", &options->limits.backoff, "before the first retry");
  table->Read("retries", &options->limits.retries, "after the first attempt", AtLeast(0));
  table->Read("concurrent", &options->limits.concurrent, "completions at a time", AtLeast(1));
  table->Read("per_second", &options->limits.per_second,
              "completions begun per second; 0: no limit", AtLeast(0));
  table->Read("prompt_price", &options->prompt_price, "per million tokens", AtLeast(0));
  table->Read("completion_price", &options->completion_price, "per million tokens", AtLeast(0));
  table->Read("max_money", &options->max_money, "0: no limit", AtLeast(0));
  table->Read("max_total_tokens", &options->max_tokens, "of prompts and completions; 0: no limit",
              AtLeast(0));
  table->Read("offline", &options->offline, "only what the journal of completions has");
}

Result<std::shared_ptr<Player>> PlayerOfModel(const SimulatorSettings& settings,
                                              std::shared_ptr<Toolkit> toolkit, std::string name,
                                              std::shared_ptr<const RecordedCalls> recorded) {
  LanguageModelOptions options = settings.language_model;
  options.name = std::move(name);
  if (!settings.completions.empty()) {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Journal> journal, Journal::Open(settings.completions));
    options.journal = std::move(journal);
  }
  HONE_ASSIGN_OR_RETURN(
      std::unique_ptr<LanguageModel> model,
      NewLanguageModel(std::move(toolkit), std::move(options), NewRealTimeline()));
  return std::shared_ptr<Player>(
      NewModelPlayer(std::move(model), std::move(recorded), settings.model_player));
}

}  // namespace

SimulatorSettings ReadSimulatorSettings(RecipeTable table) {
  SimulatorSettings settings;
  table.ReadChoice("kind", &settings.kind, {"random", "endpoint", "model", "learned"},
                   "who plays the tools");
  table.Read("tries", &settings.check.tries, "at an answer that fits", AtLeast(1));
  table.Read("repair", &settings.check.repair, "put right what contradicts what was written");
  const bool asks_model = settings.kind == "endpoint" || settings.kind == "model";
  if (settings.kind == "endpoint") {
    table.Read("url", &settings.endpoint.url, "such as http://127.0.0.1:8000/v1");
    table.Read("model", &settings.endpoint.model, "as the endpoint calls it");
    table.Read("key_variable", &settings.endpoint.key_variable,
               "the environment variable that holds the key");
    if (settings.endpoint.url.empty()) table.Problem("url", "an endpoint needs a url");
  } else if (settings.kind != "random") {
    table.Read("folder", &settings.folder, "of the model");
    if (settings.folder.empty()) table.Problem("folder", "a model needs its folder");
  }
  if (settings.kind == "model") table.Read("dialect", &settings.dialect, "of the model");
  if (asks_model) {
    table.Read("completions", &settings.completions, "a journal for completions");
    table.Read("temperature", &settings.model_player.temperature, "", AtLeast(0));
    table.Read("max_tokens", &settings.model_player.max_tokens, "of an answer", AtLeast(1));
    table.Read("examples", &settings.model_player.examples, "recorded calls that are shown",
               AtLeast(0));
    ReadLanguageModel(&table, &settings.language_model);
    if (settings.language_model.offline && settings.completions.empty()) {
      table.Problem("offline", "needs completions, the journal to take them from");
    }
  } else if (settings.kind == "learned") {
    table.Read("temperature", &settings.learned_player.temperature, "", AtLeast(0));
    table.Read("min_p", &settings.learned_player.min_p,
               "never draw what is less likely than this share of the likeliest", Between(0, 0.99));
    table.Read("max_tokens", &settings.learned_player.max_tokens, "of an answer", AtLeast(1));
  }
  return settings;
}

LearnedOptions ReadLearnedOptions(RecipeTable table) {
  LearnedOptions options;
  int64_t seed = static_cast<int64_t>(options.seed);
  table.Read("layers", &options.layers, "", Between(1, 100));
  table.Read("width", &options.width, "of the residual stream", Between(2, 8192));
  table.Read("heads", &options.heads, "", Between(1, 256));
  table.Read("vocabulary", &options.vocabulary, "of the tokenizer, at most", Between(256, 1 << 20));
  table.Read("positions", &options.positions, "tokens of a call with its answer at most",
             Between(16, 1 << 20));
  table.Read("steps", &options.steps, "of the optimiser", AtLeast(1));
  table.Read("batch", &options.batch, "calls per step", AtLeast(1));
  table.Read("learning_rate", &options.learning_rate, "", Above(0));
  table.Read("warmup", &options.warmup, "steps", AtLeast(1));
  table.Read("weight_decay", &options.weight_decay, "", AtLeast(0));
  table.Read("seed", &seed, "of weights and order", AtLeast(0));
  options.seed = static_cast<uint64_t>(seed);
  return options;
}

Result<std::shared_ptr<Player>> NewPlayer(const SimulatorSettings& settings,
                                          std::shared_ptr<const RecordedCalls> recorded) {
  if (settings.kind == "random") return std::shared_ptr<Player>(NewRandomPlayer());
  if (settings.kind == "learned") {
    HONE_ASSIGN_OR_RETURN(LearnedModel model, LearnedModel::Load(settings.folder));
    return std::shared_ptr<Player>(NewLearnedPlayer(std::move(model), settings.learned_player));
  }
  if (settings.kind == "endpoint") {
    HONE_ASSIGN_OR_RETURN(std::shared_ptr<Toolkit> toolkit, NewEndpointToolkit(settings.endpoint));
    return PlayerOfModel(settings, std::move(toolkit),
                         fmt::format("{} at {}", settings.endpoint.model, settings.endpoint.url),
                         std::move(recorded));
  }
  HONE_ASSIGN_OR_RETURN(
      std::shared_ptr<Toolkit> toolkit,
      NewCheckpointToolkit({.folder = settings.folder, .dialect = settings.dialect}));
  HONE_ASSIGN_OR_RETURN(const Model model, LoadModel(settings.folder));
  const std::string weights = Engine(model, {.threads = 1}).WeightsHash();
  return PlayerOfModel(settings, std::move(toolkit), "checkpoint " + weights, std::move(recorded));
}

}  // namespace hone
