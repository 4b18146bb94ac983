#include "train/stages/simulator_stage.h"

#include <gtest/gtest.h>

#include "support/tiny_context.h"

namespace hone {
namespace {

TEST(SimulatorStage, LearnsFromWhatRealToolsSaidTheSameEachTime) {
  TinyContext tiny;
  SimulatorStage stage;
  stage.tasks = 40;
  stage.model = {.layers = 1, .width = 16, .heads = 2, .positions = 128, .steps = 20, .batch = 8};
  int64_t told = 0;
  std::vector<std::string> hashes;
  for (const char* name : {"one", "two"}) {
    const std::filesystem::path folder = tiny.directory.path() / name;
    std::filesystem::create_directories(folder);
    const auto report =
        MakeSimulator(stage, tiny.context.get(), folder, [&](const TrainingProgress&) { ++told; });
    ASSERT_TRUE(report.ok()) << report.error().message();
    EXPECT_GT(report->calls, 5);
    EXPECT_LT(report->last_loss, report->first_loss);
    hashes.push_back(report->weights_hash);
    EXPECT_TRUE(LearnedModel::Load(folder, 1).ok());
    EXPECT_TRUE(std::filesystem::exists(folder / "recorded.sqlite"));
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(told, 40);
}

}  // namespace
}  // namespace hone
