#include "simulate/players/learned_model.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_fields.h"
#include "engine/learning_rate.h"
#include "simulate/players/call_text.h"

namespace hone {
namespace {

constexpr std::string_view kFormat = "hone-learned-simulator";
constexpr int64_t kFormatVersion = 1;

// A call and its answer as one sequence.
struct Example {
  Tree tree;
  size_t answer_begin = 0;
};

std::vector<Example> ExamplesOf(const JournaledCalls& recorded, const Tokenizer& tokenizer,
                                int64_t positions, TrainingReport* report) {
  std::vector<Example> examples;
  for (const RecordedCall& call : recorded.calls) {
    std::vector<TokenId> tokens =
        CallTokens(tokenizer, call.tool, call.arguments, call.writes, call.known);
    const size_t begin = tokens.size();
    const std::vector<TokenId> answer = AnswerTokens(tokenizer, call.answer);
    tokens.insert(tokens.end(), answer.begin(), answer.end());
    if (static_cast<int64_t>(tokens.size()) > positions) {
      ++report->too_long;
      continue;
    }
    examples.push_back({ChainOf(std::move(tokens)), begin});
  }
  report->calls = static_cast<int64_t>(examples.size());
  return examples;
}

// Whose answers the calls of each tool come with, in one of twenty or more.
std::map<std::string, std::vector<std::string>> ShownIn(const JournaledCalls& recorded) {
  std::map<std::string, int64_t> calls;
  std::map<std::string, std::map<std::string, int64_t>> seen;
  for (const RecordedCall& call : recorded.calls) {
    ++calls[call.tool];
    std::set<std::string> tools;
    for (const KnownResult& known : call.known) tools.insert(known.tool);
    for (const std::string& tool : tools) ++seen[call.tool][tool];
  }
  std::map<std::string, std::vector<std::string>> shown;
  for (const auto& [tool, known] : seen) {
    for (const auto& [name, count] : known) {
      if (20 * count >= calls[tool]) shown[tool].push_back(name);
    }
  }
  return shown;
}

Result<Model> FreshModel(const LearnedOptions& options, int64_t vocabulary) {
  if (options.width % options.heads != 0 || (options.width / options.heads) % 2 != 0) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("a width of {} does not fit {} heads; their quotient must be even",
                             options.width, options.heads));
  }
  ModelConfig config;
  config.layers = options.layers;
  config.width = options.width;
  config.heads = config.kv_heads = options.heads;
  config.head_dim = options.width / options.heads;
  config.ffn = 3 * options.width;
  config.vocab = vocabulary;
  config.max_positions = options.positions;
  config.qk_norm = true;
  Model model = NewModel(config);
  InitializeModel(options.seed, &model);
  return model;
}

// One step on some examples; gives the loss per token, all tokens alike. Only the answers are
// learned: nobody asks for questions.
double TrainStep(Engine* engine, const std::vector<const Example*>& batch, double rate,
                 const LearnedOptions& options) {
  std::vector<Tree> trees;
  size_t answers = 0;
  for (const Example* example : batch) {
    trees.push_back(example->tree);
    answers += example->tree.nodes[0].tokens.size() - example->answer_begin;
  }
  const double weights = static_cast<double>(answers) +
                         (options.status_weight - 1) * static_cast<double>(batch.size());
  double loss = 0;
  engine->Accumulate(trees, [&](std::span<TreeTerms> terms) {
    for (size_t i = 0; i < batch.size(); ++i) {
      PathTerms& path = terms[i].paths[0];
      for (size_t t = batch[i]->answer_begin; t < path.logprobs.size(); ++t) {
        const double weight = t == batch[i]->answer_begin ? options.status_weight : 1;
        loss -= path.logprobs[t];
        path.dlogprobs[t] = static_cast<float>(-weight / weights);
      }
    }
  });
  engine->Step({.learning_rate = rate, .weight_decay = options.weight_decay});
  return loss / static_cast<double>(answers);
}

}  // namespace

Json TrainingReport::ToJson() const {
  return Json::Of({{"calls", calls},
                   {"too_long", too_long},
                   {"tokens", tokens},
                   {"first_loss", first_loss},
                   {"last_loss", last_loss},
                   {"parameters", parameters},
                   {"weights", weights_hash}});
}

