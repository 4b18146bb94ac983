#include "engine/model_config.h"

#include <cmath>

#include <fmt/format.h>

#include "base/file.h"

namespace hone {
namespace {

// Far above any model there is, and small enough that their products do not overflow.
constexpr int64_t kLargestSize = int64_t{1} << 22;
constexpr int64_t kMostLayers = 10000;

// Reads keys of a config; the first problem is kept.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  int64_t Size(const char* key, std::optional<int64_t> otherwise = std::nullopt) {
    const Json* value = json_.Find(key);
    if (value == nullptr || value->is_null()) {
      if (!otherwise) Problem(key, "is missing");
      return otherwise.value_or(1);
    }
    if (!value->is_integer() || value->AsInteger() < 1 || value->AsInteger() > kLargestSize) {
      Problem(key, fmt::format("must be an integer from 1 to {}", kLargestSize));
      return 1;
    }
    return value->AsInteger();
  }

  double Positive(const char* key, double otherwise) {
    const Json* value = json_.Find(key);
    if (value == nullptr || value->is_null()) return otherwise;
    if (!value->is_number() || !(value->AsDouble() > 0) || !std::isfinite(value->AsDouble())) {
      Problem(key, "must be a number greater than 0");
      return otherwise;
    }
    return value->AsDouble();
  }

  bool Flag(const char* key, bool otherwise) {
    const Json* value = json_.Find(key);
    if (value == nullptr || value->is_null()) return otherwise;
    if (!value->is_bool()) Problem(key, "must be true or false");
    return *value == Json(true);
  }

  void Problem(std::string_view key, std::string_view text) {
    if (!error_) error_ = Error(ErrorCode::kInvalidArgument, fmt::format("\"{}\" {}", key, text));
  }
  void Unsupported(std::string text) {
    if (!error_) error_ = Error(ErrorCode::kUnsupported, std::move(text));
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const Json& json_;
  std::optional<Error> error_;
};

Result<ModelConfig::Family> FamilyOf(const Json& json) {
  const Json* type = json.Find("model_type");
  const std::string name = type != nullptr && type->is_string() ? type->AsString() : "";
  if (name == "qwen2") return ModelConfig::Family::kQwen2;
  if (name == "qwen3") return ModelConfig::Family::kQwen3;
  if (name == "llama") return ModelConfig::Family::kLlama;
  return Error(ErrorCode::kUnsupported,
               fmt::format("the architecture \"{}\" is not one of qwen2, qwen3, llama", name));
}

bool IsClassifier(const Json& json) {
  const Json* names = json.Find("architectures");
  return names != nullptr && names->is_array() && !names->AsArray().empty() &&
         names->AsArray()[0].is_string() &&
         names->AsArray()[0].AsString().ends_with("ForSequenceClassification");
}

// Rope settings stand under "rope_parameters" (transformers 5), or at the top with "rope_scaling".
void ReadRope(const Json& json, Reader* top, ModelConfig* config) {
  const Json* parameters = json.Find("rope_parameters");
  if (parameters == nullptr || !parameters->is_object()) parameters = json.Find("rope_scaling");
  config->rope_theta = top->Positive("rope_theta", config->rope_theta);
  if (parameters == nullptr || !parameters->is_object()) return;
  Reader rope(*parameters);
  config->rope_theta = rope.Positive("rope_theta", config->rope_theta);
  const Json* type = parameters->Find("rope_type");
  if (type == nullptr) type = parameters->Find("type");
  const std::string name = type != nullptr && type->is_string() ? type->AsString() : "default";
  if (name == "llama3") {
    RopeScaling scaling;
    scaling.factor = rope.Positive("factor", scaling.factor);
    scaling.low_freq_factor = rope.Positive("low_freq_factor", scaling.low_freq_factor);
    scaling.high_freq_factor = rope.Positive("high_freq_factor", scaling.high_freq_factor);
    scaling.original_positions =
        rope.Size("original_max_position_embeddings", scaling.original_positions);
    if (scaling.high_freq_factor <= scaling.low_freq_factor) {
      rope.Problem("high_freq_factor", "must be greater than low_freq_factor");
    }
    config->rope_scaling = scaling;
  } else if (name != "default") {
    rope.Unsupported(fmt::format("the rope type \"{}\" is not one of default, llama3", name));
  }
  if (rope.error()) top->Problem("rope_parameters", rope.error()->message());
}

}  // namespace

int64_t ModelConfig::ParameterCount() const {
  const int64_t q = heads * head_dim, kv = kv_heads * head_dim;
  int64_t layer = 2 * width + width * (q + 2 * kv) + q * width + 3 * width * ffn;
  if (qkv_bias) layer += q + 2 * kv;
  if (output_bias) layer += width;
  if (qk_norm) layer += 2 * head_dim;
  return layers * layer + width + (scalar_head ? width : 0) +
         vocab * width * (tied_embeddings ? 1 : 2);
}

