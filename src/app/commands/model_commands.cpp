// hone model, hone generate, hone logprobs.

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/device_option.h"
#include "app/gguf_conversion.h"
#include "app/installed/shipped_files.h"
#include "app/models/model_check.h"
#include "app/models/model_conversion.h"
#include "app/report.h"
#include "app/terminal.h"
#include "app/views/text_views.h"
#include "base/file.h"
#include "base/recipe.h"
#include "engine/encoder/encoder_shape.h"
#include "engine/engine.h"
#include "engine/safetensors.h"
#include "engine/weights/gguf_model.h"
#include "text/dialect.h"
#include "text/template_dialect.h"
#include "text/tokenizer.h"
#include "text/vocabulary/text_frame.h"
#include "train/folder/model_place.h"
#include "train/training_recipe.h"

namespace hone {
namespace {

struct ModelArguments {
  std::string model, out, tokenizer, text, adapter, dialect, precision = "bf16", type;
  std::vector<std::string> overrides, stops;
  int64_t max_new = 64;
  uint64_t seed = 0;
  Sampling sampling;
  std::optional<DeviceKind> device;
  bool no_bos = false;
};

Engine::Options EngineOptions(const ModelArguments& arguments) {
  return {.precision = arguments.precision == "f32" ? Precision::kF32 : Precision::kBf16,
          .device = arguments.device.value_or(DeviceKind::kAuto)};
}

SaveType TypeOf(const ModelArguments& arguments) {
  return arguments.type == "f32" ? SaveType::kF32 : SaveType::kBf16;
}

Result<Tokenizer> TokenizerOf(const ModelArguments& arguments, const ModelConfig& config) {
  HONE_ASSIGN_OR_RETURN(
      Tokenizer tokenizer,
      Tokenizer::Load(arguments.tokenizer.empty() ? arguments.model : arguments.tokenizer));
  if (tokenizer.vocab_size() > config.vocab) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the tokenizer has {} tokens, the model only {}; give the model's own "
                             "(--tokenizer)",
                             tokenizer.vocab_size(), config.vocab));
  }
  return tokenizer;
}

// What its tokenizer's files put before a text (--no-bos: nothing).
Result<std::vector<TokenId>> BeginningOf(const ModelArguments& arguments,
                                         const Tokenizer& tokenizer) {
  if (arguments.no_bos) return std::vector<TokenId>();
  Result<std::vector<TokenId>> beginning = LoadTextBeginning(
      arguments.tokenizer.empty() ? arguments.model : arguments.tokenizer, tokenizer);
  if (beginning.ok()) return beginning;
  return Error(
      beginning.error().code(),
      beginning.error().message() + "; hone generate and hone logprobs do without it: --no-bos");
}

Json InfoJson(const ModelConfig& c) {
  return Json::Of({{"family", ArchitectureName(c.family)},
                   {"parameters", c.ParameterCount()},
                   {"layers", c.layers},
                   {"width", c.width},
                   {"heads", c.heads},
                   {"kv_heads", c.kv_heads},
                   {"head_dim", c.head_dim},
                   {"ffn", c.ffn},
                   {"vocab", c.vocab},
                   {"positions", c.max_positions},
                   {"tied_embeddings", c.tied_embeddings}});
}

// The arguments with the folder of the model that they name by a run, perhaps.
Result<ModelArguments> Found(ModelArguments arguments) {
  HONE_ASSIGN_OR_RETURN(const ModelPlace place, FindModel(arguments.model, "last"));
  arguments.model = place.folder.string();
  return arguments;
}

std::string ShownInfo(const Json& info, bool json) {
  if (json) return DumpJson(info) + "\n";
  std::string out;
  for (const auto& [key, value] : info.AsObject()) {
    out += fmt::format("{} {}\n", Fitted(key, 16),
                       value.is_string() ? value.AsString() : DumpJson(value));
  }
  return out;
}

