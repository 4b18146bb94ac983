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
            "the architecture \"gpt_neox\" is not one of qwen2, qwen3, llama, mistral, ministral, "
            "smollm3, phi3, gemma, gemma2, gemma3_text, qwen3_moe, gpt_oss");
  EXPECT_EQ(ErrorWith("hidden_size", "big"),
            "\"hidden_size\" must be an integer from 1 to 4194304");
  EXPECT_EQ(ErrorWith("num_hidden_layers", nullptr), "\"num_hidden_layers\" is missing");
  EXPECT_EQ(ErrorWith("num_key_value_heads", 3),
            "\"num_key_value_heads\" must divide num_attention_heads");
  EXPECT_EQ(ErrorWith("head_dim", 31), "\"head_dim\" must be even");
  EXPECT_EQ(ErrorWith("head_dim", 4194304), "\"head_dim\" is out of reach");
  EXPECT_EQ(ErrorWith("num_hidden_layers", 1000000), "\"num_hidden_layers\" is out of reach");
  EXPECT_EQ(ErrorWith("hidden_act", "gelu"), "the activation \"gelu\" is not \"silu\"");
  EXPECT_EQ(ErrorWith("rms_norm_eps", -1.0), "\"rms_norm_eps\" must be a number greater than 0");
  EXPECT_EQ(ErrorWith("rope_parameters", Json::Of({{"rope_type", "dynamic"}})),
            "\"rope_parameters\" the rope type \"dynamic\" is not one of default, linear, llama3, "
            "yarn, longrope");
  EXPECT_EQ(ErrorWith("quantization_config", Json::Of({{"quant_method", "mxfp4"}})),
            "weights that are quantised (quantization_config); load a folder with weights in "
            "bfloat16");
}

ModelConfig Read(const char* name, const std::vector<std::pair<std::string, Json>>& changes) {
  Json json = *ParseJson(*ReadFile(kModels / name / "config.json"));
  for (const auto& [key, value] : changes) json.Set(key, value);
  return ModelConfigFromJson(json).value();
}

// What transformers takes where older files say nothing, or say it in another way.
TEST(ModelConfig, WhatFilesLeaveOutIsWhatTheirFamilyMeans) {
  using Rope = LayerTraits::Rope;
  const ModelConfig gemma2 = Read("gemma2", {{"layer_types", nullptr}});
  EXPECT_EQ(gemma2.TraitsOf(0).window, 21);
  EXPECT_EQ(gemma2.TraitsOf(1).window, 0);
  EXPECT_EQ(Read("gemma2", {{"attn_logit_softcapping", nullptr}}).attention_cap, 0);
  const ModelConfig gemma3 = Read("gemma3", {{"layer_types", nullptr},
                                             {"rope_parameters", nullptr},
                                             {"num_hidden_layers", 6},
                                             {"rope_theta", 1e6},
                                             {"rope_local_base_freq", 5000.0}});
  EXPECT_EQ(gemma3.TraitsOf(4).window, 21);
  EXPECT_EQ(gemma3.TraitsOf(5).window, 0);
  EXPECT_EQ(gemma3.TraitsOf(4).rope, Rope::kLocal);
  EXPECT_EQ(gemma3.local_rope_theta, 5000);
  const ModelConfig smollm3 = Read(
      "smollm3", {{"no_rope_layers", nullptr}, {"layer_types", nullptr}, {"num_hidden_layers", 8}});
  EXPECT_EQ(smollm3.TraitsOf(3).rope, Rope::kNone);
  EXPECT_EQ(smollm3.TraitsOf(4).rope, Rope::kGlobal);
  EXPECT_TRUE(Read("mistral", {{"sliding_window", nullptr}}).traits.empty());
  EXPECT_EQ(Read("qwen2-window", {{"layer_types", nullptr}}).TraitsOf(0).window, 0);
  EXPECT_EQ(Read("qwen2-window", {{"layer_types", nullptr}}).TraitsOf(1).window, 21);
}

// Windows by layer, where layer_types says nothing.
std::vector<int64_t> WindowsOf(const char* name,
                               std::vector<std::pair<std::string, Json>> changes) {
  changes.emplace_back("layer_types", nullptr);
  const ModelConfig config = Read(name, changes);
  std::vector<int64_t> windows;
  for (int64_t i = 0; i < config.layers; ++i) windows.push_back(config.TraitsOf(i).window);
  return windows;
}

TEST(ModelConfig, WindowsStandWhereTransformersPutsThem) {
  using List = std::vector<int64_t>;
  EXPECT_EQ(WindowsOf("gemma3", {{"sliding_window_pattern", 2}}), (List{21, 0, 21}));
  EXPECT_EQ(WindowsOf("gemma3", {{"num_hidden_layers", 7}}), (List{21, 21, 21, 21, 21, 0, 21}));
  List late(30, 0);
  late[28] = late[29] = 21;
  EXPECT_EQ(WindowsOf("qwen2-window", {{"max_window_layers", nullptr}, {"num_hidden_layers", 30}}),
            late);
  EXPECT_EQ(WindowsOf("qwen2-window", {{"max_window_layers", 0}}), (List{21, 21, 21}));
  const std::vector<std::pair<std::string, Json>> on = {{"use_sliding_window", true},
                                                        {"sliding_window", 21}};
  EXPECT_EQ(WindowsOf("smollm3", on), (List{0, 21, 0})) << "only what turns nothing";
  EXPECT_EQ(WindowsOf("smollm3", {on[0]}), (List{0, 0, 0}));
  EXPECT_EQ(WindowsOf("smollm3", {on[1]}), (List{0, 0, 0}));
}

