// What a training step takes is what the documentation says it takes.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "engine/model.h"

namespace hone {
namespace {

TEST(Memory, ATrainingStepTakesWhatIsDerived) {
  ModelConfig config;
  config.layers = 6;
  config.width = 384;
  config.heads = 12;
  config.kv_heads = 2;
  config.head_dim = 32;
  config.ffn = 1024;
  config.vocab = 1024;
  config.max_positions = 4096;
  config.qk_norm = true;
  Model model = NewModel(config);
  InitializeModel(1, &model);
  TemporaryDirectory directory;
  ASSERT_TRUE(SaveModel(model, SaveType::kBf16, directory.path()).ok());
  for (const char* precision : {"bf16", "f32"}) {
    for (const bool recompute : {false, true}) {
      std::vector<std::string> command = {HONE_BINARY, "--json",         "bench",
                                          "model",     directory.path(), "--tokens",
                                          "4096",      "--precision",    precision};
      if (recompute) command.push_back("--recompute");
      const auto run = RunSubprocess(command, "", std::chrono::seconds(300));
      ASSERT_TRUE(run.ok());
      const auto costs = ParseJson(run->standard_output);
      ASSERT_TRUE(costs.ok()) << run->standard_output << run->standard_error;
      const double peak = costs->Find("peak_bytes")->AsDouble();
      const double derived = costs->Find("derived_bytes")->AsDouble();
      EXPECT_LT(peak, 1.3 * derived) << precision << recompute;
      EXPECT_GT(peak, 0.8 * derived) << precision << recompute;
      std::printf("%s%s: %.0f MiB, %.2f x derived\n", precision, recompute ? " recomputed" : "",
                  peak / (1 << 20), peak / derived);
    }
  }
}

}  // namespace
}  // namespace hone