// Also of a file whose model Hone cannot compute: then with the reason.
Result<std::string> GgufInfo(const std::string& path, bool json) {
  HONE_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(path));
  const Result<ModelConfig> config = ModelConfigOfGguf(file);
  const std::string* family = file.Text("general.architecture");
  Json info = config.ok() ? InfoJson(*config)
                          : Json::Of({{"family", family == nullptr ? "" : Printable(*family)},
                                      {"unreadable", Printable(config.error().message())}});
  const Json facts = GgufFacts(file);
  for (const auto& [key, value] : facts.AsObject()) info.Set(key, value);
  return ShownInfo(info, json);
}

// How many numbers of each type its files hold.
Result<std::string> StoredNumbers(const std::string& folder) {
  HONE_ASSIGN_OR_RETURN(const CheckpointTensors tensors, CheckpointTensors::Open(folder));
  std::map<std::string, int64_t> types;
  for (const auto& [name, view] : tensors.tensors())
    types[std::string(DTypeName(view.dtype))] += view.count();
  std::string stored;
  for (const auto& [type, count] : types)
    stored += fmt::format("{}{} {}", stored.empty() ? "" : ", ", count, type);
  return stored;
}

Result<std::string> EncoderInfo(const std::string& folder, bool json) {
  HONE_ASSIGN_OR_RETURN(const EncoderShape shape, LoadEncoderShape(folder));
  HONE_ASSIGN_OR_RETURN(const Pooling pooling, LoadPooling(folder));
  HONE_ASSIGN_OR_RETURN(const std::string stored, StoredNumbers(folder));
  const bool mean = pooling.kind == Pooling::Kind::kMean;
  return ShownInfo(
      Json::Of({{"family", "bert"},
                {"parameters", shape.ParameterCount()},
                {"layers", shape.layers},
                {"width", shape.width},
                {"heads", shape.heads},
                {"ffn", shape.ffn},
                {"vocab", shape.vocab},
                {"positions", pooling.max_tokens > 0 ? pooling.max_tokens : shape.max_positions},
                {"pooling", fmt::format("{}{}", mean ? "mean of all tokens" : "the first token",
                                        pooling.normalize ? ", length 1" : "")},
                {"stored", stored},
                {"use", "an encoder of texts: hone embed"}}),
      json);
}

Result<std::string> Info(const ModelArguments& named, bool json) {
  if (IsGgufName(named.model)) return GgufInfo(named.model, json);
  if (IsEncoderFolder(named.model)) return EncoderInfo(named.model, json);
  HONE_ASSIGN_OR_RETURN(const ModelArguments arguments, Found(named));
  HONE_ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(arguments.model));
  HONE_ASSIGN_OR_RETURN(const std::string stored, StoredNumbers(arguments.model));
  Json info = InfoJson(config);
  info.Set("stored", stored);
  // How it calls tools, by its own template.
  if (LoadModelTemplate(arguments.model).ok()) {
    const auto dialect = NewDialect("template:" + arguments.model);
    info.Set("calls", dialect.ok() ? fmt::format("{}, {}", (*dialect)->traits().call_format,
                                                 (*dialect)->traits().call_format_found)
                                   : dialect.error().message());
  }
  return ShownInfo(info, json);
}

