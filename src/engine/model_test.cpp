#include "engine/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "engine/safetensors.h"
#include "support/golden_models.h"

namespace hone {
namespace {

const std::filesystem::path kModels = GoldenModels();

TEST(Model, SavingAndLoadingKeepsEveryBitAndThenEveryByte) {
  for (const char* name : {"qwen2", "qwen3", "llama3"}) {
    TemporaryDirectory directory;
    auto model = LoadModel(kModels / name);
    ASSERT_TRUE(model.ok()) << model.error().message();
    for (const SaveType type : {SaveType::kF32, SaveType::kBf16}) {
      ASSERT_TRUE(SaveModel(*model, type, directory.path() / "a").ok());
      auto again = LoadModel(directory.path() / "a");
      ASSERT_TRUE(again.ok()) << again.error().message();
      ASSERT_TRUE(SaveModel(*again, type, directory.path() / "b").ok());
      for (const char* file : {"model.safetensors", "config.json"}) {
        EXPECT_EQ(*ReadFile(directory.path() / "a" / file),
                  *ReadFile(directory.path() / "b" / file));
      }
      if (type == SaveType::kF32) {
        for (size_t i = 0; i < model->parameters.size(); ++i) {
          EXPECT_EQ(again->parameters[i].value, model->parameters[i].value);
        }
      }
    }
  }
}

TEST(Model, FreshWeightsAreTheSameForTheSameSeed) {
  ModelConfig config;
  Model a = NewModel(config), b = NewModel(config), c = NewModel(config);
  InitializeModel(7, &a);
  InitializeModel(7, &b);
  InitializeModel(8, &c);
  EXPECT_EQ(a.parameters[a.embedding].value, b.parameters[b.embedding].value);
  EXPECT_NE(a.parameters[a.embedding].value, c.parameters[c.embedding].value);
  EXPECT_EQ(a.parameters[a.final_norm].value[0], 1.0f);
  int64_t count = 0;
  for (const Parameter& parameter : a.parameters)
    count += static_cast<int64_t>(parameter.value.size());
  EXPECT_EQ(count, config.ParameterCount());
}

class BrokenModel : public testing::Test {
 protected:
  BrokenModel() {
    std::filesystem::copy(kModels / "qwen3", directory_.path(),
                          std::filesystem::copy_options::recursive);
  }

  // Rewrites the weights with a change.
  template <typename F>
  std::string ErrorAfter(F change) {
    auto file = SafetensorsFile::Open(kModels / "qwen3/model.safetensors");
    auto tensors = file->tensors();
    change(tensors);
    EXPECT_TRUE(WriteSafetensors(directory_.path() / "model.safetensors", tensors, {}).ok());
    auto model = LoadModel(directory_.path());
    return model.ok() ? "" : model.error().message();
  }
  TemporaryDirectory directory_;
};

TEST_F(BrokenModel, ErrorsNameTheTensor) {
  using Tensors = std::map<std::string, TensorView>;
  EXPECT_NE(ErrorAfter([](Tensors& t) {
              t.erase("model.norm.weight");
            }).find("tensor model.norm.weight is missing"),
            std::string::npos);
  EXPECT_NE(ErrorAfter([](Tensors& t) {
              t["extra"] = t["model.norm.weight"];
            }).find("tensor extra belongs to no part"),
            std::string::npos);
  EXPECT_NE(ErrorAfter([](Tensors& t) {
              t["model.norm.weight"].shape = {8, 8};
            }).find("its shape is [8, 8], but config.json asks for [64]"),
            std::string::npos);
  EXPECT_NE(ErrorAfter([](Tensors& t) {
              t["model.norm.weight"].dtype = DType::kI32;
            }).find("is not a floating one"),
            std::string::npos);
  std::vector<float> values(64, 1.0f);
  values[3] = NAN;
  EXPECT_NE(ErrorAfter([&](Tensors& t) {
              t["model.norm.weight"].bytes = std::as_bytes(std::span(values));
            }).find("not finite"),
            std::string::npos);
}

TEST_F(BrokenModel, AHeadThatIsNotTheEmbeddingItIsTiedToIsNotPassedOver) {
  using Tensors = std::map<std::string, TensorView>;
  Json config = *ParseJson(*ReadFile(directory_.path() / "config.json"));
  config.Set("tie_word_embeddings", true);
  ASSERT_TRUE(WriteFileAtomic(directory_.path() / "config.json", DumpJson(config)).ok());
  EXPECT_EQ(ErrorAfter([](Tensors& t) { t["lm_head.weight"] = t["model.embed_tokens.weight"]; }),
            "");
  std::vector<std::byte> bytes;
  EXPECT_NE(ErrorAfter([&](Tensors& t) {
              const auto embedding = t["model.embed_tokens.weight"];
              bytes.assign(embedding.bytes.begin(), embedding.bytes.end());
              bytes[0] ^= std::byte{1};
              t["lm_head.weight"] = {embedding.dtype, embedding.shape, bytes};
            }).find("lm_head.weight is not the embedding"),
            std::string::npos);
}

TEST_F(BrokenModel, AConfigFarTooLargeForItsWeightsTakesNoMemory) {
  Json config = *ParseJson(*ReadFile(directory_.path() / "config.json"));
  config.Set("num_hidden_layers", 10000);
  ASSERT_TRUE(WriteFileAtomic(directory_.path() / "config.json", DumpJson(config)).ok());
  EXPECT_NE(LoadModel(directory_.path()).error().message().find("config.json asks for"),
            std::string::npos);
}

TEST(Model, AScalarHeadGoesOutAndIn) {
  Model model = LoadModel(kModels / "qwen3").value();
  AddScalarHead(&model);
  model.parameters[static_cast<size_t>(model.scalar_head)].value[3] = 0.5f;
  TemporaryDirectory directory;
  ASSERT_TRUE(SaveModel(model, SaveType::kF32, directory.path()).ok());
  const Model loaded = LoadModel(directory.path()).value();
  ASSERT_GE(loaded.scalar_head, 0);
  const Parameter& head = loaded.parameters[static_cast<size_t>(loaded.scalar_head)];
  EXPECT_EQ(head.name, "score.weight");
  EXPECT_EQ(head.value[3], 0.5f);
  EXPECT_EQ(loaded.config.ParameterCount(), model.config.ParameterCount());
}

TEST(Model, HuggingFaceRewardModelsHaveOne) {
  Json config = ParseJson(*ReadFile(kModels / "qwen3" / "config.json")).value();
  config.Set("architectures", Json::Array{"Qwen3ForSequenceClassification"});
  EXPECT_FALSE(ModelConfigFromJson(config).ok()) << "how many labels?";
  config.Set("id2label", Json::Of({{"0", "LABEL_0"}}));
  const auto one = ModelConfigFromJson(config);
  ASSERT_TRUE(one.ok()) << one.error().message();
  EXPECT_TRUE(one->scalar_head);
}

}  // namespace
}  // namespace hone
