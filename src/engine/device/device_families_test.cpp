// Families of models on a device, where devices have kernels for them: parity with transformers, as
// in families/families_test.cpp.

#include <gtest/gtest.h>

#include "base/file.h"
#include "engine/device/device.h"
#include "engine/device/device_runner.h"
#include "engine/engine.h"
#include "engine/weights/stored_tensors.h"
#include "support/expected_model.h"

namespace hone {
namespace {

struct FamilyPlace {
  const char* device;
  const char* model;
};

class DeviceFamilies : public testing::TestWithParam<FamilyPlace> {};

TEST_P(DeviceFamilies, LogProbsAndGradientsAreThoseOfTransformers) {
  Result<std::shared_ptr<Device>> device = Device::Open(ParseDeviceKind(GetParam().device).value());
  if (!device.ok()) GTEST_SKIP() << device.error().message();
  Model model = LoadModel(GoldenModels() / GetParam().model).value();
  const Expected expected(GetParam().model);
  DeviceRunner runner(&model, {.precision = Precision::kF32}, *device);
  const Tree tree = ChainOf(expected.Ids("seq1.ids"));
  const std::vector<float> weights = expected.Numbers("seq1.weights");
  std::vector<float> logprobs;
  runner.Accumulate(
      {&tree, 1},
      [&](std::span<TreeTerms> all) {
        PathTerms& path = all[0].paths[0];
        logprobs.assign(path.logprobs.begin() + 1, path.logprobs.end());
        for (size_t t = 1; t < weights.size(); ++t) path.dlogprobs[t] = -weights[t];
      },
      SharedTokens::kRepeat);
  ExpectNear(logprobs, expected.Numbers("seq1.token_logprobs"), 2e-4, "log-probs");
  auto of = [&](int parameter) { return runner.GradientOf(static_cast<size_t>(parameter)); };
  for (const StoredTensor& tensor : StoredTensorsOf(model)) {
    const std::string name = "seq1.grad." + tensor.name;
    ExpectNear(GatherStored(tensor, model, of), expected.Numbers(name), 5e-4, name);
  }
}

INSTANTIATE_TEST_SUITE_P(Places, DeviceFamilies,
                         testing::Values(FamilyPlace{"reference", "smollm3"},
                                         FamilyPlace{"reference", "llama-yarn"},
                                         FamilyPlace{"cuda", "smollm3"},
                                         FamilyPlace{"cuda", "llama-yarn"}),
                         [](const auto& of) {
                           std::string name = std::string(of.param.device) + "_" + of.param.model;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(DeviceFamilies, WindowsBoundThePositionsOfADevice) {
  const Model model = LoadModel(GoldenModels() / "mistral").value();
  EXPECT_EQ(Engine(model, {.device = DeviceKind::kCpu}).config().max_positions, 512);
  const Engine engine(model, {.device = DeviceKind::kReference});
  EXPECT_EQ(engine.config().max_positions, 21);
  EXPECT_EQ(engine.CheckTokens(std::vector<TokenId>(22, 1)).error().message(),
            "22 tokens are more than the model's 21 positions");
}

TEST(DeviceFamilies, WhatADeviceLacksIsNamed) {
  auto problem = [](const char* name) {
    const Result<void> supported =
        DeviceRunner::Supports(LoadModelConfig(GoldenModels() / name).value());
    return supported.ok() ? "" : supported.error().message();
  };
  EXPECT_EQ(problem("gemma"), "a GPU does not compute Gemma's norms yet: use --device cpu");
  EXPECT_EQ(problem("gpt-oss"), "a GPU does not compute a choice of experts yet: use --device cpu");
  EXPECT_EQ(problem("phi3"), "");
}

}  // namespace
}  // namespace hone
