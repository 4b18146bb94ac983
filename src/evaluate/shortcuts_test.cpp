#include "evaluate/shortcuts.h"

#include <gtest/gtest.h>

#include "envs/data_env.h"
#include "envs/environments.h"
#include "support/scripted_toolkit.h"

namespace hone {
namespace {

Task TaskOf(int i, const std::string& kind, const std::string& answer) {
  Task task;
  task.id = std::to_string(i);
  task.messages = Json::Array{Json::Of({{"role", "user"}, {"content", "?"}})};
  task.answer = answer;
  task.metadata = Json::Of({{"kind", kind}});
  return task;
}

TEST(Shortcuts, TheBestAnswerForAllAndForEachKindAreFound) {
  const auto environment = NewDataEnvironment(ToolboxOf({std::make_shared<ScriptedToolkit>()}), {});
  std::vector<Task> tasks;
  for (int i = 0; i < 40; ++i) tasks.push_back(TaskOf(i, "a", "red"));
  for (int i = 0; i < 20; ++i) tasks.push_back(TaskOf(40 + i, "b", "blue"));
  const Shortcuts found = MeasureShortcuts(*environment, tasks, 1).value();
  EXPECT_EQ(found.answer, "red");
  EXPECT_EQ(found.tasks, 30);
  EXPECT_NEAR(found.constant, 2.0 / 3, 1e-12);
  EXPECT_EQ(found.without_call, 1);
}

TEST(Shortcuts, LuckInChoosingDoesNotCount) {
  const auto environment = NewDataEnvironment(ToolboxOf({std::make_shared<ScriptedToolkit>()}), {});
  std::vector<Task> tasks;
  for (int i = 0; i < 50; ++i) tasks.push_back(TaskOf(i, "a", "answer " + std::to_string(i)));
  const Shortcuts found = MeasureShortcuts(*environment, tasks, 1).value();
  EXPECT_EQ(found.constant, 0);
  EXPECT_EQ(found.without_call, 0);
  EXPECT_EQ(MeasureShortcuts(*environment, {}, 1)->tasks, 0);
}

TEST(Shortcuts, WhatHasToBeToldCanBeSaidInOneBreath) {
  const LoadedEnvironment service = NewBuiltIn("service").value();
  std::vector<Task> tasks;
  for (uint64_t i = 0; i < 300; ++i) tasks.push_back(service.tasks->Make(Split::kTrain, i));
  const Shortcuts found = MeasureShortcuts(*service.environment, tasks, 1).value();
  // Whoever says every status tells the right one.
  EXPECT_NE(found.answer.find("shipped"), std::string::npos) << found.answer;
  EXPECT_GT(found.without_call, 0.05);
  EXPECT_LT(found.without_call, 0.5);
}

}  // namespace
}  // namespace hone