// A fresh model from a recipe: layers, width, heads, kv_heads, ffn, vocab and the like.
Result<std::string> New(const ModelArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, arguments.model.empty() ? Recipe::Parse("", "defaults")
                                                               : LoadNamedRecipe(arguments.model));
  for (const std::string& assignment : arguments.overrides) recipe.Override(assignment);
  ModelConfig config;
  std::string family = "qwen3";
  int64_t seed = 0;
  RecipeTable root = recipe.Root();
  root.ReadChoice("family", &family, {"qwen2", "qwen3", "llama"}, "whose architecture");
  root.Read("layers", &config.layers, "", Between(1, 1000));
  root.Read("width", &config.width, "of the residual stream", Between(1, 65536));
  root.Read("heads", &config.heads, "", Between(1, 1024));
  config.kv_heads = config.heads;
  root.Read("kv_heads", &config.kv_heads, "divides heads", Between(1, 1024));
  config.head_dim = std::max<int64_t>(config.width / config.heads, 2);
  root.Read("head_dim", &config.head_dim, "even", Between(2, 1024));
  config.ffn = 3 * config.width;
  root.Read("ffn", &config.ffn, "of the SwiGLU", Between(1, 1 << 20));
  root.Read("vocab", &config.vocab, "", Between(1, 1 << 21));
  root.Read("positions", &config.max_positions, "", Between(1, 1 << 21));
  root.Read("rope_theta", &config.rope_theta, "", Above(0));
  root.Read("tied_embeddings", &config.tied_embeddings, "");
  root.Read("seed", &seed, "of the weights", AtLeast(0));
  if (config.heads % config.kv_heads != 0) root.Problem("kv_heads", "must divide heads");
  if (config.head_dim % 2 != 0) root.Problem("head_dim", "must be even");
  HONE_RETURN_IF_ERROR(recipe.Finish());
  config.family = family == "qwen2"   ? ModelConfig::Family::kQwen2
                  : family == "llama" ? ModelConfig::Family::kLlama
                                      : ModelConfig::Family::kQwen3;
  config.qkv_bias = family == "qwen2";
  config.qk_norm = family == "qwen3";
  Model model = NewModel(config);
  InitializeModel(static_cast<uint64_t>(seed), &model);
  HONE_RETURN_IF_ERROR(SaveModel(model, TypeOf(arguments), arguments.out));
  if (json) return DumpJson(InfoJson(config)) + "\n";
  return fmt::format("{}: a fresh {} model of {} parameters\n", arguments.out, family,
                     config.ParameterCount());
}

Result<std::string> Convert(const ModelArguments& named, bool json) {
  ModelArguments arguments = named;
  if (named.type.empty()) {
    arguments.type = "bf16";
    if (IsGgufName(named.model) && !IsGgufName(named.out)) {
      HONE_ASSIGN_OR_RETURN(arguments.type, KeepingTypeOf(named.model));
    }
  }
  HONE_RETURN_IF_ERROR(CheckConversion(named.model, named.out, arguments.type));
  if (!IsGgufName(named.model)) {
    HONE_ASSIGN_OR_RETURN(arguments, Found(arguments));
  }
  HONE_ASSIGN_OR_RETURN(const ConvertedModel converted,
                        ConvertModel({.from = arguments.model,
                                      .to = arguments.out,
                                      .type = arguments.type,
                                      .adapter = arguments.adapter,
                                      .dialect = arguments.dialect}));
  if (json) {
    return DumpJson(Json::Of({{"out", arguments.out},
                              {"type", arguments.type},
                              {"merged", converted.adapter},
                              {"dialect", arguments.dialect}})) +
           "\n";
  }
  const bool headless = IsGgufName(arguments.out) && converted.config.scalar_head;
  return fmt::format("{}: {} parameters as {}{}{}{}\n", arguments.out,
                     converted.config.ParameterCount(), arguments.type,
                     converted.adapter.empty() ? "" : ", adapters merged",
                     arguments.dialect.empty() ? "" : ", chat template of " + arguments.dialect,
                     headless ? ", without its head for values" : "");
}

// Whether Hone trained it from nothing, or may have: then it has read what its tasks say and no
// other English.
bool MayBeFromNothing(const ModelPlace& place) {
  if (place.run.empty()) return Exists(place.folder / "agent.json");
  const Result<PolicyModelOptions> model = ReadTrainedModel(place.run);
  return model.ok() && model->folder.empty();
}

