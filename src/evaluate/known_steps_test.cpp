#include "evaluate/known_steps.h"

#include <gtest/gtest.h>

#include "support/desk_policy.h"

namespace hone {
namespace {

class KnownStepsTest : public testing::Test {
 protected:
  Result<KnownSteps> Find(const KnownStepsOptions& options, std::string_view name = "desk") {
    environment_ = NewBuiltIn(name).value();
    const auto timeline = NewVirtualTimeline();
    Executor executor(OptionsFor({}, *environment_.environment->tools(), timeline.get()).value(),
                      timeline.get());
    // A dialect that writes thoughts.
    DeskPolicy desk({.dialect = "hermes", .tasks = 4, .positions = 1024});
    return FindKnownSteps(options, environment_, desk.Make(), &executor);
  }

  static int64_t Calls(const Json& demonstration) {
    int64_t calls = 0;
    for (const Json& message : demonstration.Find("messages")->AsArray()) {
      if (const Json* made = message.Find("tool_calls")) calls += std::ssize(made->AsArray());
    }
    return calls;
  }

  LoadedEnvironment environment_;
};

// A policy that never learned anything answers nothing right.
TEST_F(KnownStepsTest, WhatThePolicyDoesNotKnowIsCalledForAsThePlanSays) {
  const auto found = Find({.tasks = 12, .samples = 2, .threshold = 0.5});
  ASSERT_TRUE(found.ok()) << found.error().message();
  ASSERT_EQ(found->tasks.size(), 12u);
  EXPECT_EQ(found->skipped, 0);
  int64_t steps = 0;
  for (size_t i = 0; i < found->tasks.size(); ++i) {
    const KnownTask& task = found->tasks[i];
    EXPECT_EQ(task.id, environment_.tasks->Make(Split::kTrain, i).id);
    for (const KnownStep& step : task.steps) {
      EXPECT_EQ(step.samples, 2);
      EXPECT_EQ(step.right, 0);
      EXPECT_FALSE(step.known);
      ++steps;
    }
    EXPECT_EQ(Calls(task.demonstration), std::ssize(task.steps));
    const std::string text = DumpJson(task.demonstration);
    EXPECT_EQ(text.find("I know this"), std::string::npos);
    if (!task.steps.empty()) {
      EXPECT_NE(text.find("I do not know this, so I use " + task.steps[0].tool), std::string::npos)
          << text;
    }
  }
  EXPECT_GT(steps, 4);
  int64_t counted = 0;
  for (const auto& [tool, known] : found->ByTool()) {
    EXPECT_EQ(known.first, 0);
    counted += known.second;
  }
  EXPECT_EQ(counted, steps);
}

// With a threshold of nothing it knows everything.
TEST_F(KnownStepsTest, WhatItKnowsIsSaidInAThoughtInsteadOfCalledFor) {
  const auto found = Find({.tasks = 12, .samples = 1, .threshold = 0});
  ASSERT_TRUE(found.ok()) << found.error().message();
  for (const KnownTask& task : found->tasks) {
    EXPECT_EQ(Calls(task.demonstration), 0);
    const std::string text = DumpJson(task.demonstration);
    EXPECT_EQ(text.find("I know this without") != std::string::npos, !task.steps.empty()) << text;
    EXPECT_EQ(text.find("I do not know"), std::string::npos);
  }
}

TEST_F(KnownStepsTest, WithoutThoughtsTheDemonstrationsSayNothingOfIt) {
  const auto found = Find({.tasks = 6, .samples = 1, .threshold = 0, .thoughts = false});
  ASSERT_TRUE(found.ok()) << found.error().message();
  for (const KnownTask& task : found->tasks) {
    EXPECT_EQ(DumpJson(task.demonstration).find("reasoning_content"), std::string::npos);
  }
}

TEST_F(KnownStepsTest, WhatCannotBeAskedAboutIsAnError) {
  const auto talks = Find({.tasks = 2}, "service");
  ASSERT_FALSE(talks.ok());
  EXPECT_EQ(talks.error().code(), ErrorCode::kUnsupported);
  const auto none = Find({.tasks = 0});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), ErrorCode::kNotFound);
  const auto stopped = Find({.tasks = 3, .samples = 1, .stop = [] { return true; }});
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code(), ErrorCode::kStopped);
}

}  // namespace
}  // namespace hone
