#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// Llama 3's stretching of the rotary frequencies.
struct RopeScaling {
  double factor = 8;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  int64_t original_positions = 8192;
};

// The shape of a decoder of the Qwen2/2.5, Qwen3 or Llama 3.x family.
struct ModelConfig {
  enum class Family { kQwen2, kQwen3, kLlama };
  Family family = Family::kQwen3;
  int64_t layers = 4;
  int64_t width = 128;  // of the residual stream
  int64_t heads = 4;
  int64_t kv_heads = 2;  // divides heads
  int64_t head_dim = 32;
  int64_t ffn = 384;  // of the SwiGLU
  int64_t vocab = 512;
  int64_t max_positions = 2048;
  double norm_eps = 1e-6;
  double rope_theta = 10000;
  std::optional<RopeScaling> rope_scaling;
  bool tied_embeddings = true;
  bool qkv_bias = false;     // Qwen2
  bool output_bias = false;  // Llama with attention_bias
  bool qk_norm = false;      // Qwen3
  bool scalar_head = false;  // one number per token beside the logits: a value or a reward

  // Everything the file said, to be written back as it was.
  Json source;

  int64_t ParameterCount() const;
};

// Marks a language model that has a scalar head besides. Hugging Face's classes for sequence
// classification with one label have one, too, and no head for tokens.
inline constexpr char kScalarHeadKey[] = "hone_scalar_head";

// From the text of a config.json. Unknown architectures and what would change the computation
// (sliding windows, other activations or rope types) are kUnsupported; shapes that do not fit each
// other are kInvalidArgument. The error names the key.
Result<ModelConfig> ModelConfigFromJson(const Json& json);
Result<ModelConfig> LoadModelConfig(const std::filesystem::path& folder);

// A config.json that Hugging Face's transformers reads to the same model.
Json ModelConfigToJson(const ModelConfig& config);

}  // namespace hone
