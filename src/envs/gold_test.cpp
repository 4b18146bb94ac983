#include "envs/gold.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "envs/desk/desk.h"
#include "envs/desk/desk_tasks.h"
#include "support/env_player.h"

namespace hone {
namespace {

std::shared_ptr<const Environment> Desk() {
  return WithRules(desk::NewDesk({}).value(), desk::DeskRules());
}

Task TaskOf(const std::string& answer, const std::string& calls) {
  Task task;
  task.id = "t";
  task.messages = *ParseJson(R"([{"role": "user", "content": "Which hour?"}])");
  task.answer = answer;
  task.reward = Json::Of({{"calls", *ParseJson(calls)}});
  task.metadata = Json::Of({{"seed", 7}});
  return task;
}

TEST(WorldTest, InTheRealWorldNothingChanges) {
  EnvPlayer player(Desk());
  const auto source = desk::NewTaskSource({});
  std::vector<Task> tasks;
  for (uint64_t i = 0; i < 200; ++i) tasks.push_back(source->Make(Split::kTrain, i));
  const std::vector<uint64_t> seeds(tasks.size(), 1);
  const auto there =
      GoldInWorld(player.environment(), tasks, seeds, player.executor(), "run").value();
  ASSERT_EQ(there.size(), tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(there[i].void_because, "");
    EXPECT_EQ(there[i].task, tasks[i]);
  }
}

TEST(WorldTest, APlanThatMeetsAnErrorIsVoid) {
  EnvPlayer player(Desk());
  Task task = TaskOf("x", "[]");
  task.metadata.Set("plan", *ParseJson(R"({"calls": [
      {"name": "clock", "arguments": {"city": "Nowhere"}}], "answer": "${0.hour}"})"));
  Task lost = task;
  lost.metadata.Set("plan", *ParseJson(R"({"calls": [
      {"name": "clock", "arguments": {"city": "Oslo"}}], "answer": "${0.minute}"})"));
  const auto there = GoldInWorld(player.environment(), std::vector<Task>{task, lost},
                                 std::vector<uint64_t>{1, 1}, player.executor(), "run")
                         .value();
  EXPECT_NE(there[0].void_because.find("call 0 of its plan ended tool_error"), std::string::npos)
      << there[0].void_because;
  EXPECT_NE(there[1].void_because.find("has no \"minute\""), std::string::npos);
}

// Without a plan, an answer is right only where what it rests on is what the real world said.
TEST(WorldTest, AFixedAnswerStaysOnlyWhereItsCallsAreRecorded) {
  TemporaryDirectory directory;
  std::shared_ptr<Journal> journal = Journal::Open(directory.path() / "journal.sqlite").value();
  const auto environment = Desk();
  const std::string calls = R"([{"name": "clock", "arguments": {"city": "Oslo"}}])";
  const Task recorded = TaskOf("12", calls);
  const auto ask = [&](ToolMode mode, const Task& task) {
    EnvPlayer player(environment, {.mode = mode, .journal = journal});
    return GoldInWorld(*environment, std::vector<Task>{task}, std::vector<uint64_t>{1},
                       player.executor(), "run")
        .value()[0];
  };
  EXPECT_TRUE(ask(ToolMode::kRecord, recorded).task.answer.is_null());  // nobody had recorded it
  EXPECT_EQ(ask(ToolMode::kReplay, recorded).task, recorded);
  const Task other = TaskOf("12", R"([{"name": "clock", "arguments": {"city": "Rome"}}])");
  const GoldTask unknown = ask(ToolMode::kReplay, other);
  EXPECT_TRUE(unknown.task.answer.is_null());
  EXPECT_EQ(unknown.task.reward, other.reward);
  EXPECT_EQ(unknown.void_because, "");
  EXPECT_EQ(ask(ToolMode::kReplay, TaskOf("12", "[]")).task.answer, Json("12"));  // needs no call
}

TEST(WorldTest, EveryTaskHasAWorldOfItsOwn) {
  Task a, b;
  a.id = "a";
  b.id = "b";
  EXPECT_EQ(WorldSeed(1, a), WorldSeed(1, a));
  EXPECT_NE(WorldSeed(1, a), WorldSeed(1, b));
  EXPECT_NE(WorldSeed(1, a), WorldSeed(2, a));
}

TEST(WorldTest, WhatIsNoTaskIsNamed) {
  EnvPlayer player(Desk());
  Task task = TaskOf("x", "[]");
  task.metadata.Set("plan", 3);
  const auto there = GoldInWorld(player.environment(), std::vector<Task>{task},
                                 std::vector<uint64_t>{1}, player.executor(), "run");
  ASSERT_FALSE(there.ok());
  EXPECT_NE(there.error().message().find("task \"t\""), std::string::npos);
}

}  // namespace
}  // namespace hone