Result<std::string> Check(const ModelArguments& named, bool json, bool* broken) {
  HONE_ASSIGN_OR_RETURN(const ModelPlace place, FindModel(named.model, "last"));
  HONE_ASSIGN_OR_RETURN(const ModelArguments arguments, Found(named));
  HONE_ASSIGN_OR_RETURN(const auto engine, OpenModel(arguments.model, EngineOptions(arguments)));
  HONE_ASSIGN_OR_RETURN(const Tokenizer tokenizer, TokenizerOf(arguments, engine->config()));
  HONE_ASSIGN_OR_RETURN(const auto beginning, BeginningOf(arguments, tokenizer));
  HONE_ASSIGN_OR_RETURN(const ReadingCheck check,
                        CheckReading({.folder = arguments.model,
                                      .beginning = beginning,
                                      .from_nothing = MayBeFromNothing(place)},
                                     tokenizer, engine.get()));
  *broken = check.broken;
  const double nats = check.nats();
  if (json) {
    return DumpJson(Json::Of({{"perplexity", std::exp(nats)},
                              {"nats_per_token", nats},
                              {"bare_nats_per_token", check.bare},
                              {"read_as", check.AsTurn() ? "a turn" : "bare text"},
                              {"verdict", check.verdict}})) +
           "\n";
  }
  const std::string how =
      check.AsTurn()
          ? fmt::format(" as a turn in its chat template, {:.3f} as bare text", check.bare)
          : "";
  return fmt::format("perplexity {:.2f} ({:.3f} nats per token{}; guessing is {:.3f}): {}\n",
                     std::exp(nats), nats, how, check.guessing, check.verdict);
}

Result<std::string> Generate(const ModelArguments& named, bool json) {
  HONE_ASSIGN_OR_RETURN(const ModelArguments arguments, Found(named));
  HONE_ASSIGN_OR_RETURN(const auto engine, OpenModel(arguments.model, EngineOptions(arguments)));
  HONE_ASSIGN_OR_RETURN(const Tokenizer tokenizer, TokenizerOf(arguments, engine->config()));
  SampleRequest request;
  HONE_ASSIGN_OR_RETURN(auto beginning, BeginningOf(arguments, tokenizer));
  request.prompt = WithBeginning(std::move(beginning), tokenizer.Encode(arguments.text));
  if (request.prompt.empty())
    return Error(ErrorCode::kInvalidArgument, "the prompt is empty; give some text");
  HONE_RETURN_IF_ERROR(engine->CheckTokens(request.prompt));
  request.max_new = arguments.max_new;
  request.sampling = arguments.sampling;
  request.rng = Rng(arguments.seed).Split("sample");
  for (const char* end : {"<|im_end|>", "<|endoftext|>", "<|eot_id|>"}) {
    if (const auto id = tokenizer.FindAdded(end)) request.stop_tokens.push_back(*id);
  }
  auto text_of = [&](std::span<const TokenId> tokens) {
    std::string text;
    for (const TokenId id : tokens) {
      if (tokenizer.IsToken(id)) text += tokenizer.TokenBytes(id);
    }
    return text;
  };
  if (!arguments.stops.empty()) {
    request.stop = [&](std::span<const TokenId> tokens) {
      const std::string text = text_of(tokens);
      return std::any_of(arguments.stops.begin(), arguments.stops.end(),
                         [&](const std::string& s) { return text.find(s) != std::string::npos; });
    };
  }
  HONE_ASSIGN_OR_RETURN(const auto results, engine->Sample({&request, 1}));
  const SampleResult& result = results[0];
  const std::string text = text_of(result.tokens);
  if (json) {
    return DumpJson(Json::Of({{"text", Printable(text)},
                              {"ids", Json::ArrayOf(result.tokens)},
                              {"stopped", result.stopped}})) +
           "\n";
  }
  return Printable(text) + "\n";
}

