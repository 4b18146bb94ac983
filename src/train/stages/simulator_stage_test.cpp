#include "train/stages/simulator_stage.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/file.h"
#include "simulate/journaled_calls.h"
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

TEST(SimulatorStage, RecordsAsManyCallsAsItMay) {
  TinyContext tiny;
  SimulatorStage stage;
  stage.tasks = 40;
  stage.calls = 7;
  stage.model = {.layers = 1, .width = 16, .heads = 2, .positions = 128, .steps = 2, .batch = 8};
  const std::filesystem::path folder = tiny.directory.path() / "few";
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(MakeSimulator(stage, tiny.context.get(), folder, [](const auto&) {}).ok());
  const Json note = *ParseJson(*ReadFile(folder / "recorded.json"));
  int64_t calls = 0;
  for (const auto& [tool, count] : note.Find("calls")->AsObject()) calls += count.AsInteger();
  EXPECT_EQ(calls, 7);
}

// Refreshed by what the policy does on the real tools: on top of the first record.
TEST(SimulatorStage, ThePolicyAddsToTheRecord) {
  TinyContext tiny;
  SimulatorStage stage;
  stage.tasks = 10;
  stage.model = {.layers = 1, .width = 16, .heads = 2, .positions = 128, .steps = 2, .batch = 8};
  const auto make = [&](const char* name) {
    const std::filesystem::path folder = tiny.directory.path() / name;
    std::filesystem::create_directories(folder);
    const auto made = MakeSimulator(stage, tiny.context.get(), folder, [](const auto&) {});
    EXPECT_TRUE(made.ok()) << made.error().message();
    return folder;
  };
  stage.by_policy = true;
  const std::filesystem::path nowhere = tiny.directory.path() / "nowhere";
  std::filesystem::create_directories(nowhere);
  EXPECT_FALSE(MakeSimulator(stage, tiny.context.get(), nowhere, [](const auto&) {}).ok())
      << "there is nothing to add to";
  stage.by_policy = false;
  const std::filesystem::path first = make("first");
  const auto entries = [&](const std::filesystem::path& folder) {
    const auto journal = Journal::Open(folder / "recorded.sqlite").value();
    return ReadRecordedCalls(journal.get(), tiny.context->environment.environment->tools())->calls;
  };
  const std::vector<RecordedCall> shown = entries(first);
  tiny.context->Provide(StageProduct::kSimulator, first);
  stage.by_policy = true;
  const std::vector<RecordedCall> both = entries(make("second"));
  for (const RecordedCall& call : shown) {
    EXPECT_NE(std::find(both.begin(), both.end(), call), both.end()) << "what was there is kept";
  }
  EXPECT_EQ(entries(first), shown) << "the first record stays as it is";
}

}  // namespace
}  // namespace hone