TEST(ModelConfig, QwensExpertsHaveOneMaskForAllLayers) {
  const ModelConfig config = Read("qwen3-moe", {{"use_sliding_window", true},
                                                {"sliding_window", 21},
                                                {"max_window_layers", 2},
                                                {"layer_types", Json::Array{"full_attention"}}});
  for (int64_t i = 0; i < config.layers; ++i) EXPECT_EQ(config.TraitsOf(i).window, 21);
  EXPECT_EQ(Read("qwen3-moe", {{"use_sliding_window", true}}).TraitsOf(0).window, 0);
}

TEST(ModelConfig, PositionsAreStretchedAsTheFamilysClassDoesIt) {
  using Kind = RopeScaling::Kind;
  Json rope = *ParseJson(*ReadFile(kModels / "phi4-mini/config.json"))->Find("rope_parameters");
  const RopeScaling longer = *Read("phi4-mini", {}).rope_scaling;
  for (const char* name : {"su", "yarn"}) {
    rope.Set("rope_type", name);
    const RopeScaling same = *Read("phi4-mini", {{"rope_parameters", rope}}).rope_scaling;
    EXPECT_EQ(same.kind, Kind::kLong) << name;
    EXPECT_EQ(same.divisors, longer.divisors) << name;
  }
  EXPECT_EQ(Read("llama-yarn", {}).rope_scaling->kind, Kind::kYarn);
  const ModelConfig gpt_oss = Read("gpt-oss", {{"rope_parameters", nullptr}});
  ASSERT_TRUE(gpt_oss.rope_scaling.has_value());
  EXPECT_EQ(gpt_oss.rope_scaling->kind, Kind::kYarn);
  EXPECT_EQ(gpt_oss.rope_scaling->factor, 32);
  EXPECT_EQ(gpt_oss.rope_scaling->original_positions, 4096);
  EXPECT_EQ(gpt_oss.rope_scaling->beta_fast, 32);
  EXPECT_EQ(gpt_oss.rope_scaling->beta_slow, 1);
  EXPECT_FALSE(gpt_oss.rope_scaling->truncate);
  EXPECT_EQ(gpt_oss.rope_theta, 150000);
}

std::string ProblemOf(const char* name, const char* key, Json value) {
  Json json = *ParseJson(*ReadFile(kModels / name / "config.json"));
  json.Set(key, std::move(value));
  const auto config = ModelConfigFromJson(json);
  return config.ok() ? "" : config.error().message();
}

TEST(ModelConfig, OriginalPositionsThatGiveNoNumbersAreRefused) {
  constexpr char kOriginal[] = "original_max_position_embeddings";
  Json rope = *ParseJson(*ReadFile(kModels / "phi4-mini/config.json"))->Find("rope_parameters");
  rope.Set(kOriginal, 1);
  EXPECT_EQ(ProblemOf("phi4-mini", "rope_parameters", rope),
            "\"rope_parameters\" \"original_max_position_embeddings\" must be 2 at least");
  rope.Set(kOriginal, nullptr);
  Json json = *ParseJson(*ReadFile(kModels / "phi4-mini/config.json"));
  json.Set("rope_parameters", rope);
  for (const Json& bad : {Json(0), Json(1), Json("many")}) {
    json.Set(kOriginal, bad);
    const auto config = ModelConfigFromJson(json);
    ASSERT_FALSE(config.ok()) << DumpJson(bad);
    EXPECT_NE(config.error().message().find(kOriginal), std::string::npos);
  }
  json.Set(kOriginal, 2);
  EXPECT_TRUE(ModelConfigFromJson(json).ok());
}

// A small file that would ask for more memory than any machine has.
TEST(ModelConfig, ExpertsThatCannotBeCountedAreRefused) {
  Json json = Json::Of({{"model_type", "qwen3_moe"},
                        {"num_hidden_layers", 10000},
                        {"hidden_size", 4194304},
                        {"intermediate_size", 4194304},
                        {"moe_intermediate_size", 4194304},
                        {"num_experts", 65535},
                        {"num_attention_heads", 1},
                        {"num_key_value_heads", 1},
                        {"head_dim", 2},
                        {"vocab_size", 1}});
  const auto config = ModelConfigFromJson(json);
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().message(), "\"num_experts\" is out of reach");
  json.Set("num_hidden_layers", 2);
  EXPECT_GT(ModelConfigFromJson(json)->ParameterCount(), int64_t{1} << 62);
  json.Set("model_type", "gpt_oss");
  EXPECT_GT(ModelConfigFromJson(json)->ParameterCount(), int64_t{1} << 62);
}

TEST(ModelConfig, WhatAFamilyNeedsIsAskedForByName) {
  EXPECT_EQ(ProblemOf("gemma2", "layer_types", Json::Array{"full_attention"}),
            "\"layer_types\" must name the kind of each layer");
  EXPECT_EQ(ProblemOf("gpt-oss", "num_experts_per_tok", 9),
            "\"num_experts_per_tok\" is more than there are experts");
  EXPECT_EQ(ProblemOf("qwen3-moe", "mlp_only_layers", Json::Array{7}),
            "\"mlp_only_layers\" names a layer that there is not");
  EXPECT_EQ(ProblemOf("gemma", "hidden_activation", "relu"),
            "the activation \"relu\" is not \"gelu_pytorch_tanh\"");
  EXPECT_EQ(ProblemOf("gpt-oss", "swiglu_limit", 3.0), "a swiglu_limit other than 7");
}

TEST(ModelConfig, AMissingFileIsNamed) {
  TemporaryDirectory directory;
  auto config = LoadModelConfig(directory.path());
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hone