Result<std::string> Logprobs(const ModelArguments& named, bool json) {
  HONE_ASSIGN_OR_RETURN(const ModelArguments arguments, Found(named));
  HONE_ASSIGN_OR_RETURN(const auto engine, OpenModel(arguments.model, EngineOptions(arguments)));
  HONE_ASSIGN_OR_RETURN(const Tokenizer tokenizer, TokenizerOf(arguments, engine->config()));
  HONE_ASSIGN_OR_RETURN(auto beginning, BeginningOf(arguments, tokenizer));
  const Tree tree = ChainOf(WithBeginning(std::move(beginning), tokenizer.Encode(arguments.text)));
  const std::vector<TokenId>& tokens = tree.nodes[0].tokens;
  HONE_RETURN_IF_ERROR(engine->CheckTokens(tokens));
  const NodeLogprobs scores = engine->LogProbs({&tree, 1})[0][0];
  const Terminal terminal = Terminal::Of(stdout);
  std::string out = terminal.Bold(
      fmt::format("{:>8} {} {:>10} {:>9}\n", "id", Fitted("token", 20), "logprob", "entropy"));
  Json::Array rows;
  for (size_t t = 0; t < tokens.size(); ++t) {
    const TokenId id = tokens[t];
    std::string shown;
    for (const char c : Printable(tokenizer.TokenBytes(id)))
      shown += c == '\n' ? "↵" : std::string(1, c);
    rows.push_back(
        Json::Of({{"id", id},
                  {"logprob", t == 0 ? Json() : Json(static_cast<double>(scores.logprobs[t]))},
                  {"entropy", t == 0 ? Json() : Json(static_cast<double>(scores.entropies[t]))}}));
    out += t == 0 ? fmt::format("{:>8} {} {:>10} {:>9}\n", id, Fitted(shown, 20), "–", "–")
                  : fmt::format("{:>8} {} {:>10.4f} {:>9.4f}\n", id, Fitted(shown, 20),
                                scores.logprobs[t], scores.entropies[t]);
  }
  return json ? DumpJson(Json::Of({{"tokens", std::move(rows)}})) + "\n" : out;
}

void AddComputing(Command command, ModelArguments* arguments) {
  command.AddOption("--precision", &arguments->precision, "f32 or bf16")
      .OneOf({"f32", "bf16"})
      .ShowDefault();
  AddDeviceOption(command, &arguments->device);
}

void AddNoBos(Command command, ModelArguments* arguments) {
  command.AddFlag("--no-bos", &arguments->no_bos,
                  "put nothing before the text; else what the tokenizer's files say (Llama's <s>)");
}

void AddType(Command command, ModelArguments* arguments) {
  command.AddOption("--type", &arguments->type, "of the weights in the file: f32 or bf16 (bf16)")
      .OneOf({"f32", "bf16"});
}

}  // namespace

