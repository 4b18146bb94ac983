#include "engine/weights/model_match.h"

#include <gtest/gtest.h>

#include <functional>

#include "engine/engine.h"

namespace hone {
namespace {

TEST(ModelMatch, WhateverComputesOtherwiseIsAnotherModel) {
  ModelConfig config;
  config.layers = 2;
  config.experts = 4;
  config.chosen_experts = 2;
  config.expert_ffn = 8;
  config.traits = {{.experts = true}, {.window = 16, .rope = LayerTraits::Rope::kLocal}};
  EXPECT_TRUE(CheckSameDecoder(config, config).ok());
  ModelConfig longer = config;
  longer.max_positions = 7;
  longer.scalar_head = true;
  EXPECT_TRUE(CheckSameDecoder(config, longer).ok());
  const std::vector<std::function<void(ModelConfig&)>> changes = {
      [](ModelConfig& c) { c.layers = 3; },
      [](ModelConfig& c) { c.chosen_experts = 1; },
      [](ModelConfig& c) { c.expert_ffn = 16; },
      [](ModelConfig& c) { c.normalised_experts = false; },
      [](ModelConfig& c) { c.expert_bias = true; },
      [](ModelConfig& c) { c.output_bias = true; },
      [](ModelConfig& c) { c.sinks = true; },
      [](ModelConfig& c) { c.traits[1].window = 8; },
      [](ModelConfig& c) { c.traits[1].experts = true; },
      [](ModelConfig& c) { c.traits.clear(); },
      [](ModelConfig& c) { c.rope_scaling = RopeScaling(); },
      [](ModelConfig& c) { c.local_rope_theta = 5; },
      [](ModelConfig& c) { c.rotary_dim = 8; },
      [](ModelConfig& c) { c.attention_scale = 0.5; },
      [](ModelConfig& c) { c.attention_cap = 50; },
      [](ModelConfig& c) { c.logit_cap = 30; },
      [](ModelConfig& c) { c.activation = ModelConfig::Activation::kGelu; },
      [](ModelConfig& c) { c.norm_adds_one = true; },
      [](ModelConfig& c) { c.family = ModelConfig::Family::kLlama; }};
  for (size_t i = 0; i < changes.size(); ++i) {
    ModelConfig other = config;
    changes[i](other);
    EXPECT_FALSE(CheckSameDecoder(config, other).ok()) << i;
  }
}

TEST(ModelMatch, AnEngineTakesNoParametersOfAnotherShape) {
  ModelConfig config;
  config.layers = 1;
  config.width = 32;
  config.heads = config.kv_heads = 2;
  config.head_dim = 16;
  Model other = NewModel(config);
  EXPECT_TRUE(CheckSameDecoder(config, other).ok());
  AddScalarHead(&other);
  EXPECT_TRUE(CheckSameDecoder(config, other).ok());
  Engine engine(NewModel(config), {.threads = 1});
  const std::string before = engine.WeightsHash();
  Model renamed = NewModel(config);
  renamed.parameters[1].name = "else";
  const Result<void> refused = engine.Become(std::move(renamed));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("is missing or of another shape"), std::string::npos);
  EXPECT_EQ(engine.WeightsHash(), before);
}

}  // namespace
}  // namespace hone
