#include "engine/weights/gguf_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "engine/weights/gguf_names.h"
#include "support/golden_models.h"

namespace hone {
namespace {

const std::filesystem::path kModels = GoldenModels();

class GgufModel : public testing::Test {
 protected:
  void Write(const Model& model, GgmlType type, const GgufMetadata& more = {}) {
    const auto written = WriteGgufModel(model, type, more, path_);
    ASSERT_TRUE(written.ok()) << written.error().message();
  }
  Result<Model> Load() {
    HONE_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(path_));
    return LoadGgufModel(file);
  }
  // A model of two layers whose keys and tensors the test may change before they are written.
  void Prepare(ModelConfig::Family family) {
    ModelConfig config;
    config.family = family;
    config.qk_norm = family == ModelConfig::Family::kQwen3;
    config.qkv_bias = family == ModelConfig::Family::kQwen2;
    config.layers = 2;
    Model model = NewModel(config);
    InitializeModel(1, &model);
    Write(model, GgmlType::kF32);
    const auto file = GgufFile::Open(path_);
    ASSERT_TRUE(file.ok());
    for (const auto& [key, value] : file->metadata()) metadata_.emplace_back(key, value);
    for (const auto& [name, tensor] : file->tensors()) {
      std::vector<std::byte> bytes(tensor.bytes.begin(), tensor.bytes.end());
      tensors_.push_back({name, tensor.layout->type, tensor.shape,
                          [bytes] { return Result<std::vector<std::byte>>(bytes); }});
    }
  }
  void ExpectRefused(const std::string& part) {
    ASSERT_TRUE(WriteGguf(path_, metadata_, tensors_).ok());
    const auto model = Load();
    ASSERT_FALSE(model.ok()) << part;
    EXPECT_NE(model.error().message().find("x.gguf"), std::string::npos);
    EXPECT_NE(model.error().message().find(part), std::string::npos) << model.error().message();
  }
  GgufValue& Value(const std::string& key) {
    for (auto& [name, value] : metadata_) {
      if (name == key) return value;
    }
    metadata_.emplace_back(key, uint32_t{0});
    return metadata_.back().second;
  }

  TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_.path() / "x.gguf";
  GgufMetadata metadata_;
  std::vector<GgufTensorSource> tensors_;
  size_t divisors_ = 0;
};

TEST_F(GgufModel, AModelComesBackAsItWentWithEveryBitOfF32) {
  for (const char* name : {"qwen2", "qwen3", "llama3"}) {
    const auto model = LoadModel(kModels / name);
    ASSERT_TRUE(model.ok()) << model.error().message();
    Write(*model, GgmlType::kF32);
    const auto again = Load();
    ASSERT_TRUE(again.ok()) << again.error().message();
    ASSERT_EQ(again->parameters.size(), model->parameters.size());
    for (size_t i = 0; i < model->parameters.size(); ++i) {
      EXPECT_EQ(again->parameters[i].name, model->parameters[i].name);
      EXPECT_EQ(again->parameters[i].value, model->parameters[i].value);
    }
    const ModelConfig &a = again->config, &b = model->config;
    EXPECT_EQ(a.norm_eps, b.norm_eps);
    EXPECT_EQ(a.rope_theta, b.rope_theta);
    EXPECT_EQ(a.max_positions, b.max_positions);
    EXPECT_EQ(a.tied_embeddings, b.tied_embeddings);
    EXPECT_EQ(a.kv_heads, b.kv_heads);
    ASSERT_EQ(a.rope_scaling.has_value(), b.rope_scaling.has_value());
    if (a.rope_scaling) {
      EXPECT_EQ(a.rope_scaling->factor, b.rope_scaling->factor);
      EXPECT_EQ(a.rope_scaling->original_positions, b.rope_scaling->original_positions);
    }
    // What is loaded can be saved as a folder, and says the same there.
    ASSERT_TRUE(SaveModel(*again, SaveType::kF32, directory_.path() / "folder").ok());
    EXPECT_TRUE(LoadModel(directory_.path() / "folder").ok());
  }
}

TEST_F(GgufModel, SmallerTypesKeepTheWeightsWithinTheirError) {
  const auto model = LoadModel(kModels / "llama3");
  ASSERT_TRUE(model.ok());
  for (const GgmlType type : {GgmlType::kF16, GgmlType::kBF16, GgmlType::kQ8_0}) {
    Write(*model, type);
    const auto again = Load();
    ASSERT_TRUE(again.ok()) << again.error().message();
    for (size_t i = 0; i < model->parameters.size(); ++i) {
      double error = 0, size = 0;
      for (size_t j = 0; j < model->parameters[i].value.size(); ++j) {
        const double own = model->parameters[i].value[j];
        error += std::pow(again->parameters[i].value[j] - own, 2);
        size += own * own;
      }
      EXPECT_LE(error, size * 1e-4) << model->parameters[i].name;
    }
  }
}

TEST_F(GgufModel, ARowOfLlamaStandsWhereItsPairBecomesANeighbour) {
  // Heads of eight: the pair (0, 4) is at 0 and 1, (1, 5) at 2 and 3.
  std::vector<int64_t> places;
  for (int64_t row = 0; row < 16; ++row) places.push_back(StoredRow(row, 8));
  EXPECT_EQ(places, (std::vector<int64_t>{0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15}));
  EXPECT_TRUE(
      RowsAreReordered(ModelConfig::Family::kLlama, "model.layers.0.self_attn.k_proj.bias"));
  EXPECT_FALSE(
      RowsAreReordered(ModelConfig::Family::kLlama, "model.layers.0.self_attn.v_proj.weight"));
  EXPECT_FALSE(
      RowsAreReordered(ModelConfig::Family::kQwen2, "model.layers.0.self_attn.q_proj.weight"));
}

TEST_F(GgufModel, OnlyLlamaHasItsRowsInAnotherOrderInTheFile) {
  for (const char* name : {"llama3", "qwen3"}) {
    const auto model = LoadModel(kModels / name);
    ASSERT_TRUE(model.ok());
    Write(*model, GgmlType::kF32);
    const auto file = GgufFile::Open(path_);
    ASSERT_TRUE(file.ok());
    const GgufTensor* tensor = file->FindTensor("blk.1.attn_q.weight");
    ASSERT_NE(tensor, nullptr);
    std::vector<float> stored(static_cast<size_t>(tensor->count()));
    Dequantise(*tensor->layout, tensor->bytes, stored);
    const std::vector<float>& own = model->parameters[model->layers[1].q].value;
    EXPECT_EQ(stored == own, std::string(name) == "qwen3");
    const auto width = static_cast<size_t>(model->config.width);
    const auto half = static_cast<size_t>(model->config.head_dim / 2);
    const size_t second = std::string(name) == "qwen3" ? 1 : half;
    EXPECT_EQ(stored[width], own[second * width]) << "the first number of the second row";
  }
}

TEST_F(GgufModel, MetasStretchingIsKnownByItsDivisorsAlone) {
  ModelConfig config;
  config.family = ModelConfig::Family::kLlama;
  config.layers = 1;
  config.head_dim = 128;
  config.rope_theta = 500000;
  config.rope_scaling = RopeScaling{.factor = 32};
  Write(NewModel(config), GgmlType::kF16);
  // Without our own keys, as other programs write it.
  const auto file = GgufFile::Open(path_);
  ASSERT_TRUE(file.ok());
  for (const auto& [key, value] : file->metadata()) {
    if (!key.starts_with("hone.")) metadata_.emplace_back(key, value);
  }
  for (const auto& [name, tensor] : file->tensors()) {
    std::vector<std::byte> bytes(tensor.bytes.begin(), tensor.bytes.end());
    if (name == kRopeDivisorsName) divisors_ = tensors_.size();
    tensors_.push_back({name, tensor.layout->type, tensor.shape,
                        [bytes] { return Result<std::vector<std::byte>>(bytes); }});
  }
  ASSERT_TRUE(WriteGguf(path_, metadata_, tensors_).ok());
  const auto model = Load();
  ASSERT_TRUE(model.ok()) << model.error().message();
  ASSERT_TRUE(model->config.rope_scaling.has_value());
  EXPECT_EQ(model->config.rope_scaling->factor, 32);
  EXPECT_EQ(model->config.rope_scaling->original_positions, 8192);
  std::vector<float> odd(64, 3.0f);
  odd[5] = 2;
  tensors_[divisors_].blocks = [odd] { return Quantise(GgmlType::kF32, odd); };
  ExpectRefused("tensor rope_freqs.weight: its numbers are not those");
}

TEST_F(GgufModel, KeysThatAreNotUnderstoodAreRefusedByName) {
  Prepare(ModelConfig::Family::kQwen3);
  Value("qwen3.rope.scaling.type") = std::string("yarn");
  ExpectRefused("key qwen3.rope.scaling.type is \"yarn\"");
  Value("qwen3.rope.scaling.type") = std::string("none");
  Value("qwen3.rope.scaling.factor") = 4.0f;
  ExpectRefused("key qwen3.rope.scaling.factor asks for what Hone does not compute");
  Value("qwen3.rope.scaling.factor") = 1.0f;
  ASSERT_TRUE(WriteGguf(path_, metadata_, tensors_).ok());
  EXPECT_TRUE(Load().ok());
  Value("qwen3.attention.something_new") = true;
  ExpectRefused("key qwen3.attention.something_new is not understood");
}

TEST_F(GgufModel, ShapesThatDoNotFitAreRefusedBeforeMemoryIsTaken) {
  Prepare(ModelConfig::Family::kQwen3);
  const GgufMetadata right = metadata_;
  const auto with = [&](const std::string& key, GgufValue value, const std::string& part) {
    metadata_ = right;
    Value(key) = std::move(value);
    ExpectRefused(part);
  };
  with("general.architecture", std::string("mamba"), "the architecture \"mamba\" is not one of");
  with("qwen3.block_count", uint32_t{4000000000}, "num_hidden_layers");
  with("split.count", uint16_t{3}, "key split.count: this is one of 3 files");
  with("qwen3.block_count", uint32_t{9000}, "its keys ask for");
  with("qwen3.block_count", std::string("two"), "key qwen3.block_count is not an integer");
  with("qwen3.attention.head_count", uint32_t{0}, "num_attention_heads");
  with("qwen3.attention.head_count_kv", GgufArray(std::vector<int32_t>{2, 1}),
       "key qwen3.attention.head_count_kv has another value in every layer");
  with("qwen3.rope.dimension_count", uint32_t{16}, "key qwen3.rope.dimension_count");
  with("qwen3.feed_forward_length", uint32_t{128}, "tensor blk.0.ffn_gate.weight: its shape");
  with("qwen3.attention.layer_norm_rms_epsilon", std::nanf(""), "rms_norm_eps");
  metadata_ = right;
  Value("qwen3.attention.head_count_kv") = GgufArray(std::vector<int32_t>{2, 2});
  ASSERT_TRUE(WriteGguf(path_, metadata_, tensors_).ok());
  EXPECT_TRUE(Load().ok()) << "the same in every layer";
}

TEST_F(GgufModel, TensorsThatDoNotFitAreNamed) {
  Prepare(ModelConfig::Family::kQwen2);
  const std::vector<GgufTensorSource> right = tensors_;
  std::erase_if(tensors_, [](const auto& tensor) { return tensor.name == "blk.1.attn_v.bias"; });
  ExpectRefused("its keys ask for");
  tensors_.push_back({"more", GgmlType::kF32, {1 << 12}, [] {
                        return Quantise(GgmlType::kF32, std::vector<float>(1 << 12));
                      }});
  ExpectRefused("tensor blk.1.attn_v.bias is missing");
  tensors_ = right;
  tensors_.push_back({"blk.0.ffn_gate_exps.weight", GgmlType::kF32, {1}, [] {
                        return Quantise(GgmlType::kF32, std::vector<float>(1));
                      }});
  ExpectRefused("tensor blk.0.ffn_gate_exps.weight belongs to no part");
  tensors_ = right;
  for (auto& tensor : tensors_) {
    if (tensor.name != "output_norm.weight") continue;
    const auto count = static_cast<size_t>(tensor.shape[0]);
    tensor.blocks = [=] {
      return Quantise(GgmlType::kF32, std::vector<float>(count, std::nanf("")));
    };
  }
  ExpectRefused("tensor output_norm.weight: holds a number that is not finite");
}

TEST_F(GgufModel, WhatATypeCannotHoldIsNotWritten) {
  ModelConfig config;
  Model model = NewModel(config);
  model.parameters[model.layers[0].gate].value[3] = 70000;
  EXPECT_TRUE(WriteGgufModel(model, GgmlType::kBF16, {}, path_).ok());
  const auto written = WriteGgufModel(model, GgmlType::kF16, {}, path_);
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message().find("tensor blk.0.ffn_gate.weight: 70000 is too large"),
            std::string::npos)
      << written.error().message();
}

}  // namespace
}  // namespace hone
