#include "engine/families/rope_config.h"

#include <cmath>

#include <fmt/format.h>

namespace hone {
namespace {

void ReadLlama3(ConfigReader* rope, RopeScaling* scaling) {
  scaling->factor = rope->Positive("factor", scaling->factor);
  scaling->low_freq_factor = rope->Positive("low_freq_factor", scaling->low_freq_factor);
  scaling->high_freq_factor = rope->Positive("high_freq_factor", scaling->high_freq_factor);
  scaling->original_positions =
      rope->Size("original_max_position_embeddings", scaling->original_positions);
  if (scaling->high_freq_factor <= scaling->low_freq_factor) {
    rope->Problem("high_freq_factor", "must be greater than low_freq_factor");
  }
}

// How much attention's scores grow with the stretch, as YaRN's authors found.
double YarnGrowth(double factor, double mscale) {
  return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1;
}

void ReadYarn(ConfigReader* rope, const ModelConfig& config, RopeScaling* scaling) {
  scaling->original_positions =
      rope->Size("original_max_position_embeddings", config.max_positions);
  scaling->factor = rope->Positive("factor", static_cast<double>(config.max_positions) /
                                                 static_cast<double>(scaling->original_positions));
  scaling->beta_fast = rope->Positive("beta_fast", scaling->beta_fast);
  scaling->beta_slow = rope->Positive("beta_slow", scaling->beta_slow);
  scaling->truncate = rope->Flag("truncate", true);
  double growth = YarnGrowth(scaling->factor, 1);
  if (rope->Find("mscale") != nullptr && rope->Find("mscale_all_dim") != nullptr) {
    growth = YarnGrowth(scaling->factor, rope->Positive("mscale", 1)) /
             YarnGrowth(scaling->factor, rope->Positive("mscale_all_dim", 1));
  }
  scaling->attention_factor = rope->Positive("attention_factor", growth);
  if (scaling->beta_fast <= scaling->beta_slow) {
    rope->Problem("beta_fast", "must be greater than beta_slow");
  }
}

// Phi-3's. Its models keep the original positions beside the others, at the top.
void ReadLong(const Json& parameters, ConfigReader* top, ConfigReader* rope, ModelConfig* config,
              RopeScaling* scaling) {
  constexpr char kOriginal[] = "original_max_position_embeddings";
  scaling->original_positions = rope->Size(kOriginal, top->Size(kOriginal, 4096));
  if (scaling->original_positions < 2) rope->Problem(kOriginal, "must be 2 at least");
  const Json* divisors = parameters.Find("short_factor");
  const auto pairs = static_cast<size_t>(config->RotaryDim() / 2);
  bool good = divisors != nullptr && divisors->is_array() && divisors->AsArray().size() == pairs;
  for (size_t i = 0; good && i < pairs; ++i) {
    const Json& value = divisors->AsArray()[i];
    good = value.is_number() && value.AsDouble() > 0;
    if (good) scaling->divisors.push_back(value.AsDouble());
  }
  if (!good) rope->Problem("short_factor", fmt::format("must be {} numbers above 0", pairs));
  const double stretch =
      rope->Positive("factor", static_cast<double>(config->max_positions) /
                                   static_cast<double>(scaling->original_positions));
  const double growth =
      stretch <= 1 ? 1
                   : std::sqrt(1 + std::log(stretch) /
                                       std::log(static_cast<double>(scaling->original_positions)));
  scaling->attention_factor = rope->Positive("attention_factor", growth);
  config->max_positions = std::min(config->max_positions, scaling->original_positions);
}

// What one object of rope settings says.
void ReadOne(const Json& parameters, ConfigReader* top, ModelConfig* config) {
  ConfigReader rope(parameters);
  config->rope_theta = rope.Positive("rope_theta", config->rope_theta);
  const double share = rope.Positive("partial_rotary_factor", 1);
  if (share < 1) {
    config->rotary_dim = static_cast<int64_t>(share * static_cast<double>(config->head_dim));
    if (config->rotary_dim < 2 || config->rotary_dim % 2 != 0) {
      rope.Problem("partial_rotary_factor", "must leave an even number of a head's numbers");
      config->rotary_dim = 0;
    }
  }
  std::string name = rope.Text("rope_type", rope.Text("type", "default"));
  // What older files of Phi-3 call it.
  if (name == "su" || (name == "yarn" && config->family == ModelConfig::Family::kPhi3)) {
    name = "longrope";
  }
  RopeScaling scaling;
  if (name == "llama3") {
    ReadLlama3(&rope, &scaling);
  } else if (name == "linear") {
    scaling.kind = RopeScaling::Kind::kLinear;
    scaling.factor = rope.Positive("factor", 1);
  } else if (name == "yarn") {
    scaling.kind = RopeScaling::Kind::kYarn;
    ReadYarn(&rope, *config, &scaling);
  } else if (name == "longrope") {
    scaling.kind = RopeScaling::Kind::kLong;
    ReadLong(parameters, top, &rope, config, &scaling);
  } else if (name != "default") {
    rope.Unsupported(fmt::format(
        "the rope type \"{}\" is not one of default, linear, llama3, yarn, longrope", name));
  }
  if (name != "default") config->rope_scaling = scaling;
  if (rope.error()) top->Problem("rope_parameters", rope.error()->message());
}

// What gpt-oss's class has where a file says nothing.
Json GptOssRope() {
  return Json::Of({{"rope_type", "yarn"},
                   {"factor", 32.0},
                   {"beta_fast", 32.0},
                   {"beta_slow", 1.0},
                   {"truncate", false},
                   {"original_max_position_embeddings", 4096}});
}

}  // namespace

void ReadRope(ConfigReader* top, ModelConfig* config) {
  config->rope_theta = top->Positive("rope_theta", config->rope_theta);
  config->local_rope_theta = top->Positive("rope_local_base_freq", config->local_rope_theta);
  if (const Json* share = top->Find("partial_rotary_factor"); share != nullptr) {
    ReadOne(Json::Of({{"partial_rotary_factor", *share}}), top, config);
  }
  const Json* parameters = top->Find("rope_parameters");
  if (parameters == nullptr || !parameters->is_object()) parameters = top->Find("rope_scaling");
  if (parameters == nullptr || !parameters->is_object()) {
    if (config->family == ModelConfig::Family::kGptOss) ReadOne(GptOssRope(), top, config);
    return;
  }
  const Json* global = parameters->Find("full_attention");
  if (global == nullptr) return ReadOne(*parameters, top, config);
  if (global->is_object()) ReadOne(*global, top, config);
  const Json* local = parameters->Find("sliding_attention");
  if (local == nullptr || !local->is_object()) return;
  ConfigReader rope(*local);
  config->local_rope_theta = rope.Positive("rope_theta", config->local_rope_theta);
  if (rope.Text("rope_type", "default") != "default") {
    rope.Unsupported("only layers without a window can have stretched positions");
  }
  if (rope.error()) top->Problem("rope_parameters", rope.error()->message());
}

}  // namespace hone