Result<ModelConfig> ModelConfigFromJson(const Json& json) {
  ModelConfig config;
  HONE_ASSIGN_OR_RETURN(config.family, FamilyOf(json));
  Reader reader(json);
  config.layers = reader.Size("num_hidden_layers");
  if (config.layers > kMostLayers) reader.Problem("num_hidden_layers", "is out of reach");
  config.width = reader.Size("hidden_size");
  config.heads = reader.Size("num_attention_heads");
  config.kv_heads = reader.Size("num_key_value_heads", config.heads);
  config.head_dim = reader.Size("head_dim", std::max<int64_t>(config.width / config.heads, 1));
  config.ffn = reader.Size("intermediate_size");
  config.vocab = reader.Size("vocab_size");
  config.max_positions = reader.Size("max_position_embeddings", config.max_positions);
  config.norm_eps = reader.Positive("rms_norm_eps", config.norm_eps);
  config.tied_embeddings = reader.Flag("tie_word_embeddings", false);
  const bool attention_bias = reader.Flag("attention_bias", false);
  config.qkv_bias = config.family == ModelConfig::Family::kQwen2 || attention_bias;
  config.output_bias = config.family != ModelConfig::Family::kQwen2 && attention_bias;
  config.qk_norm = config.family == ModelConfig::Family::kQwen3;
  ReadRope(json, &reader, &config);
  config.scalar_head = reader.Flag(kScalarHeadKey, false);
  if (IsClassifier(json)) {
    const Json* labels = json.Find("id2label");
    const bool one = labels != nullptr && labels->is_object() && labels->AsObject().size() == 1;
    if (!one) reader.Unsupported("sequence classification with other than one label (id2label)");
    config.scalar_head = true;
    config.tied_embeddings = true;  // no head for tokens is stored
  }

  if (config.heads % config.kv_heads != 0) {
    reader.Problem("num_key_value_heads", "must divide num_attention_heads");
  }
  if (config.head_dim % 2 != 0) reader.Problem("head_dim", "must be even");
  if (config.heads * config.head_dim > kLargestSize) reader.Problem("head_dim", "is out of reach");
  if (reader.Flag("use_sliding_window", false))
    reader.Unsupported("sliding windows are not supported");
  if (reader.Flag("mlp_bias", false)) reader.Unsupported("biases in the MLP are not supported");
  if (const Json* act = json.Find("hidden_act"); act != nullptr && *act != Json("silu")) {
    reader.Unsupported(fmt::format("the activation {} is not \"silu\"", DumpJson(*act)));
  }
  if (reader.error()) return *reader.error();
  config.source = json;
  return config;
}

Result<ModelConfig> LoadModelConfig(const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error().In(file.string());
  Result<ModelConfig> config = ModelConfigFromJson(*json);
  if (!config.ok()) return config.error().In(file.string());
  return config;
}

Json ModelConfigToJson(const ModelConfig& config) {
  if (!config.source.is_null()) return config.source;
  const char *type = "llama", *architecture = "LlamaForCausalLM";
  if (config.family == ModelConfig::Family::kQwen2)
    type = "qwen2", architecture = "Qwen2ForCausalLM";
  if (config.family == ModelConfig::Family::kQwen3)
    type = "qwen3", architecture = "Qwen3ForCausalLM";
  Json rope = Json::Of({{"rope_theta", config.rope_theta}, {"rope_type", "default"}});
  if (const auto& scaling = config.rope_scaling) {
    rope.Set("rope_type", "llama3");
    rope.Set("factor", scaling->factor);
    rope.Set("low_freq_factor", scaling->low_freq_factor);
    rope.Set("high_freq_factor", scaling->high_freq_factor);
    rope.Set("original_max_position_embeddings", scaling->original_positions);
  }
  Json json = Json::Of({{"architectures", Json::Array{architecture}},
                        {"model_type", type},
                        {"num_hidden_layers", config.layers},
                        {"hidden_size", config.width},
                        {"num_attention_heads", config.heads},
                        {"num_key_value_heads", config.kv_heads},
                        {"head_dim", config.head_dim},
                        {"intermediate_size", config.ffn},
                        {"vocab_size", config.vocab},
                        {"max_position_embeddings", config.max_positions},
                        {"rms_norm_eps", config.norm_eps},
                        {"rope_parameters", rope},
                        // Read by versions of transformers before 5.
                        {"rope_theta", config.rope_theta},
                        {"tie_word_embeddings", config.tied_embeddings},
                        {"hidden_act", "silu"}});
  if (config.rope_scaling) json.Set("rope_scaling", rope);
  if (config.scalar_head) json.Set(kScalarHeadKey, true);
  if (config.family != ModelConfig::Family::kQwen2) json.Set("attention_bias", config.output_bias);
  return json;
}

}  // namespace hone
