#include "engine/model_config.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "engine/safetensors.h"
#include "support/golden_models.h"

namespace hone {
namespace {

const std::filesystem::path kModels = GoldenModels();

// config.json and model.safetensors written by Hugging Face transformers.
TEST(ModelConfig, ReadsTheThreeFamiliesAndCountsTheirParameters) {
  for (const char* name : {"qwen2", "qwen3", "llama3"}) {
    const auto folder = kModels / name;
    auto config = LoadModelConfig(folder);
    ASSERT_TRUE(config.ok()) << config.error().message();
    auto tensors = CheckpointTensors::Open(folder);
    ASSERT_TRUE(tensors.ok());
    int64_t parameters = 0;
    for (const auto& [tensor, view] : tensors->tensors()) parameters += view.count();
    EXPECT_EQ(config->ParameterCount(), parameters) << name;
    EXPECT_EQ(config->kv_heads, 2);
    EXPECT_EQ(config->tied_embeddings, std::string_view(name) == "qwen2");
    EXPECT_EQ(config->qkv_bias, std::string_view(name) == "qwen2");
    EXPECT_EQ(config->qk_norm, std::string_view(name) == "qwen3");
    EXPECT_EQ(config->rope_scaling.has_value(), std::string_view(name) == "llama3");
  }
}

TEST(ModelConfig, WhatIsReadIsWrittenBackAsItWas) {
  const std::string text = *ReadFile(kModels / "llama3/config.json");
  auto config = ModelConfigFromJson(*ParseJson(text));
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(ModelConfigToJson(*config), *ParseJson(text));
}

TEST(ModelConfig, AFreshConfigReadsBackToTheSame) {
  ModelConfig fresh;
  fresh.family = ModelConfig::Family::kLlama;
  fresh.rope_scaling = RopeScaling{};
  fresh.rope_theta = 500000;
  auto again = ModelConfigFromJson(ModelConfigToJson(fresh));
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->ParameterCount(), fresh.ParameterCount());
  EXPECT_EQ(again->rope_theta, 500000);
  ASSERT_TRUE(again->rope_scaling.has_value());
  EXPECT_EQ(again->rope_scaling->original_positions, 8192);
}

std::string ErrorWith(std::string_view key, Json value) {
  Json json = *ParseJson(*ReadFile(kModels / "qwen3/config.json"));
  json.Set(key, std::move(value));
  auto config = ModelConfigFromJson(json);
  return config.ok() ? "" : config.error().message();
}

TEST(ModelConfig, WhatCannotBeComputedIsRefusedByName) {
  EXPECT_EQ(ErrorWith("model_type", "gpt_neox"),
            "the architecture \"gpt_neox\" is not one of qwen2, qwen3, llama");
  EXPECT_EQ(ErrorWith("hidden_size", "big"),
            "\"hidden_size\" must be an integer from 1 to 4194304");
  EXPECT_EQ(ErrorWith("num_hidden_layers", nullptr), "\"num_hidden_layers\" is missing");
  EXPECT_EQ(ErrorWith("num_key_value_heads", 3),
            "\"num_key_value_heads\" must divide num_attention_heads");
  EXPECT_EQ(ErrorWith("head_dim", 31), "\"head_dim\" must be even");
  EXPECT_EQ(ErrorWith("head_dim", 4194304), "\"head_dim\" is out of reach");
  EXPECT_EQ(ErrorWith("num_hidden_layers", 1000000), "\"num_hidden_layers\" is out of reach");
  EXPECT_EQ(ErrorWith("hidden_act", "gelu"), "the activation \"gelu\" is not \"silu\"");
  EXPECT_EQ(ErrorWith("use_sliding_window", true), "sliding windows are not supported");
  EXPECT_EQ(ErrorWith("rms_norm_eps", -1.0), "\"rms_norm_eps\" must be a number greater than 0");
  EXPECT_EQ(ErrorWith("rope_parameters", Json::Of({{"rope_type", "yarn"}})),
            "\"rope_parameters\" the rope type \"yarn\" is not one of default, llama3");
}

TEST(ModelConfig, AMissingFileIsNamed) {
  TemporaryDirectory directory;
  auto config = LoadModelConfig(directory.path());
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hone
