#include "engine/weights/trained_weights.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "engine/lora.h"

namespace hone {
namespace {

Model Small(uint64_t seed, bool adapters = false) {
  ModelConfig config;
  config.layers = 1, config.width = 16, config.heads = 2, config.kv_heads = 2;
  config.head_dim = 8, config.ffn = 24, config.vocab = 40, config.max_positions = 16;
  Model model = NewModel(config);
  InitializeModel(seed, &model);
  if (adapters) {
    EXPECT_TRUE(AddLora({.rank = 2}, &model).ok());
    for (const LoraModule& module : model.lora) {
      for (float& value : model.parameters[static_cast<size_t>(module.b)].value) {
        value = static_cast<float>(seed);
      }
    }
  }
  return model;
}

TEST(TrainedWeights, ComeBackToTheBit) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "weights.safetensors";
  const Model written = Small(1);
  ASSERT_TRUE(WriteTrainedWeights(written, file).ok());
  Model read = Small(2);
  const auto done = ReadTrainedWeights(file, &read);
  ASSERT_TRUE(done.ok()) << done.error().message();
  for (size_t p = 0; p < read.parameters.size(); ++p) {
    EXPECT_EQ(read.parameters[p].value, written.parameters[p].value) << read.parameters[p].name;
  }
}

TEST(TrainedWeights, LeaveOutWhatIsFrozen) {
  const TemporaryDirectory folder;
  const auto whole = folder.path() / "whole", adapters = folder.path() / "adapters";
  ASSERT_TRUE(WriteTrainedWeights(Small(1), whole).ok());
  const Model written = Small(1, true);
  ASSERT_TRUE(WriteTrainedWeights(written, adapters).ok());
  EXPECT_LT(std::filesystem::file_size(adapters), std::filesystem::file_size(whole));
  Model read = Small(2, true);
  const std::vector<float> frozen = read.parameters[0].value;
  ASSERT_TRUE(ReadTrainedWeights(adapters, &read).ok());
  EXPECT_EQ(read.parameters[0].value, frozen);
  const auto b = static_cast<size_t>(read.lora[0].b);
  EXPECT_EQ(read.parameters[b].value, written.parameters[b].value);
}

TEST(TrainedWeights, OfAnotherModelAreAnErrorThatNamesTheFile) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "weights.safetensors";
  ASSERT_TRUE(WriteTrainedWeights(Small(1), file).ok());
  Model other = Small(1, true);
  const auto read = ReadTrainedWeights(file, &other);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message().find(file.string()), std::string::npos);
  EXPECT_FALSE(ReadTrainedWeights(folder.path() / "absent", &other).ok());
}

}  // namespace
}  // namespace hone
