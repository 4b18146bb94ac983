#include "engine/lora.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "engine/engine.h"
#include "support/golden_models.h"
#include "support/tested_device.h"

namespace hone {
namespace {

const std::filesystem::path kModels = GoldenModels();

Model WithAdapters(const LoraOptions& options) {
  Model model = LoadModel(kModels / "qwen2").value();
  EXPECT_TRUE(AddLora(options, &model).ok());
  Rng rng(3);
  for (const LoraModule& module : model.lora) {
    for (float& value : model.parameters[module.b].value)
      value = static_cast<float>(0.1 * rng.NextNormal());
  }
  return model;
}

std::vector<float> LogProbs(Engine* engine, Engine::Weights weights = Engine::Weights::kCurrent) {
  const Tree tree = ChainOf({5, 9, 100, 7, 300, 2, 2, 41});
  return engine->LogProbs({&tree, 1}, weights)[0][0].logprobs;
}

const Engine::Options kF32 = {.precision = Precision::kF32, .threads = 2, .device = TestedDevice()};

TEST(Lora, AHeadMayComeBeforeOrAfterTheAdapters) {
  Model after = WithAdapters({.rank = 4});
  AddScalarHead(&after);
  Model before = LoadModel(kModels / "qwen2").value();
  AddScalarHead(&before);
  ASSERT_TRUE(AddLora({.rank = 4}, &before).ok());
  ASSERT_EQ(after.parameters.size(), before.parameters.size());
  for (size_t i = 0; i < after.parameters.size(); ++i) {
    EXPECT_EQ(after.parameters[i].name, before.parameters[i].name) << i;
    EXPECT_EQ(after.parameters[i].trained, before.parameters[i].trained) << i;
  }
  EXPECT_EQ(after.scalar_head, before.scalar_head);
  for (size_t i = 0; i < after.lora.size(); ++i) EXPECT_EQ(after.lora[i].a, before.lora[i].a);
  Engine engine(std::move(after), kF32);
  Engine alone(WithAdapters({.rank = 4}), kF32);
  EXPECT_EQ(LogProbs(&engine), LogProbs(&alone)) << "the adapters are where they were";
}

TEST(Lora, FreshAdaptersChangeNothingAndTheBaseStaysTheReference) {
  auto base = Engine::Open(kModels / "qwen2", kF32).value();
  Model fresh = LoadModel(kModels / "qwen2").value();
  ASSERT_TRUE(AddLora({.rank = 4}, &fresh).ok());
  Engine engine(std::move(fresh), kF32);
  const std::vector<float> before = LogProbs(base.get());
  EXPECT_EQ(LogProbs(&engine), before);
  const Tree tree = ChainOf({5, 9, 100, 7});
  engine.Accumulate({&tree, 1}, [](std::span<TreeTerms> all) {
    for (float& d : all[0].paths[0].dlogprobs) d = -1;
  });
  EXPECT_GT(engine.Step({.learning_rate = 1e-2}), 0);
  EXPECT_NE(LogProbs(&engine), before);
  EXPECT_EQ(LogProbs(&engine, Engine::Weights::kBase), before);
}

TEST(Lora, MergedWeightsComputeTheSame) {
  Model model = WithAdapters({.rank = 4, .alpha = 6, .targets = {"q_proj", "down_proj"}});
  EXPECT_EQ(model.lora.size(), 2 * model.layers.size());
  Engine adapted(model, kF32);
  const std::vector<float> apart = LogProbs(&adapted);
  MergeLora(&model);
  EXPECT_TRUE(model.lora.empty());
  Engine merged(model, kF32);
  const std::vector<float> together = LogProbs(&merged);
  for (size_t i = 0; i < apart.size(); ++i) EXPECT_NEAR(apart[i], together[i], 1e-4);
}

TEST(Lora, PeftFoldersGoOutAndIn) {
  const Model model = WithAdapters({.rank = 4, .alpha = 6, .targets = {"all"}});
  TemporaryDirectory directory;
  ASSERT_TRUE(SaveLora(model, "some/base", directory.path()).ok());
  Model loaded = LoadModel(kModels / "qwen2").value();
  const Result<void> read = LoadLora(directory.path(), &loaded);
  ASSERT_TRUE(read.ok()) << read.error().message();
  ASSERT_EQ(loaded.lora.size(), model.lora.size());
  EXPECT_EQ(loaded.lora[0].scale, model.lora[0].scale);
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    EXPECT_EQ(loaded.parameters[i].name, model.parameters[i].name);
    EXPECT_EQ(loaded.parameters[i].value, model.parameters[i].value);
  }
}

TEST(Lora, ATrainingStateWithAdaptersResumes) {
  auto train = [](Engine* engine) {
    const Tree tree = ChainOf({5, 9, 100, 7});
    engine->Accumulate({&tree, 1}, [](std::span<TreeTerms> all) {
      for (float& d : all[0].paths[0].dlogprobs) d = -1;
    });
    engine->Step({.learning_rate = 1e-2});
  };
  Engine whole(WithAdapters({.rank = 2}), kF32), half(WithAdapters({.rank = 2}), kF32);
  train(&whole), train(&whole);
  train(&half);
  TemporaryDirectory directory;
  const auto state = directory.path() / "state";
  ASSERT_TRUE(half.Save(state, SaveType::kF32).ok());
  auto resumed = Engine::Load(state, kF32);
  ASSERT_TRUE(resumed.ok()) << resumed.error().message();
  train(resumed->get());
  EXPECT_EQ((*resumed)->WeightsHash(), whole.WeightsHash());
}

TEST(Lora, WhatIsNotSupportedIsSaidSo) {
  Model model = LoadModel(kModels / "qwen2").value();
  EXPECT_NE(AddLora({.targets = {"qproj"}}, &model).error().message().find("\"qproj\""),
            std::string::npos);
  TemporaryDirectory directory;
  const Model adapted = WithAdapters({.rank = 2});
  ASSERT_TRUE(SaveLora(adapted, "base", directory.path()).ok());
  const auto config_path = directory.path() / "adapter_config.json";
  const Json config = ParseJson(*ReadFile(config_path)).value();
  auto load_with = [&](const char* key, Json value) {
    Json changed = config;
    changed.Set(key, std::move(value));
    EXPECT_TRUE(WriteFileAtomic(config_path, DumpJson(changed)).ok());
    Model fresh = LoadModel(kModels / "qwen2").value();
    return LoadLora(directory.path(), &fresh);
  };
  EXPECT_FALSE(load_with("use_dora", true).ok());
  EXPECT_FALSE(load_with("peft_type", "IA3").ok());
  EXPECT_FALSE(load_with("r", 3).ok()) << "another shape";
  EXPECT_FALSE(load_with("target_modules", Json::Array{"q_proj"}).ok()) << "tensors left over";
  EXPECT_TRUE(load_with("lora_dropout", 0.1).ok());
  EXPECT_TRUE(load_with("init_lora_weights", true).ok());
  EXPECT_TRUE(load_with("init_lora_weights", "gaussian").ok());
  EXPECT_NE(load_with("init_lora_weights", "pissa_niter_4").error().message().find("pissa"),
            std::string::npos)
      << "its base is not the model's";
}

}  // namespace
}  // namespace hone
