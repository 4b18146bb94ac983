#include "simulate/simulator_options.h"

namespace hone {
namespace {

void ReadPrompt(RecipeTable* table, PromptStyle* style) {
  std::string prompt = *style == PromptStyle::kBrief ? "brief" : "full";
  table->ReadChoice("prompt", &prompt, {"full", "brief"},
                    "brief: no instructions and no schemas, for models that were taught to play");
  *style = prompt == "brief" ? PromptStyle::kBrief : PromptStyle::kFull;
}

}  // namespace

SimulatorOptions ReadSimulatorOptions(RecipeTable table, SimulatorOptions settings) {
  table.ReadChoice("kind", &settings.kind, {"random", "endpoint", "model", "learned"},
                   "who plays the tools");
  table.Read("tries", &settings.check.tries, "at an answer that fits", AtLeast(1));
  table.Read("repair", &settings.check.repair, "put right what contradicts what was written");
  if (settings.shows_record()) {
    table.Read("temperature", &settings.model_player.temperature, "", AtLeast(0));
    table.Read("max_tokens", &settings.model_player.max_tokens, "of an answer", AtLeast(1));
    table.Read("examples", &settings.model_player.examples, "recorded calls that are shown",
               AtLeast(0));
    ReadPrompt(&table, &settings.model_player.prompt);
    ReadModelOptions(&table, settings.kind, &settings.model);
  } else if (settings.kind == "learned") {
    table.ReadPath("folder", &settings.folder, "of the learned model", PathUse::kPlace);
    if (settings.folder.empty()) table.Problem("folder", "a model needs its folder");
    table.Read("temperature", &settings.learned_player.temperature, "", AtLeast(0));
    table.Read("min_p", &settings.learned_player.min_p,
               "never draw what is less likely than this share of the likeliest", Between(0, 0.99));
    table.Read("max_tokens", &settings.learned_player.max_tokens, "of an answer", AtLeast(1));
    table.Read("effects", &settings.learned_player.effects,
               "work out what writes do to reads; false: the decoder alone");
  }
  return settings;
}

LearnedOptions ReadLearnedOptions(RecipeTable table, LearnedOptions options) {
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
  table.Read("status_weight", &options.status_weight,
             "how much a refusal counts against another token", Above(0));
  table.Read("seed", &seed, "of weights and order", AtLeast(0));
  options.seed = static_cast<uint64_t>(seed);
  return options;
}

TeachingOptions ReadTeachingOptions(RecipeTable table) {
  TeachingOptions options;
  options.model = ReadLearnedOptions(table, options.model);
  table.Read("examples", &options.examples, "recorded calls that a prompt shows", AtLeast(0));
  table.Read("dialect", &options.dialect, "in which it is asked and answers");
  ReadPrompt(&table, &options.prompt);
  return options;
}

Result<std::shared_ptr<Player>> NewPlayer(const SimulatorOptions& settings,
                                          std::shared_ptr<const JournaledCalls> recorded) {
  if (settings.kind == "random") return std::shared_ptr<Player>(NewRandomPlayer());
  if (settings.kind == "learned") {
    HONE_ASSIGN_OR_RETURN(LearnedModel model, LearnedModel::Load(settings.folder));
    return std::shared_ptr<Player>(NewLearnedPlayer(std::move(model), settings.learned_player));
  }
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<LanguageModel> model,
                        OpenModel(settings.model, settings.kind));
  return std::shared_ptr<Player>(
      NewModelPlayer(std::move(model), std::move(recorded), settings.model_player));
}

}  // namespace hone
