#include "train/compare/comparison_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

class ComparisonPlanTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path file = directory_.path() / name;
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    return file.string();
  }
  std::string Recipe(const std::string& name) { return Write(name, TinyRecipe("runs")); }

  const TemporaryDirectory directory_;
};

TEST_F(ComparisonPlanTest, RecipesOfTheCommandLineAreArmsOfOneSection) {
  const auto plan = ReadComparison({.files = {Recipe("grpo.toml"), Recipe("toolpo.toml")},
                                    .seeds = 2,
                                    .seed_from = 5,
                                    .goal = 0.5,
                                    .baseline = "toolpo",
                                    .set = {"stage.1.steps=2"}});
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  ASSERT_EQ(plan->sections.size(), 1);
  EXPECT_EQ(plan->arms[0].name, "grpo");
  EXPECT_EQ(plan->sections[0].seeds, (std::vector<uint64_t>{5, 6}));
  EXPECT_EQ(plan->sections[0].baseline, 1);
  EXPECT_EQ(plan->sections[0].goal, 0.5);
  const auto runs = PlanRuns(*plan, directory_.path() / "out");
  ASSERT_TRUE(runs.ok()) << runs.error().message();
  // The first arm with all seeds, then seed by seed.
  std::string order;
  for (const PlannedRun& run : *runs) {
    order += plan->arms[run.arm].name + " " + std::to_string(run.seed) + ", ";
  }
  EXPECT_EQ(order, "grpo 5, grpo 6, toolpo 5, toolpo 6, ");
  const PlannedRun& last = runs->back();
  EXPECT_EQ(last.recipe.Folder(), directory_.path() / "out/toolpo/seed-6");
  EXPECT_EQ(last.recipe.run.cache, (directory_.path() / "out/cache").string());
  EXPECT_EQ(last.recipe.stages[1]->size().steps, 2);
  EXPECT_EQ((*runs)[0].start_key, (*runs)[2].start_key) << "the same seed begins alike";
  EXPECT_NE((*runs)[0].start_key, (*runs)[1].start_key);
  EXPECT_NE((*runs)[0].hash, (*runs)[1].hash);
}

TEST_F(ComparisonPlanTest, AFileHasSectionsThatShareArms) {
  Recipe("a.toml");
  const std::string file = Write("all.toml", R"(
title = "Results"
seeds = 3
set = ["evaluation.every=1"]
[[arm]]
recipe = "a.toml"
label = "A"
[[arm]]
name = "changed"
recipe = "a.toml"
set = ["stage.0.steps=61", "credit.method=grpo"]
[[section]]
title = "One"
arms = ["a", "changed"]
baseline = "changed"
[[section]]
title = "Two"
seeds = 5
arms = ["a"]
[[section.arm]]
name = "own"
recipe = "a.toml"
set = ["run.cache=/elsewhere"]
)");
  const auto plan = ReadComparison({.files = {file}});
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  EXPECT_EQ(plan->title, "Results");
  ASSERT_EQ(plan->arms.size(), 3) << "each once";
  EXPECT_EQ(plan->arms[0].label, "A");
  EXPECT_EQ(plan->sections[0].baseline, 1);
  EXPECT_EQ(plan->sections[1].arms, (std::vector<size_t>{0, 2}));
  const auto runs = PlanRuns(*plan, directory_.path() / "out");
  ASSERT_TRUE(runs.ok()) << runs.error().message();
  EXPECT_EQ(runs->size(), 5 + 3 + 5);
  EXPECT_EQ((*runs)[0].recipe.evaluation.every, 1);
  EXPECT_NE((*runs)[0].start_key, (*runs)[5].start_key) << "another imitation";
  EXPECT_EQ(runs->back().recipe.run.cache, "/elsewhere");
  const auto fewer = ReadComparison({.files = {file}, .seeds = 1});
  EXPECT_EQ(fewer->sections[1].seeds.size(), 1) << "the command line goes over the file";
}

