#include "engine/weights/model_stream.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/file.h"
#include "engine/safetensors.h"
#include "engine/weights/gguf_model.h"
#include "support/golden_models.h"

namespace hone {
namespace {

class ModelStream : public testing::Test {
 protected:
  std::string Bytes(const std::string& name) { return *ReadFile(directory_.path() / name); }

  TemporaryDirectory directory_;
};

TEST_F(ModelStream, OneParameterAtATimeGivesTheBytesOfTheWholeModel) {
  for (const char* name : {"qwen2", "qwen3", "llama3", "phi3", "gpt-oss"}) {
    const auto folder = GoldenModels() / name;
    const auto model = LoadModel(folder);
    ASSERT_TRUE(model.ok()) << model.error().message();
    const auto reader = ReaderOfFolder(folder, model->config);
    ASSERT_TRUE(reader.ok()) << reader.error().message();
    for (const SaveType type : {SaveType::kF32, SaveType::kBf16, SaveType::kF16}) {
      ASSERT_TRUE(SaveModel(*model, type, directory_.path() / "whole").ok());
      ASSERT_TRUE(SaveModelFrom(model->config, *reader, type, directory_.path() / "stream").ok());
      EXPECT_EQ(Bytes("stream/model.safetensors"), Bytes("whole/model.safetensors")) << name;
      EXPECT_EQ(Bytes("stream/config.json"), Bytes("whole/config.json"));
    }
    using Family = ModelConfig::Family;
    if (model->config.family == Family::kPhi3 || model->config.family == Family::kGptOss) {
      continue;  // GGUF files are not written for them
    }
    for (const GgmlType type : {GgmlType::kF32, GgmlType::kQ8_0}) {
      ASSERT_TRUE(WriteGgufModel(*model, type, {}, directory_.path() / "whole.gguf").ok());
      ASSERT_TRUE(WriteGgufModelFrom(model->config, *reader, {.type = type},
                                     directory_.path() / "stream.gguf")
                      .ok());
      EXPECT_EQ(Bytes("stream.gguf"), Bytes("whole.gguf")) << name;
    }
  }
}

// Reading one expert costs as much as that expert has, and not as much as all of the layer's.
TEST_F(ModelStream, OfATensorOfAllExpertsOnlyTheOneThatIsAskedForIsRead) {
  Model model = *LoadModel(GoldenModels() / "gpt-oss");
  const std::vector<ExpertParameters> experts = model.layers[0].experts;
  const auto parameter = [&](int index) -> Parameter& {
    return model.parameters[static_cast<size_t>(index)];
  };
  parameter(experts[1].up).value[3] = std::numeric_limits<float>::quiet_NaN();
  ASSERT_TRUE(SaveModel(model, SaveType::kF32, directory_.path() / "nan").ok());
  const auto reader = ReaderOfFolder(directory_.path() / "nan", model.config);
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  for (const int sound : {experts[0].gate, experts[0].up, experts[1].gate, experts[2].up}) {
    Parameter one = parameter(sound);
    one.value.assign(one.value.size(), 0);
    const auto read = (*reader)(&one);
    ASSERT_TRUE(read.ok()) << read.error().message();
    EXPECT_EQ(one.value, parameter(sound).value);
  }
  Parameter broken = parameter(experts[1].up);
  const auto read = (*reader)(&broken);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message().find(
                "tensor model.layers.0.mlp.experts.gate_up_proj: holds a number that is not"),
            std::string::npos)
      << read.error().message();
}

TEST_F(ModelStream, HalvesOfSixteenBitsKeepWhatTheyCanAndRefuseTheRest) {
  ModelConfig config;
  config.family = ModelConfig::Family::kLlama;
  config.layers = 1;
  Model model = NewModel(config);
  InitializeModel(1, &model);
  ASSERT_TRUE(SaveModel(model, SaveType::kF16, directory_.path() / "half").ok());
  const auto half = LoadModel(directory_.path() / "half");
  ASSERT_TRUE(half.ok()) << half.error().message();
  EXPECT_EQ(half->config.source.Find("dtype")->AsString(), "float16");
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    for (size_t j = 0; j < model.parameters[i].value.size(); ++j) {
      const float exact = model.parameters[i].value[j];
      EXPECT_NEAR(half->parameters[i].value[j], exact, std::abs(exact) / 2048 + 1e-7);
    }
  }
  model.parameters[2].value[5] = 70000;
  const auto saved = SaveModel(model, SaveType::kF16, directory_.path() / "large");
  ASSERT_FALSE(saved.ok());
  EXPECT_NE(saved.error().message().find("tensor " + model.parameters[2].name), std::string::npos);
  EXPECT_NE(saved.error().message().find("70000 is too large for F16"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "large/model.safetensors"));
}

TEST_F(ModelStream, AnErrorOfAReaderLeavesNoFile) {
  const ParameterReader broken = [](Parameter* parameter) -> Result<void> {
    if (parameter->name == "model.norm.weight") return Error(ErrorCode::kCorrupt, "broken");
    return {};
  };
  const auto folder = directory_.path() / "none";
  const auto saved = SaveModelFrom(ModelConfig(), broken, SaveType::kF32, folder);
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().message(), "tensor model.norm.weight: broken");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

}  // namespace
}  // namespace hone
