#include "train/compare/comparison_ledger.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_recipe.h"
#include "train/compare/comparison_runs.h"

namespace hone {
namespace {

class ComparisonLedgerTest : public testing::Test {
 protected:
  ComparisonLedgerTest() {
    const std::filesystem::path recipe = directory_.path() / "a.toml";
    EXPECT_TRUE(WriteFileAtomic(recipe, TinyRecipe("runs")).ok());
    plan_ = *ReadComparison({.files = {recipe.string()}, .seeds = 2});
    runs_ = *PlanRuns(plan_, directory_.path() / "out");
  }

  ComparedRun Finished(uint64_t seed) const {
    ComparedRun run{.arm = plan_.arms[0].name,
                    .seed = seed,
                    .status = ComparedRun::Status::kFinished,
                    .steps = 64,
                    .dev = {{16, 0.25, 0.5}, {32, 0.5, 1}},
                    .trajectories = 48,
                    .sampled_tokens = 480,
                    .real_calls = 3,
                    .ratio_tokens = 200,
                    .seconds = 1.5,
                    .start = "abc",
                    .start_key = "key",
                    .weights = "def",
                    .folder = "out/a/seed-1"};
    run.evaluations.Set(
        "after/test/sampled",
        Json::Of({{"all", Json::Of({{"success", 0.5}})},
                  {"kinds", Json::Of({{"much", 1}})},
                  {"families", Json::Of({{"A", Json::Of({{"success", 0.5}, {"low", 0.1}})}})},
                  {"outcomes", "10"},
                  {"calls_by_task", Json::ArrayOf(std::vector{1, 0})}}));
    run.evaluations.Set(
        "after/test/greedy",
        Json::Of({{"outcomes", "11"}, {"calls_by_task", Json::ArrayOf(std::vector{1, 1})}}));
    return run;
  }
  ComparisonLedger Open() const { return ComparisonLedger::Open(file_).value(); }

  const TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "kept" / "ledger.jsonl";
  ComparisonFile plan_;
  std::vector<PlannedRun> runs_;
};

TEST_F(ComparisonLedgerTest, WhatIsKeptReadsBackAsFarAsAReportNeedsIt) {
  EXPECT_EQ(Open().Find(plan_, runs_[0]), nullptr) << "no file is no run";
  ComparisonLedger ledger = Open();
  ASSERT_TRUE(ledger.Keep(plan_, runs_[0], Finished(1)).ok());
  ComparedRun unfinished = Finished(2);
  unfinished.status = ComparedRun::Status::kUnfinished;
  ASSERT_TRUE(ledger.Keep(plan_, runs_[1], unfinished).ok());

  const ComparisonLedger again = Open();
  const ComparedRun* kept = again.Find(plan_, runs_[0]);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(again.Find(plan_, runs_[1]), nullptr);
  ComparedRun expected = Finished(1);
  expected.folder.clear();
  expected.evaluations = Json::Of(
      {{"after/test/sampled",
        Json::Of({{"all", Json::Of({{"success", 0.5}})},
                  {"outcomes", "10"},
                  {"families", Json::Of({{"A", Json::Of({{"success", 0.5}, {"low", 0.1}})}})},
                  {"calls_by_task", Json::ArrayOf(std::vector{1, 0})}})},
       {"after/test/greedy", Json::Of({{"outcomes", "11"}})}});
  EXPECT_EQ(DumpJson(ToJson(*kept)), DumpJson(ToJson(expected)));
  EXPECT_EQ(kept->start_key, "key");
}

TEST_F(ComparisonLedgerTest, TwoWritersLoseNothingAndTheLastWordStands) {
  ComparisonLedger one = Open(), other = Open();
  ASSERT_TRUE(one.Keep(plan_, runs_[0], Finished(1)).ok());
  ASSERT_TRUE(other.Keep(plan_, runs_[1], Finished(2)).ok());
  EXPECT_NE(Open().Find(plan_, runs_[0]), nullptr);
  ComparedRun newer = Finished(1);
  newer.weights = "newer";
  ASSERT_TRUE(other.Keep(plan_, runs_[0], newer).ok());
  EXPECT_EQ(Open().Find(plan_, runs_[0])->weights, "newer");
  EXPECT_NE(Open().Find(plan_, runs_[1]), nullptr);
}

TEST_F(ComparisonLedgerTest, ARunOfAnotherRecipeOrMeasuredOtherwiseDoesNotCount) {
  ComparisonLedger ledger = Open();
  ASSERT_TRUE(ledger.Keep(plan_, runs_[0], Finished(1)).ok());
  PlannedRun changed = runs_[0];
  changed.hash = "another";
  EXPECT_EQ(ledger.Find(plan_, changed), nullptr);
  changed = runs_[0];
  changed.recipe.said.Set("evaluation", Json::Of({{"every", 7}}));
  EXPECT_EQ(ledger.Find(plan_, changed), nullptr);
  EXPECT_NE(ledger.Find(plan_, runs_[0]), nullptr);
}

TEST_F(ComparisonLedgerTest, ADamagedFileIsNamedWithItsPlace) {
  ComparisonLedger ledger = Open();
  ASSERT_TRUE(ledger.Keep(plan_, runs_[0], Finished(1)).ok());
  const std::string line = *ReadFile(file_);
  const auto says = [&](const std::string& text) {
    EXPECT_TRUE(WriteFileAtomic(file_, text).ok());
    const auto opened = ComparisonLedger::Open(file_);
    return opened.ok() ? "nothing" : opened.error().message();
  };
  EXPECT_NE(says(line + "{").find("ledger.jsonl"), std::string::npos);
  EXPECT_NE(says(line + "{\"recipe\":\"x\"}\n").find("run 2"), std::string::npos);
  EXPECT_NE(says(line + line).find("seed 1 is there twice"), std::string::npos);
  std::string other = line;
  other.replace(other.find("\"finished\""), 10, "\"done\"");
  EXPECT_NE(says(other).find("there is no \"done\""), std::string::npos);
}

TEST_F(ComparisonLedgerTest, KeptRunsAreReportedOnAndNotMadeAgain) {
  ComparisonLedger ledger = Open();
  ASSERT_TRUE(ledger.Keep(plan_, runs_[0], Finished(1)).ok());
  const auto records = MakeRuns(plan_, runs_, directory_.path() / "out",
                                {.program = "/bin/false", .ledger = &ledger});
  ASSERT_TRUE(records.ok()) << records.error().message();
  EXPECT_EQ((*records)[0].status, ComparedRun::Status::kFinished);
  EXPECT_EQ((*records)[0].weights, "def");
  EXPECT_EQ((*records)[1].status, ComparedRun::Status::kFailed) << "that one was begun";
  EXPECT_EQ(ReadRuns(plan_, runs_, &ledger)[0].weights, "def");
  EXPECT_EQ(ReadRuns(plan_, runs_)[0].status, ComparedRun::Status::kMissing);
}

}  // namespace
}  // namespace hone
