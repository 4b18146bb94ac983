#include "train/compare/start_controls.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "evaluate/compare/comparison_text.h"
#include "support/tiny_recipe.h"
#include "train/compare/comparison_runs.h"

namespace hone {
namespace {

class StartControlsTest : public testing::Test {
 protected:
  StartControlsTest() {
    EXPECT_TRUE(WriteFileAtomic(directory_.path() / "a.toml", TinyRecipe("runs")).ok());
  }

  ComparisonFile Read(const std::string& text) {
    const std::filesystem::path file = directory_.path() / "all.toml";
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    const auto read = ReadComparison({.files = {file.string()}});
    EXPECT_TRUE(read.ok()) << read.error().message();
    return WithControls(read.value());
  }

  const TemporaryDirectory directory_;
};

constexpr char kTwoSections[] = R"(seeds = 2
[[arm]]
name = "simulated"
recipe = "a.toml"
[[arm]]
name = "real"
recipe = "a.toml"
set = ["answers.mode=live", "credit.method=grpo"]
[[section]]
arms = ["simulated", "real"]
[[section]]
arms = ["real"]
)";

TEST_F(StartControlsTest, AreTheStagesBeforeRlAtOtherTemperatures) {
  const ComparisonFile comparison = Read(kTwoSections);
  ASSERT_EQ(comparison.arms.size(), 4u) << "two temperatures, shared by both sections";
  const std::vector<StartControl>& controls = comparison.sections[0].start_controls;
  ASSERT_EQ(controls.size(), 4u);
  EXPECT_EQ(controls[0].name, "start@0.3");
  EXPECT_TRUE(controls[0].made);
  EXPECT_EQ(controls[0].evaluation, "after/test/sampled");
  EXPECT_EQ(controls[2].evaluation, "before/test/sampled");
  EXPECT_FALSE(controls[2].made) << "every run measures that before rl";
  EXPECT_EQ(controls[2].arm, 0u);
  EXPECT_TRUE(controls[3].greedy);
  EXPECT_EQ(comparison.sections[1].start_controls[0].arm, controls[0].arm);

  const auto runs = PlanRuns(comparison, directory_.path() / "out");
  ASSERT_TRUE(runs.ok()) << runs.error().message();
  ASSERT_EQ(runs->size(), 8u);
  for (const PlannedRun& run : *runs) {
    if (run.arm < 2) continue;
    ASSERT_EQ(run.recipe.stages.size(), 1u) << "no rl";
    EXPECT_EQ(run.recipe.stages[0]->size().steps, 60);
    EXPECT_EQ(run.recipe.evaluation.temperature, run.arm == controls[0].arm ? 0.3 : 0.5);
    EXPECT_EQ(run.recipe.evaluation.test_tasks, 4) << "the same tasks";
    EXPECT_TRUE(run.recipe.evaluation.more.empty());
    const PlannedRun& arm = (*runs)[run.seed - 1];
    EXPECT_EQ(run.start_key, arm.start_key) << "the same cache, and CheckStarts holds them to it";
  }
}

TEST_F(StartControlsTest, ArmsThatImitateOtherwiseHaveControlsOfTheirOwn) {
  const ComparisonFile comparison = Read(R"(controls = ["start@0.3"]
[[arm]]
recipe = "a.toml"
[[arm]]
name = "longer"
recipe = "a.toml"
set = ["stage.0.steps=61"]
[[arm]]
name = "more-tasks"
recipe = "a.toml"
set = ["evaluation.test_tasks=5"]
[[section]]
arms = ["a"]
[[section]]
arms = ["longer"]
[[section]]
arms = ["more-tasks"]
)");
  EXPECT_EQ(comparison.arms.size(), 6u);
  EXPECT_EQ(comparison.arms[4].name, "start-0.3-longer");
}

TEST_F(StartControlsTest, WhatHasNoRlOrNothingBeforeItHasNoRunsForThem) {
  const ComparisonFile imitates = Read(R"([[arm]]
recipe = "a.toml"
set = ["stage=[{kind='sft', steps=5}]"]
)");
  EXPECT_TRUE(imitates.sections[0].start_controls.empty());
  const ComparisonFile at_once = Read(R"([[arm]]
recipe = "a.toml"
set = ["stage=[{kind='rl', steps=5}]"]
)");
  EXPECT_EQ(at_once.arms.size(), 1u);
  ASSERT_EQ(at_once.sections[0].start_controls.size(), 4u);
  EXPECT_FALSE(at_once.sections[0].start_controls[0].why.empty());
  EXPECT_TRUE(at_once.sections[0].start_controls[2].why.empty());
  EXPECT_TRUE(Read("controls = []\n[[arm]]\nrecipe = \"a.toml\"\n").sections[0].controls.empty());
  // At the temperature of the arms it is what they measure anyway.
  const ComparisonFile same = Read(R"(controls = ["start@1"]
[[arm]]
recipe = "a.toml"
)");
  EXPECT_FALSE(same.sections[0].start_controls[0].made);
}

TEST_F(StartControlsTest, RunsGiveTheRowsAndAbsentOnesSayNotMeasured) {
  const ComparisonFile comparison =
      Read("controls = [\"start@0.3\", \"start\"]\n[[arm]]\nrecipe = \"a.toml\"\n");
  const auto evaluation = [](const char* outcomes) {
    return Json::Of({{"tasks", 2}, {"outcomes", outcomes}});
  };
  std::vector<ComparedRun> runs = {
      {.arm = "a", .seed = 1, .status = ComparedRun::Status::kFinished}};
  runs[0].evaluations.Set("before/test/sampled", evaluation("01"));
  runs[0].evaluations.Set("after/test/sampled", evaluation("11"));
  const auto table = [&] {
    const std::vector<ComparedSection> sections = SectionsOf(comparison, runs);
    const SectionReport report = ReportSection(sections[0]);
    return MarkdownTable(TablesOf(sections[0], report)[0].rows) +
           MarkdownTable(TablesOf(sections[0], report)[1].rows);
  };
  const std::string before = table();
  EXPECT_NE(before.find("| start without rl, T = 0.3 |"), std::string::npos) << before;
  EXPECT_NE(before.find("not measured"), std::string::npos) << before;
  EXPECT_NE(before.find("50.0 [0.0, 100.0]"), std::string::npos) << before;
  runs.push_back({.arm = "start-0.3-a", .seed = 1, .status = ComparedRun::Status::kFinished});
  runs[1].evaluations.Set("after/test/sampled", evaluation("11"));
  const std::string after = table();
  EXPECT_EQ(after.find("not measured"), std::string::npos) << after;
  EXPECT_NE(after.find("| 100.0 [100.0, 100.0]"), std::string::npos) << after;
  EXPECT_NE(after.find("over the start without rl, T = 0.3"), std::string::npos) << after;
}

}  // namespace
}  // namespace hone
