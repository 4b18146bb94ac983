#include "engine/memory.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/engine.h"
#include "engine/lora.h"
#include "support/golden_models.h"

namespace hone {
namespace {

std::map<std::string, int64_t> Named(const std::vector<std::pair<std::string, int64_t>>& parts) {
  return {parts.begin(), parts.end()};
}

TEST(TrainingMemory, OfAdaptersIsWithoutGradientsAndMomentsOfWhatIsFrozen) {
  const std::filesystem::path folder = GoldenModels() / "qwen2";
  Model model = LoadModel(folder).value();
  ASSERT_TRUE(AddLora({.rank = 4}, &model).ok());
  const ModelConfig config = model.config;
  int64_t adapters = 0;
  for (const Parameter& parameter : model.parameters) {
    if (parameter.trained) adapters += parameter.count();
  }
  Engine engine(std::move(model), {.threads = 1, .device = DeviceKind::kCpu});
  const Tree tree = ChainOf({5, 9, 100, 7});
  engine.Accumulate({&tree, 1}, [](std::span<TreeTerms> all) {
    for (float& d : all[0].paths[0].dlogprobs) d = -1;
    return 0.0;
  });
  engine.Step({.learning_rate = 1e-6});
  auto measured = Named(engine.Memory());
  auto derived = Named(TrainingMemory(config, Precision::kBf16, 4, false, adapters));
  for (const char* part : {"weights", "gradients", "moments"}) {
    EXPECT_EQ(derived[part], measured[part]) << part;
  }
  // Panels are filled up to whole ones.
  EXPECT_LE(derived["packed weights"], measured["packed weights"]);
  auto all = Named(TrainingMemory(config, Precision::kBf16, 4, false));
  EXPECT_EQ(all["gradients"], all["weights"]);
  EXPECT_GT(all["gradients"], 4 * derived["gradients"]);
}

TEST(TrainingMemory, TheMachineSaysWhatItHas) {
  EXPECT_GT(MachineMemoryBytes(), int64_t{100} << 20);
  EXPECT_LT(MachineMemoryBytes(), int64_t{1} << 50);
}

}  // namespace
}  // namespace hone