Result<LearnedModel> TrainLearnedModel(
    const JournaledCalls& recorded, const LearnedOptions& options, TrainingReport* report,
    const std::function<void(const TrainingProgress&)>& progress) {
  if (recorded.calls.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "there are no recorded calls of these tools to learn from; record some first");
  }
  LearnedModel learned;
  learned.effects = LearnEffects(recorded.calls);
  learned.shown = ShownIn(recorded);
  learned.rules = LearnAnswerRules(recorded.calls);
  HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer,
                        TrainCallTokenizer(recorded, static_cast<int32_t>(options.vocabulary)));
  learned.tokenizer = std::make_unique<Tokenizer>(std::move(tokenizer));
  const std::vector<Example> examples =
      ExamplesOf(recorded, *learned.tokenizer, options.positions, report);
  if (examples.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("every recorded call is longer than {} tokens; raise positions",
                             options.positions));
  }
  HONE_ASSIGN_OR_RETURN(Model model, FreshModel(options, learned.tokenizer->vocab_size()));
  report->parameters = model.config.ParameterCount();
  learned.engine =
      std::make_unique<Engine>(std::move(model), Engine::Options{.threads = options.threads});

  std::vector<size_t> order(examples.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng = Rng(options.seed).Split("order");
  size_t next = order.size();
  const LearningRate rate{.peak = options.learning_rate,
                          .warmup = options.warmup,
                          .steps = options.steps,
                          .shape = LearningRate::Shape::kCosine};
  const int64_t tail = std::max<int64_t>(options.steps / 10, 1);
  for (int64_t step = 0; step < options.steps; ++step) {
    std::vector<const Example*> batch;
    while (static_cast<int64_t>(batch.size()) < options.batch) {
      if (next == order.size()) {
        for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
        next = 0;
      }
      batch.push_back(&examples[order[next++]]);
    }
    const double loss = TrainStep(learned.engine.get(), batch, rate.At(step), options);
    if (step == 0) report->first_loss = loss;
    if (step >= options.steps - tail) report->last_loss += loss / static_cast<double>(tail);
    if (progress) progress({step + 1, options.steps, loss});
  }
  report->tokens = learned.engine->tokens_computed();
  report->weights_hash = learned.engine->WeightsHash();
  return learned;
}

Json ShownJson(const std::map<std::string, std::vector<std::string>>& shown) {
  Json json = Json::Object();
  for (const auto& [tool, names] : shown) json.Set(tool, Json::ArrayOf(names));
  return json;
}

Result<void> LearnedModel::Save(const std::filesystem::path& folder) const {
  HONE_RETURN_IF_ERROR(SaveModel(engine->model(), SaveType::kF32, folder));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / "tokenizer.json", tokenizer->ToJson()));
  return WriteFileAtomic(folder / "simulator.json",
                         DumpJson(Json::Of({{"format", kFormat},
                                            {"version", kFormatVersion},
                                            {"effects", effects.ToJson()},
                                            {"shown", ShownJson(shown)},
                                            {"rules", rules.ToJson()}}),
                                  JsonStyle::kPretty) +
                             "\n");
}

Result<LearnedModel> LearnedModel::Load(const std::filesystem::path& folder, int threads) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(folder / "simulator.json"));
  const Result<Json> about = ParseJson(text);
  if (!about.ok()) return about.error().In((folder / "simulator.json").string());
  std::string format;
  int64_t version = 0;
  Json effects, views, read_rules = ResultRules().ToJson();
  LearnedModel learned;
  JsonErrors errors;
  {
    JsonFields fields(*about, "", &errors);
    fields.Required("format", &format);
    fields.Required("version", &version);
    fields.Optional("effects", &effects);
    fields.Optional("shown", &views);
    if (views.is_object()) {
      for (const auto& [tool, names] : views.AsObject()) {
        ReadJson(names, "shown." + tool, &errors, &learned.shown[tool]);
      }
    }
    fields.Optional("rules", &read_rules);
  }
  if (const Result<void> read = errors.Check(); !read.ok()) {
    return read.error().In((folder / "simulator.json").string());
  }
  if (format != kFormat || version != kFormatVersion || !views.is_object()) {
    return Error(ErrorCode::kVersion,
                 fmt::format("{}: {} {} is not a learned simulator that this program reads ({} {})",
                             folder.string(), format, version, kFormat, kFormatVersion));
  }
  HONE_ASSIGN_OR_RETURN(learned.effects, WriteEffects::FromJson(effects));
  HONE_ASSIGN_OR_RETURN(learned.rules, ResultRules::FromJson(read_rules));
  HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Load(folder));
  learned.tokenizer = std::make_unique<Tokenizer>(std::move(tokenizer));
  HONE_ASSIGN_OR_RETURN(learned.engine, Engine::Open(folder, {.threads = threads}));
  if (learned.tokenizer->vocab_size() != learned.engine->config().vocab ||
      !learned.tokenizer->FindAdded("<|end|>")) {
    return Error(ErrorCode::kInvalidArgument,
                 folder.string() + ": the tokenizer is not the one the model was trained with");
  }
  return learned;
}

}  // namespace hone
