#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// How rotary frequencies are stretched for positions beyond those that a model began with. Names as
// in Hugging Face's rope_parameters.
struct RopeScaling {
  enum class Kind { kLlama3, kLinear, kYarn, kLong };
  Kind kind = Kind::kLlama3;
  double factor = 8;  // not kLong
  // kLlama3: wavelengths between them are stretched in part.
  double low_freq_factor = 1, high_freq_factor = 4;
  int64_t original_positions = 8192;  // not kLinear
  // kYarn: the rotations over the original positions between which pairs are stretched in part, and
  // whether the pairs that this gives are whole numbers.
  double beta_fast = 32, beta_slow = 1;
  bool truncate = true;
  // kYarn, kLong: what cosines and sines are multiplied by.
  double attention_factor = 1;
  // kLong (Phi-3 and Phi-4-mini): what the frequency of each pair is divided by below the original
  // positions. Those for beyond would change what earlier tokens have seen, and are not used.
  std::vector<double> divisors;
};

// How a layer differs from its neighbours.
struct LayerTraits {
  // A position sees so many, itself included; 0: all before it.
  int64_t window = 0;
  enum class Rope { kGlobal, kLocal, kNone };
  Rope rope = Rope::kGlobal;  // kLocal: turned by local_rope_theta, without scaling
  bool experts = false;       // its feed-forward half is a choice of experts
};

// The shape of a decoder. model_families.h reads it from the files of the families.
struct ModelConfig {
  enum class Family {
    kQwen2,
    kQwen3,
    kLlama,
    kMistral,  // Ministral as well
    kSmolLm3,
    kPhi3,  // Phi-4 as well
    kGemma,
    kGemma2,
    kGemma3,
    kQwen3Moe,
    kGptOss
  };
  Family family = Family::kQwen3;
  int64_t layers = 4;
  int64_t width = 128;  // of the residual stream
  int64_t heads = 4;
  int64_t kv_heads = 2;  // divides heads
  int64_t head_dim = 32;
  int64_t ffn = 384;  // of the gated feed-forward half
  int64_t vocab = 512;
  int64_t max_positions = 2048;
  double norm_eps = 1e-6;
  double rope_theta = 10000;
  double local_rope_theta = 10000;
  std::optional<RopeScaling> rope_scaling;
  int64_t rotary_dim = 0;  // how many of a head's numbers are rotated, the first; 0: all
  bool tied_embeddings = true;
  bool qkv_bias = false;     // Qwen2
  bool output_bias = false;  // Llama with attention_bias
  bool qk_norm = false;      // Qwen3
  bool scalar_head = false;  // one number per token beside the logits: a value or a reward

  // What multiplies up's output: silu(gate), gelu(gate), or gpt-oss's (Kernels::clamped_glu).
  enum class Activation { kSilu, kGelu, kClamped };
  Activation activation = Activation::kSilu;
  // What both halves of a layer add to the stream is normalised, too (Gemma 2 and 3).
  bool output_norms = false;
  bool norm_adds_one = false;     // a norm multiplies by 1 + its weight (Gemma)
  bool scaled_embedding = false;  // embedded tokens are multiplied by sqrt(width) (Gemma)
  double attention_scale = 0;     // of scores; 0: 1 / sqrt(head_dim)
  // x becomes cap * tanh(x / cap): of scores, and of logits. 0: as it is.
  double attention_cap = 0, logit_cap = 0;
  bool sinks = false;  // each head has a score that belongs to no key (gpt-oss)
  // Of the layers that have experts: how many, how many of them a token takes, and their size.
  int64_t experts = 0, chosen_experts = 0, expert_ffn = 0;
  bool normalised_experts = true;   // the weights of a token's experts sum to 1
  bool expert_bias = false;         // of the router and of experts (gpt-oss)
  std::vector<LayerTraits> traits;  // per layer; empty: none has any

  // Everything the file said, to be written back as it was.
  Json source;

  LayerTraits TraitsOf(int64_t layer) const {
    return traits.empty() ? LayerTraits{} : traits[static_cast<size_t>(layer)];
  }
  int64_t RotaryDim() const { return rotary_dim > 0 ? rotary_dim : head_dim; }
  float AttentionScale() const;
  int64_t ParameterCount() const;
};

// Marks a language model that has a scalar head besides. Hugging Face's classes for sequence
// classification with one label have one, too, and no head for tokens.
inline constexpr char kScalarHeadKey[] = "hone_scalar_head";

// From the text of a config.json. Unknown architectures and what would change the computation
// (other activations or rope types) are kUnsupported; shapes that do not fit each other are
// kInvalidArgument. The error names the key.
Result<ModelConfig> ModelConfigFromJson(const Json& json);
Result<ModelConfig> LoadModelConfig(const std::filesystem::path& folder);

// A config.json that Hugging Face's transformers reads to the same model: what the file said, or
// for a fresh shape of the families Qwen2, Qwen3 and Llama.
Json ModelConfigToJson(const ModelConfig& config);

}  // namespace hone
