#include "train/compare/comparison_runs.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "support/tiny_recipe.h"
#include "train/folder/run_folder.h"

namespace hone {
namespace {

// Running whole programs is for tests/e2e/compare_test.cpp; here is what a folder says.
class ComparisonRunsTest : public testing::Test {
 protected:
  ComparisonRunsTest() {
    const std::filesystem::path file = directory_.path() / "a.toml";
    EXPECT_TRUE(WriteFileAtomic(file, TinyRecipe("runs")).ok());
    plan_ = *ReadComparison({.files = {file.string()}});
    run_ = (*PlanRuns(plan_, directory_.path() / "out"))[0];
  }

  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(run_.recipe.Folder() / name, text).ok());
  }
  void WriteNote(const std::string& status, const std::string& more = "") {
    Write("compared.json",
          "{\"recipe\":\"" + run_.hash + "\",\"status\":\"" + status + "\"" + more + "}");
  }

  const TemporaryDirectory directory_;
  ComparisonFile plan_;
  PlannedRun run_;
};

TEST_F(ComparisonRunsTest, AFolderIsReadAsFarAsTheRunHasCome) {
  EXPECT_EQ(ReadComparedRun(plan_, run_).status, ComparedRun::Status::kMissing);
  TrainingState state;
  state.step = 64;
  state.totals.Set("trajectories", 48);
  state.totals.Set("real_calls", 3);
  state.start = "abc";
  state.evaluations.Set("before/test/sampled", Json::Of({{"tasks", 4}}));
  Write("checkpoints/step-9/training.json", "{");
  Write("checkpoints/step-64/training.json", DumpJson(state.ToJson()));
  Write("metrics.jsonl",
        "{\"step\":1,\"sft/loss\":1}\n"
        "{\"step\":60,\"trajectories\":16,\"time/step\":1.5}\n"
        "{\"step\":61,\"trajectories\":16,\"time/step\":2,\"dev/sampled\":0.5,\"dev/greedy\":0.6}\n"
        "{\"step\":62,\"traj");
  ComparedRun record = ReadComparedRun(plan_, run_);
  EXPECT_EQ(record.status, ComparedRun::Status::kUnfinished);
  EXPECT_EQ(record.steps, 64);
  EXPECT_EQ(record.trajectories, 48);
  EXPECT_EQ(record.real_calls, 3);
  EXPECT_EQ(record.start, "abc");
  EXPECT_EQ(record.seconds, 3.5);
  ASSERT_EQ(record.dev.size(), 1);
  EXPECT_EQ(record.dev[0].trajectories, 32);
  EXPECT_NE(record.evaluations.Find("before/test/sampled"), nullptr);

  WriteNote("failed", ",\"why\":\"no space\"");
  record = ReadComparedRun(plan_, run_);
  EXPECT_EQ(record.status, ComparedRun::Status::kFailed);
  EXPECT_EQ(record.why, "no space");
  WriteNote("finished", ",\"weights\":\"def\"");
  record = ReadComparedRun(plan_, run_);
  EXPECT_EQ(record.status, ComparedRun::Status::kFinished);
  EXPECT_EQ(record.weights, "def");
  const std::vector<ComparedRun> records = {record};
  EXPECT_EQ(SectionsOf(plan_, records)[0].arms[0].runs.size(), 1);
}

TEST_F(ComparisonRunsTest, AFolderOfAnotherRecipeOrOtherMeasurementsIsRefused) {
  EXPECT_TRUE(CheckRunFolder(run_).ok()) << "there is none";
  Write("recipe.hash", run_.hash + "\n");
  EXPECT_TRUE(CheckRunFolder(run_).ok());
  const Json* evaluation = run_.recipe.said.Find("evaluation");
  WriteNote("begun", ",\"evaluation\":" + DumpJson(*evaluation));
  EXPECT_TRUE(CheckRunFolder(run_).ok());
  WriteNote("begun", ",\"evaluation\":{\"every\":7}");
  EXPECT_NE(CheckRunFolder(run_).error().message().find("[evaluation]"), std::string::npos);
  Write("recipe.hash", "another\n");
  EXPECT_NE(CheckRunFolder(run_).error().message().find("another recipe"), std::string::npos);
}

TEST_F(ComparisonRunsTest, AProgramThatCannotBeStartedIsAnErrorAndOneThatFailsIsARun) {
  const std::filesystem::path out = directory_.path() / "out";
  EXPECT_FALSE(MakeRuns(plan_, {run_}, out, {.program = "/nowhere/hone"}).ok());
  const auto records = MakeRuns(plan_, {run_}, out, {.program = "/bin/false"});
  ASSERT_TRUE(records.ok()) << records.error().message();
  EXPECT_EQ((*records)[0].status, ComparedRun::Status::kFailed);
  EXPECT_EQ((*records)[0].why, "ended with exit code 1");
  const auto stopped =
      MakeRuns(plan_, {run_}, out, {.program = "/bin/false", .stop = [] { return true; }});
  EXPECT_EQ(stopped.error().code(), ErrorCode::kStopped);
}

}  // namespace
}  // namespace hone
