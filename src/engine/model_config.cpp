#include "engine/model_config.h"

#include <cmath>

#include <fmt/format.h>

#include "base/file.h"
#include "engine/families/config_reader.h"
#include "engine/families/model_families.h"
#include "engine/families/rope_config.h"

namespace hone {
namespace {

constexpr int64_t kMostLayers = 10000;

bool IsClassifier(const Json& json) {
  const Json* names = json.Find("architectures");
  return names != nullptr && names->is_array() && !names->AsArray().empty() &&
         names->AsArray()[0].is_string() &&
         names->AsArray()[0].AsString().ends_with("ForSequenceClassification");
}

}  // namespace

float ModelConfig::AttentionScale() const {
  if (attention_scale > 0) return static_cast<float>(attention_scale);
  return 1.0f / std::sqrt(static_cast<float>(head_dim));
}

int64_t ModelConfig::ParameterCount() const {
  const int64_t q = heads * head_dim, kv = kv_heads * head_dim;
  int64_t layer = (output_norms ? 4 : 2) * width + width * (q + 2 * kv) + q * width;
  if (qkv_bias) layer += q + 2 * kv;
  if (output_bias) layer += width;
  if (qk_norm) layer += 2 * head_dim;
  if (sinks) layer += heads;
  int64_t expert = 3 * width * expert_ffn + width;  // with its row of the router
  if (expert_bias) expert += 2 * expert_ffn + width + 1;
  int64_t all = layers * layer;
  for (int64_t i = 0; i < layers; ++i) {
    all += TraitsOf(i).experts ? experts * expert : 3 * width * ffn;
  }
  return all + width + (scalar_head ? width : 0) + vocab * width * (tied_embeddings ? 1 : 2);
}

Result<ModelConfig> ModelConfigFromJson(const Json& json) {
  ModelConfig config;
  HONE_ASSIGN_OR_RETURN(config.family, FamilyOf(json));
  ConfigReader reader(json);
  SetFamilyDefaults(&reader, &config);
  config.layers = reader.Size("num_hidden_layers");
  if (config.layers > kMostLayers) reader.Problem("num_hidden_layers", "is out of reach");
  config.layers = std::min(config.layers, kMostLayers);
  config.width = reader.Size("hidden_size");
  config.heads = reader.Size("num_attention_heads");
  config.kv_heads = reader.Size("num_key_value_heads", config.heads);
  const bool gemma = config.scaled_embedding;  // whose heads do not follow from the width
  config.head_dim =
      reader.Size("head_dim", gemma ? 256 : std::max<int64_t>(config.width / config.heads, 1));
  config.ffn = reader.Size("intermediate_size");
  config.vocab = reader.Size("vocab_size");
  config.max_positions = reader.Size("max_position_embeddings", config.max_positions);
  config.norm_eps = reader.Positive("rms_norm_eps", config.norm_eps);
  config.tied_embeddings = reader.Flag("tie_word_embeddings", config.tied_embeddings);
  if (config.head_dim % 2 != 0) reader.Problem("head_dim", "must be even");
  ReadRope(&reader, &config);
  ReadFamilyKeys(&reader, &config);
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
  if (config.heads * config.head_dim > ConfigReader::kLargestSize) {
    reader.Problem("head_dim", "is out of reach");
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
  const auto [type, architecture] = NamesOf(config.family);
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
