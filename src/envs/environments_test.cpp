#include "envs/environments.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/scripted_toolkit.h"

namespace hone {
namespace {

TEST(EnvironmentsTest, BuiltInOnesAreOfTheThreeKinds) {
  const auto kind_of = [](std::string_view name) {
    return NewBuiltIn(name)->environment->traits().kind;
  };
  EXPECT_EQ(kind_of("desk"), EnvironmentKind::kToolUse);
  EXPECT_EQ(kind_of("quiz"), EnvironmentKind::kSingleTurn);
  EXPECT_EQ(kind_of("service"), EnvironmentKind::kMultiTurn);
}

TEST(EnvironmentsTest, WhatCannotBeHadByNameIsRefusedWithThoseThatCan) {
  const auto wrong = NewBuiltIn("dask");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message().find("did you mean \"desk\"?"), std::string::npos);
  const std::string all = EnvironmentsWith(&KindTraits::in_process);
  EXPECT_NE(wrong.error().message().find("there are " + all + ", or"), std::string::npos);
  EXPECT_FALSE(NewBuiltIn("data").ok()) << "its tasks are in files that nobody named";
}

TEST(EnvironmentsTest, TheTraitsOfAKindHoldOfWhatIsMade) {
  for (const RegisteredEnvironment& one : BuiltInEnvironments()) {
    EXPECT_EQ(FindEnvironment(one.name), &one);
    if (!one.traits.in_process) continue;
    const LoadedEnvironment loaded = NewBuiltIn(one.name).value();
    EXPECT_EQ(loaded.environment->traits().name, one.name);
    EXPECT_EQ(loaded.teacher != nullptr, one.traits.has_teacher) << one.name;
  }
  EXPECT_EQ(FindEnvironment("dask"), nullptr);
  const auto table = EnvironmentTable(BuiltInEnvironments()).first(3);
  EXPECT_EQ(EnvironmentsWith(&KindTraits::has_teacher, table), "desk and service");
  EXPECT_EQ(EnvironmentsWith(&KindTraits::in_process, table), "desk, quiz and service");
}

TEST(EnvironmentsTest, RecipesSetTasksAndRules) {
  Recipe recipe = Recipe::Parse(
                      "[environment]\nkind = \"desk\"\n[environment.tasks]\nkinds = [\"d_sum\"]\n"
                      "[environment.rules]\nturns = 5\n",
                      "r")
                      .value();
  const EnvironmentOptions environment = ReadEnvironment(recipe.Root());
  ASSERT_TRUE(recipe.Finish().ok());
  const LoadedEnvironment loaded = environment.make(nullptr).value();
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
  const EnvironmentOptions environment = ReadEnvironment(recipe.Root());
  ASSERT_TRUE(recipe.Finish().ok());
  const auto loaded = environment.make(ToolboxOf({}));
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message().find("tasks.jsonl:1: "), std::string::npos);
  EXPECT_NE(loaded.error().message().find("tasks.jsonl:2: "), std::string::npos);
}

}  // namespace
}  // namespace hone
