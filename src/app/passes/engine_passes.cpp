// engine.logprobs and engine.sample.

#include <memory>

#include <fmt/format.h>

#include "app/passes/passes.h"
#include "base/json_fields.h"
#include "engine/engine.h"

namespace hone {
namespace {

const PassOption kModel = {"model", "a Hugging Face folder", true};
const PassOption kPrecision = {"precision", "f32 or bf16 (bf16 when absent)", false};
const PassOption kDevice = {"device", "auto, cpu or cuda (auto when absent)", false};

Result<std::shared_ptr<Engine>> OpenEngine(const PassOptions& options) {
  Engine::Options engine_options;
  if (const auto found = options.find("precision"); found != options.end()) {
    if (found->second != "f32" && found->second != "bf16") {
      return Error(ErrorCode::kInvalidArgument, "--precision must be f32 or bf16");
    }
    engine_options.precision = found->second == "f32" ? Precision::kF32 : Precision::kBf16;
  }
  const auto device = options.find("device");
  HONE_ASSIGN_OR_RETURN(engine_options.device,
                        ParseDeviceKind(device == options.end() ? "auto" : device->second));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine,
                        Engine::Open(options.at("model"), engine_options));
  return std::shared_ptr<Engine>(std::move(engine));
}

Json FloatArray(const std::vector<float>& values) {
  Json::Array array;
  for (const float value : values) array.emplace_back(static_cast<double>(value));
  return array;
}

Result<std::vector<TokenId>> IdsOf(const Json& in, const Engine& engine) {
  std::vector<TokenId> ids;
  const Json* given = in.Find("ids");
  if (given == nullptr) return Error(ErrorCode::kInvalidArgument, "the line needs \"ids\"");
  JsonErrors errors;
  ReadJson(*given, "ids", &errors, &ids);
  HONE_RETURN_IF_ERROR(errors.Check());
  if (ids.empty()) return Error(ErrorCode::kInvalidArgument, "ids: at least one token is needed");
  HONE_RETURN_IF_ERROR(engine.CheckTokens(ids));
  return ids;
}

Json SchemaOf(std::string_view text) { return ParseJson(text).value(); }

Result<Json> LogProbsOf(Engine& engine, const Json& in) {
  HONE_ASSIGN_OR_RETURN(std::vector<TokenId> ids, IdsOf(in, engine));
  const Tree tree = ChainOf(std::move(ids));
  NodeLogprobs scores = engine.LogProbs({&tree, 1})[0][0];
  scores.logprobs.erase(scores.logprobs.begin());  // the first token has none
  scores.entropies.erase(scores.entropies.begin());
  return Json::Of(
      {{"logprobs", FloatArray(scores.logprobs)}, {"entropies", FloatArray(scores.entropies)}});
}

Result<SampleRequest> RequestOf(const Json& in, const Engine& engine) {
  SampleRequest request;
  HONE_ASSIGN_OR_RETURN(request.prompt, IdsOf(in, engine));
  uint64_t seed = 0;
  JsonErrors errors;
  auto read = [&](const char* key, auto* value) {
    if (const Json* given = in.Find(key)) ReadJson(*given, key, &errors, value);
  };
  read("max_new", &request.max_new);
  read("temperature", &request.sampling.temperature);
  read("top_p", &request.sampling.top_p);
  read("top_k", &request.sampling.top_k);
  read("min_p", &request.sampling.min_p);
  read("seed", &seed);
  read("stop_tokens", &request.stop_tokens);
  HONE_RETURN_IF_ERROR(errors.Check());
  const Sampling& s = request.sampling;
  if (request.max_new < 0 || !(s.temperature >= 0) || !(s.top_p > 0 && s.top_p <= 1) ||
      s.top_k < 0 || !(s.min_p >= 0 && s.min_p < 1)) {
    return Error(
        ErrorCode::kInvalidArgument,
        "max_new, temperature and top_k must be at least 0, top_p in (0, 1], min_p in [0, 1)");
  }
  request.rng = Rng(seed).Split("sample");
  return request;
}

Pass LogProbsPass() {
  return {.name = "engine.logprobs",
          .about = "Give the log-probability and entropy of every token after the first.",
          .options = {kModel, kPrecision, kDevice},
          .input_schema = SchemaOf(R"({"type": "object", "required": ["ids"],
              "properties": {"ids": {"type": "array", "items": {"type": "integer"}}}})"),
          .output_schema = SchemaOf(R"({"type": "object", "required": ["logprobs", "entropies"],
              "properties": {"logprobs": {"type": "array", "items": {"type": "number"}},
                             "entropies": {"type": "array", "items": {"type": "number"}}}})"),
          .example = R"({"ids": [1, 2, 3]})",
          .open = [](const PassOptions& options) -> Result<PassFunction> {
            HONE_ASSIGN_OR_RETURN(auto engine, OpenEngine(options));
            return PassFunction([engine](const Json& in) { return LogProbsOf(*engine, in); });
          }};
}

Pass SamplePass() {
  return {
      .name = "engine.sample",
      .about =
          "Continue a sequence of tokens, drawn with the line's own seed: it does not depend on "
          "the "
          "other lines. "
          "Temperature 0 takes the likeliest token.",
      .options = {kModel, kPrecision, kDevice},
      .input_schema = SchemaOf(R"({"type": "object", "required": ["ids"], "properties": {
              "ids": {"type": "array", "items": {"type": "integer"}},
              "max_new": {"type": "integer", "default": 64},
              "temperature": {"type": "number", "default": 1}, "top_p": {"type": "number", "default": 1},
              "top_k": {"type": "integer", "default": 0}, "min_p": {"type": "number", "default": 0},
              "seed": {"type": "integer", "default": 0},
              "stop_tokens": {"type": "array", "items": {"type": "integer"}}}})"),
      .output_schema = SchemaOf(R"({"type": "object", "required": ["ids", "logprobs", "entropies"],
              "properties": {"ids": {"type": "array", "items": {"type": "integer"},
                                     "description": "the new ones only"},
                             "logprobs": {"type": "array", "items": {"type": "number"}},
                             "entropies": {"type": "array", "items": {"type": "number"}}}})"),
      .example = R"({"ids": [1, 2, 3], "max_new": 4, "temperature": 0.8, "top_k": 20, "seed": 7})",
      .open = [](const PassOptions& options) -> Result<PassFunction> {
        HONE_ASSIGN_OR_RETURN(auto engine, OpenEngine(options));
        return PassFunction([engine](const Json& in) -> Result<Json> {
          HONE_ASSIGN_OR_RETURN(const SampleRequest request, RequestOf(in, *engine));
          HONE_ASSIGN_OR_RETURN(const auto results, engine->Sample({&request, 1}));
          const SampleResult& result = results[0];
          return Json::Of({{"ids", Json::ArrayOf(result.tokens)},
                           {"logprobs", FloatArray(result.logprobs)},
                           {"entropies", FloatArray(result.entropies)}});
        });
      }};
}

}  // namespace

std::vector<Pass> EnginePasses() { return {LogProbsPass(), SamplePass()}; }

}  // namespace hone
