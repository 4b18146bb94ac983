#include "lab/scale/scale_options.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tested_scale.h"

namespace hone::lab {
namespace {

std::string ProblemOf(const std::string& text, const std::vector<std::string>& changes = {}) {
  const Result<ScaleOptions> read = ReadTested(changes, text);
  return read.ok() ? "" : read.error().message();
}

TEST(ScaleOptions, AFileSaysAllOfIt) {
  const Result<ScaleOptions> read = ReadTested({"workload.turns=3", "run.ahead=2"});
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->model.layers, 2);
  EXPECT_EQ(read->machine.step_seconds, 0.01);
  EXPECT_EQ(read->workload.turns.median, 3);
  EXPECT_EQ(read->run.ahead, 2);
}

TEST(ScaleOptions, WhatIsWrongIsNamedByItsKey) {
  EXPECT_NE(ProblemOf("[model]\nlayers = 2\n").find("\"width\" is missing"), std::string::npos);
  EXPECT_NE(ProblemOf(kTestedMachine, {"machine.bandwith=1"}).find("bandwidth"), std::string::npos);
  EXPECT_NE(ProblemOf(kTestedMachine, {"workload.groups=0"}).find("workload.groups"),
            std::string::npos);
  EXPECT_NE(ProblemOf(kTestedMachine, {"machine.training=-1"}).find("machine.training"),
            std::string::npos);
  EXPECT_EQ(ProblemOf(kTestedMachine, {"run.tensor_parallel=3"}),
            "run.tensor_parallel (3) must divide machine.devices (4): a process does not reach "
            "beyond its node");
  EXPECT_EQ(ProblemOf(kTestedMachine, {"run.trainers_draw=false"}),
            "nobody plays: with run.trainers_draw = false there must be more run.processes (1) "
            "than run.slices (1)");
  EXPECT_EQ(ProblemOf(kTestedMachine, {"run.processes=5", "machine.network=0"}),
            "machine.network is missing: 5 devices are more than one node's 4");
  EXPECT_EQ(ProblemOf(kTestedMachine, {"run.processes=2", "machine.host_bandwidth=0"}),
            "machine.host_bandwidth is missing: several processes copy messages");
  EXPECT_EQ(ProblemOf(kTestedMachine, {"run.tensor_parallel=2", "machine.device_network=0"}),
            "machine.device_network is missing: devices send to each other");
}

TEST(ScaleOptions, ALogNormalHasItsMedianAndItsPercentile) {
  const LogNormal spread{.median = 2, .p99 = 20};
  Rng rng(1);
  int below = 0, far = 0;
  double sum = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = spread.Draw(&rng);
    below += drawn < 2;
    far += drawn > 20;
    sum += drawn;
  }
  EXPECT_NEAR(below, kDraws / 2, 300);
  EXPECT_NEAR(far, kDraws / 100, 60);
  EXPECT_NEAR(sum / kDraws, spread.Mean(), 0.1);
  const LogNormal fixed{.median = 3, .p99 = 0};
  EXPECT_EQ(fixed.Draw(&rng), 3);
  EXPECT_EQ(fixed.Mean(), 3);
}

TEST(ScaleOptions, ThePageNamesEveryKey) {
  const std::string page = ReadFile(HONE_SOURCE_DIR "/docs/scale.md").value();
  Recipe recipe = Recipe::Parse(kTestedMachine, "tested.toml").value();
  ASSERT_TRUE(ReadScaleOptions(&recipe).ok());
  const Json tables = recipe.Values();
  int keys = 0;
  for (const auto& [table, values] : tables.AsObject()) {
    for (const auto& [key, value] : values.AsObject()) {
      EXPECT_NE(page.find("`" + key + "`"), std::string::npos) << table << "." << key;
      ++keys;
    }
  }
  EXPECT_GT(keys, 50);
}

TEST(ScaleOptions, TheExamplesAreRead) {
  for (const char* name : {"h200-7b.toml", "h200-7b-next.toml", "h200-70b.toml"}) {
    Result<Recipe> recipe =
        Recipe::Load(std::filesystem::path(HONE_SOURCE_DIR) / "examples" / "scale" / name);
    ASSERT_TRUE(recipe.ok()) << recipe.error().message();
    const Result<ScaleOptions> read = ReadScaleOptions(&*recipe);
    EXPECT_TRUE(read.ok()) << read.error().message();
  }
}

}  // namespace
}  // namespace hone::lab