TEST_F(ComparisonPlanTest, AllProblemsOfAFileComeAtOnceWithTheirLines) {
  Recipe("a.toml");
  const std::string file = Write("bad.toml", R"(seedz = 3
[[arm]]
recipe = "a.toml"
[[arm]]
name = "a/b"
recipe = "a.toml"
[[section]]
arms = ["a", "b"]
baseline = "c"
)");
  const auto plan = ReadComparison({.files = {file}});
  ASSERT_FALSE(plan.ok());
  for (const char* part :
       {"bad.toml:1", "seeds", "a/b", "there is no [[arm]] \"b\"", "there is no arm \"c\" here"}) {
    EXPECT_NE(plan.error().message().find(part), std::string::npos) << plan.error().message();
  }
}

TEST_F(ComparisonPlanTest, RunsGoSectionBySection) {
  Recipe("a.toml");
  const std::string file = Write("all.toml", R"(
seeds = 2
[[arm]]
recipe = "a.toml"
[[section]]
title = "First"
arms = ["a"]
[[section.arm]]
name = "b"
recipe = "a.toml"
[[section]]
title = "Second"
seeds = 3
arms = ["a"]
)");
  const auto plan = ReadComparison({.files = {file}});
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  std::string order;
  for (const PlannedRun& run : PlanRuns(*plan, directory_.path() / "out").value()) {
    order += plan->arms[run.arm].name + std::to_string(run.seed) + " ";
  }
  EXPECT_EQ(order, "a1 a2 b1 b2 a3 ");
}

TEST_F(ComparisonPlanTest, ClaimsNameASectionItsArmsAndAMeasure) {
  Recipe("a.toml");
  const std::string arms = R"(
[[arm]]
recipe = "a.toml"
[[arm]]
name = "b"
recipe = "a.toml"
[[section]]
title = "Both"
arms = ["a", "b"]
[[section]]
title = "One"
arms = ["a"]
)";
  const std::string good = Write("good.toml", arms + R"(
[[claim]]
arm = "b"
against = "a"
predicted = 1.5
[[claim]]
title = "Higher"
section = "Both"
arm = "b"
against = "a"
measure = "test/sampled"
large = 10
primary = true
)");
  const auto plan = ReadComparison({.files = {good}});
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  ASSERT_EQ(plan->claims.size(), 2u);
  EXPECT_EQ(plan->claims[0].title, "b against a");
  EXPECT_TRUE(plan->claims[0].effort() == Effort::kTrajectories);
  EXPECT_EQ(plan->claims[0].predicted, 1.5);
  EXPECT_FALSE(plan->claims[0].large);
  EXPECT_TRUE(plan->claims[1].primary);
  const std::string bad = Write("bad.toml", arms + R"(
[[claim]]
section = "Both of them"
[[claim]]
section = "One"
arm = "b"
against = "a"
measure = "test/sampeld"
)");
  const auto refused = ReadComparison({.files = {bad}});
  ASSERT_FALSE(refused.ok());
  for (const char* part : {"there is no section \"Both of them\"", "there is no arm \"b\"",
                           "\"test/sampeld\" (did you mean \"test/sampled\"?)"}) {
    EXPECT_NE(refused.error().message().find(part), std::string::npos) << refused.error().message();
  }
}

TEST_F(ComparisonPlanTest, WhatCannotBeComparedIsRefused) {
  const std::string recipe = Recipe("a.toml");
  EXPECT_FALSE(ReadComparison({}).ok());
  EXPECT_FALSE(ReadComparison({.files = {"/nowhere.toml"}}).ok());
  EXPECT_NE(ReadComparison({.files = {recipe, recipe}}).error().message().find("two recipes"),
            std::string::npos);
  EXPECT_NE(ReadComparison({.files = {recipe}, .baseline = "b"}).error().message().find("\"b\""),
            std::string::npos);
  const std::string comparison = Write("c.toml", "[[arm]]\nrecipe = \"a.toml\"\n");
  EXPECT_FALSE(ReadComparison({.files = {comparison, recipe}}).ok());
  // Problems of the recipes name their arms, each once.
  const auto plan = ReadComparison({.files = {recipe}, .seeds = 3, .set = {"credit.method=no"}});
  ASSERT_TRUE(plan.ok());
  const auto runs = PlanRuns(*plan, directory_.path());
  ASSERT_FALSE(runs.ok());
  EXPECT_TRUE(runs.error().message().starts_with("a: ")) << runs.error().message();
  EXPECT_EQ(runs.error().message().find('\n'), std::string::npos) << runs.error().message();
}

}  // namespace
}  // namespace hone
