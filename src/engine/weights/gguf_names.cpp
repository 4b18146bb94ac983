#include "engine/weights/gguf_names.h"

#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace hone {
namespace {

constexpr struct {
  std::string_view hugging_face, gguf;
} kWholeNames[] = {{"model.embed_tokens.weight", "token_embd.weight"},
                   {"model.norm.weight", "output_norm.weight"},
                   {"lm_head.weight", "output.weight"}};

// Behind "model.layers.N." and "blk.N.", before ".weight" and ".bias".
constexpr struct {
  std::string_view hugging_face, gguf;
} kLayerNames[] = {{"input_layernorm", "attn_norm"},    {"self_attn.q_proj", "attn_q"},
                   {"self_attn.k_proj", "attn_k"},      {"self_attn.v_proj", "attn_v"},
                   {"self_attn.q_norm", "attn_q_norm"}, {"self_attn.k_norm", "attn_k_norm"},
                   {"self_attn.o_proj", "attn_output"}, {"post_attention_layernorm", "ffn_norm"},
                   {"mlp.gate_proj", "ffn_gate"},       {"mlp.up_proj", "ffn_up"},
                   {"mlp.down_proj", "ffn_down"}};

}  // namespace

std::optional<std::string> GgufTensorName(const std::string& name) {
  for (const auto& [hugging_face, gguf] : kWholeNames) {
    if (name == hugging_face) return std::string(gguf);
  }
  constexpr std::string_view kPrefix = "model.layers.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view rest = std::string_view(name).substr(kPrefix.size());
  int64_t layer = 0;
  const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
  const std::string_view part = rest.substr(static_cast<size_t>(end - rest.data()));
  for (const auto& [hugging_face, gguf] : kLayerNames) {
    for (const char* kind : {".weight", ".bias"}) {
      if (failed == std::errc() && part == fmt::format(".{}{}", hugging_face, kind)) {
        return fmt::format("blk.{}.{}{}", layer, gguf, kind);
      }
    }
  }
  return std::nullopt;
}

bool RowsAreReordered(ModelConfig::Family family, const std::string& name) {
  return family == ModelConfig::Family::kLlama &&
         (name.find("q_proj.") != std::string::npos || name.find("k_proj.") != std::string::npos);
}

int64_t StoredRow(int64_t row, int64_t head_dim) {
  const int64_t head = row / head_dim, inside = row % head_dim, half = head_dim / 2;
  return head * head_dim + 2 * (inside % half) + inside / half;
}

std::vector<float> RopeDivisors(const ModelConfig& config) {
  std::vector<float> divisors(static_cast<size_t>(config.head_dim / 2), 1.0f);
  if (!config.rope_scaling) return divisors;
  const RopeScaling& scaling = *config.rope_scaling;
  const auto original = static_cast<double>(scaling.original_positions);
  for (size_t i = 0; i < divisors.size(); ++i) {
    const double exponent = 2 * static_cast<double>(i) / static_cast<double>(config.head_dim);
    const double wavelength = 2 * std::numbers::pi * std::pow(config.rope_theta, exponent);
    const double waves = original / wavelength;  // that fit into the original positions
    double divisor = 1;
    if (waves < scaling.low_freq_factor) {
      divisor = scaling.factor;
    } else if (waves <= scaling.high_freq_factor) {
      const double kept =
          (waves - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
      divisor = 1 / ((1 - kept) / scaling.factor + kept);
    }
    divisors[i] = static_cast<float>(divisor);
  }
  return divisors;
}

}  // namespace hone
