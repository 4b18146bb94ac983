#include "envs/environments.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/scripted_toolkit.h"

namespace hone {
namespace {

TEST(EnvironmentsTest, BuiltInOnesAreOfTheThreeKinds) {
  const std::vector<BuiltInEnvironment> all = BuiltInEnvironments();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].kind, EnvironmentKind::kToolUse);
  EXPECT_EQ(all[1].kind, EnvironmentKind::kSingleTurn);
  EXPECT_EQ(all[2].kind, EnvironmentKind::kMultiTurn);
  const auto wrong = NewBuiltIn("dask");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message().find("did you mean \"desk\"?"), std::string::npos);
}

TEST(EnvironmentsTest, RecipesSetTasksAndRules) {
  Recipe recipe = Recipe::Parse(
                      "[environment]\nkind = \"desk\"\n[environment.tasks]\nkinds = [\"d_sum\"]\n"
                      "[environment.rules]\nturns = 5\n",
                      "r")
                      .value();
  const EnvironmentPlan plan = ReadEnvironment(recipe.Root());
  ASSERT_TRUE(recipe.Finish().ok());
  const LoadedEnvironment loaded = plan.make(nullptr).value();
  EXPECT_EQ(loaded.rules.budgets.turns, 5);
  EXPECT_EQ(loaded.rules.budgets.calls, 6) << "as the desk has it";
  EXPECT_EQ(SplitMarksOf(loaded.tasks->Make(Split::kTrain, 0)).kind, "d_sum");
}

TEST(EnvironmentsTest, EveryProblemOfARecipeIsReported) {
  Recipe recipe = Recipe::Parse("[environment]\nkind = \"command\"\nfoo = 1\n", "r.toml").value();
  ReadEnvironment(recipe.Root());
  const Result<void> finished = recipe.Finish();
  ASSERT_FALSE(finished.ok());
  for (const char* part : {"names no program", "names no task file", "foo"}) {
    EXPECT_NE(finished.error().message().find(part), std::string::npos)
        << finished.error().message();
  }
}

TEST(EnvironmentsTest, ProblemsOfTaskFilesComeBeforeAnythingRuns) {
  TemporaryDirectory directory;
  const std::string file = (directory.path() / "tasks.jsonl").string();
  ASSERT_TRUE(WriteFileAtomic(file, "{\"id\":\"a\"}\n{\"id\":\"b\",\"prompt\":3}\n").ok());
  Recipe recipe = Recipe::Parse("[environment]\ntrain = \"" + file + "\"\n", "r").value();
  const EnvironmentPlan plan = ReadEnvironment(recipe.Root());
  ASSERT_TRUE(recipe.Finish().ok());
  const auto loaded = plan.make(ToolboxOf({}));
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message().find("tasks.jsonl:1: "), std::string::npos);
  EXPECT_NE(loaded.error().message().find("tasks.jsonl:2: "), std::string::npos);
}

}  // namespace
}  // namespace hone