void AddModel(Command program, std::shared_ptr<CommandContext> context) {
  Command group = program.AddCommand("model", "Get, make, inspect, check and convert models");
  group.NeedsCommand();
  group.Footer("Example:\n  hone model info tests/golden/models/qwen3\n");
  auto arguments = std::make_shared<ModelArguments>();
  Command info = group.AddCommand("info", "Show the shape of a model");
  info.AddOption("model", &arguments->model, "a Hugging Face folder, a run, or a GGUF file")
      .Required();
  info.Footer(
      "Examples:\n  hone model info tests/golden/models/qwen3\n  hone model info model.gguf\n");
  info.Action([=] { Finish(context.get(), Info(*arguments, context->json)); });

  Command fresh = group.AddCommand("new", "Make a fresh model with random weights");
  fresh.AddOption("out", &arguments->out, "the folder to write").Required();
  fresh.AddOverrides(&arguments->overrides,
                     "layers=4 width=256 heads=4 kv_heads=2 ffn=768 vocab=1024 ...");
  fresh.AddOption("--recipe", &arguments->model, "a TOML file with these keys");
  AddType(fresh, arguments.get());
  fresh.Footer("Example:\n  hone model new /tmp/tiny layers=2 width=64 heads=4 vocab=512\n");
  fresh.Action([=] { Finish(context.get(), New(*arguments, context->json)); });

  Command convert = group.AddCommand(
      "convert",
      "Write a model in another number type or as a GGUF file, with the files that belong to it");
  convert.AddOption("model", &arguments->model, "a Hugging Face folder, a run, or a GGUF file")
      .Required();
  convert.AddOption("out", &arguments->out, "the folder, or the file that ends in .gguf, to write")
      .Required();
  convert
      .AddOption("--type", &arguments->type,
                 "of the weights in the file: f32, bf16 or f16; of a GGUF file also q8_0 (bf16; of "
                 "weights from a GGUF file the one that keeps their numbers)")
      .OneOf({"f32", "bf16", "f16", "q8_0"});
  convert.AddOption("--adapter", &arguments->adapter,
                    "a PEFT folder to merge (its own folder \"adapter\" when absent)");
  convert.AddOption("--dialect", &arguments->dialect,
                    "write the chat template that renders as this dialect does");
  convert.Footer(
      "Examples:\n  hone model convert tests/golden/models/qwen3 /tmp/qwen3-bf16 --type bf16 "
      "--dialect hermes\n  hone model convert tests/golden/models/qwen3 /tmp/qwen3.gguf --type "
      "q8_0\n  hone model convert model.gguf /tmp/model\n");
  convert.Action([=] { Finish(context.get(), Convert(*arguments, context->json)); });

  AddModelGet(group, context);

  Command check = group.AddCommand(
      "check", "Check that a model loads and reads English (exit status 1 if it looks broken)");
  check.AddOption("model", &arguments->model, "a Hugging Face folder, or a run").Required();
  check.AddOption("--tokenizer,-t", &arguments->tokenizer, "when it is not in the folder");
  AddComputing(check, arguments.get());
  check.Footer("Example:\n  hone model check path/to/Qwen2.5-0.5B\n");
  check.Action([=] {
    bool broken = false;
    Finish(context.get(), Check(*arguments, context->json, &broken));
    if (broken) context->exit_status = 1;
  });
  AddModelTable(group, context);
}

void AddGenerate(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<ModelArguments>();
  Command command = program.AddCommand("generate", "Let a model continue a text");
  command.AddOption("model", &arguments->model, "a Hugging Face folder, or a run").Required();
  command.AddOption("prompt", &arguments->text, "the text to continue").Required();
  command.AddOption("--tokenizer,-t", &arguments->tokenizer, "when it is not in the folder");
  command.AddOption("--max-new", &arguments->max_new, "tokens at most").NotNegative().ShowDefault();
  command.AddOption("--temperature", &arguments->sampling.temperature, "0: greedy")
      .Between(0.0, 100.0)
      .ShowDefault();
  command.AddOption("--top-k", &arguments->sampling.top_k, "0: all").NotNegative().ShowDefault();
  command.AddOption("--top-p", &arguments->sampling.top_p, "").Between(0.0001, 1.0).ShowDefault();
  command.AddOption("--min-p", &arguments->sampling.min_p, "").Between(0.0, 0.9999).ShowDefault();
  command.AddOption("--stop", &arguments->stops,
                    "end as soon as this has been written; may repeat");
  command.AddOption("--seed", &arguments->seed, "").ShowDefault();
  AddNoBos(command, arguments.get());
  AddComputing(command, arguments.get());
  command.Footer(
      "Example:\n  hone generate path/to/model \"The weather in Paris\" --temperature 0.7\n");
  command.Action([=] { Finish(context.get(), Generate(*arguments, context->json)); });
}

void AddLogprobs(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<ModelArguments>();
  Command command =
      program.AddCommand("logprobs", "Show how likely a model finds each token of a text");
  command.AddOption("model", &arguments->model, "a Hugging Face folder, or a run").Required();
  command.AddOption("text", &arguments->text, "the text").Required();
  command.AddOption("--tokenizer,-t", &arguments->tokenizer, "when it is not in the folder");
  AddNoBos(command, arguments.get());
  AddComputing(command, arguments.get());
  command.Footer("Example:\n  hone logprobs path/to/model \"The weather in Paris\"\n");
  command.Action([=] { Finish(context.get(), Logprobs(*arguments, context->json)); });
}

}  // namespace hone
