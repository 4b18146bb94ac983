#include "engine/weights/model_match.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace hone {
namespace {

// Everything of a configuration that is no size and changes what is computed. What is said of
// experts and local rotations where there are none does not.
auto Manner(const ModelConfig& c) {
  bool local = false;
  for (const LayerTraits& traits : c.traits) local |= traits.rope == LayerTraits::Rope::kLocal;
  return std::make_tuple(c.tied_embeddings, c.qkv_bias, c.output_bias, c.qk_norm, c.output_norms,
                         c.norm_adds_one, c.scaled_embedding, c.sinks,
                         c.experts > 0 && c.normalised_experts, c.experts > 0 && c.expert_bias,
                         c.norm_eps, c.rope_theta, local ? c.local_rope_theta : 0,
                         c.AttentionScale(), c.attention_cap, c.logit_cap, c.activation);
}

auto Parts(const RopeScaling& s) {
  return std::tie(s.kind, s.factor, s.low_freq_factor, s.high_freq_factor, s.original_positions,
                  s.beta_fast, s.beta_slow, s.truncate, s.attention_factor, s.divisors);
}

bool SameScaling(const std::optional<RopeScaling>& a, const std::optional<RopeScaling>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return Parts(*a) == Parts(*b);
}

bool SameTraits(const ModelConfig& a, const ModelConfig& b) {
  for (int64_t layer = 0; layer < a.layers; ++layer) {
    const LayerTraits one = a.TraitsOf(layer), other = b.TraitsOf(layer);
    if (std::tie(one.window, one.rope, one.experts) !=
        std::tie(other.window, other.rope, other.experts)) {
      return false;
    }
  }
  return true;
}

Error Another(const std::string& what) {
  return Error(ErrorCode::kInvalidArgument, "it is another model: " + what);
}

}  // namespace

Result<void> CheckSameDecoder(const ModelConfig& a, const ModelConfig& b) {
  const std::pair<const char*, int64_t ModelConfig::*> sizes[] = {
      {"layers", &ModelConfig::layers},
      {"width", &ModelConfig::width},
      {"heads", &ModelConfig::heads},
      {"kv_heads", &ModelConfig::kv_heads},
      {"head_dim", &ModelConfig::head_dim},
      {"hidden", &ModelConfig::ffn},
      {"vocabulary", &ModelConfig::vocab},
      {"experts", &ModelConfig::experts},
      {"chosen experts", &ModelConfig::chosen_experts},
      {"expert hidden", &ModelConfig::expert_ffn}};
  for (const auto& [name, size] : sizes) {
    if (a.*size != b.*size) return Another(fmt::format("{} of {} and {}", name, a.*size, b.*size));
  }
  if (a.family != b.family) return Another("of another family");
  if (a.RotaryDim() != b.RotaryDim() || !SameScaling(a.rope_scaling, b.rope_scaling)) {
    return Another("its positions are rotated otherwise");
  }
  if (!SameTraits(a, b)) return Another("its layers have other windows, rotations or experts");
  if (Manner(a) != Manner(b)) return Another("its config.json says otherwise");
  return {};
}

Result<void> CheckSameDecoder(const ModelConfig& a, const Model& b) {
  HONE_RETURN_IF_ERROR(CheckSameDecoder(a, b.config));
  ModelConfig headless = a;
  headless.scalar_head = false;
  for (const Parameter& wanted : ModelShape(headless).parameters) {
    const bool has =
        std::any_of(b.parameters.begin(), b.parameters.end(), [&](const Parameter& parameter) {
          return parameter.name == wanted.name && parameter.shape == wanted.shape;
        });
    if (!has) return Another(fmt::format("{} is missing or of another shape", wanted.name));
  }
  return {};
}

}  // namespace hone
