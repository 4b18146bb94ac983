#include "engine/weights/onnx_model.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"

namespace hone {
namespace {

// Written by npm's onnx-proto (tests/golden/onnx/make.mjs), with what the weights stand for.
const std::filesystem::path kOnnx = HONE_SOURCE_DIR "/tests/golden/onnx";

struct Golden {
  ModelConfig config;
  Json tensors;
};

Golden ReadGolden(const std::string& name) {
  const Json json = *ParseJson(*ReadFile(kOnnx / (name + ".json")));
  return {*ModelConfigFromJson(*json.Find("config")), *json.Find("tensors")};
}

TEST(OnnxModel, WeightsAreThoseThatWereWritten) {
  for (const std::string name : {"tied", "plain"}) {
    const Golden golden = ReadGolden(name);
    const auto file = OnnxFile::Open(kOnnx / (name + ".onnx"));
    ASSERT_TRUE(file.ok()) << file.error().message();
    const auto reader = ReaderOfOnnx(*file, golden.config);
    ASSERT_TRUE(reader.ok()) << reader.error().message();
    const auto model = ReadModel(golden.config, *reader);
    ASSERT_TRUE(model.ok()) << model.error().message();
    EXPECT_EQ(model->parameters.size(), golden.tensors.AsObject().size());
    for (const Parameter& parameter : model->parameters) {
      const Json* expected = golden.tensors.Find(parameter.name);
      ASSERT_NE(expected, nullptr) << parameter.name;
      ASSERT_EQ(expected->AsArray().size(), parameter.value.size()) << parameter.name;
      for (size_t i = 0; i < parameter.value.size(); ++i) {
        EXPECT_EQ(parameter.value[i], static_cast<float>(expected->AsArray()[i].AsDouble()))
            << name << " " << parameter.name << " " << i;
      }
    }
  }
}

TEST(OnnxModel, ErrorsNameTheTensor) {
  Golden golden = ReadGolden("tied");
  const auto file = OnnxFile::Open(kOnnx / "tied.onnx");
  golden.config.layers = 2;
  auto reader = ReaderOfOnnx(*file, golden.config);
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(
      reader.error().message().find("tensor model.layers.1.input_layernorm.weight is missing"),
      std::string::npos);
  golden.config.layers = 1;
  golden.config.ffn = 16;
  reader = ReaderOfOnnx(*file, golden.config);
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(reader.error().message().find("tensor model.layers.0.mlp.gate_proj.weight: its shape"),
            std::string::npos)
      << reader.error().message();
}

TEST(OnnxFile, EveryCutIsAnErrorOrLeavesTensorsThatAreWhole) {
  const std::string whole = *ReadFile(kOnnx / "tied.onnx");
  const TemporaryDirectory directory;
  const auto path = directory.path() / "x.onnx";
  for (size_t size = 0; size < whole.size(); size += 7) {
    ASSERT_TRUE(WriteFileAtomic(path, whole.substr(0, size)).ok());
    const auto file = OnnxFile::Open(path);
    ASSERT_FALSE(file.ok()) << size;
    EXPECT_NE(file.error().message().find(path.string()), std::string::npos);
  }
}

}  // namespace
}  // namespace hone
