#include "evaluate/journaling.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "envs/data_env.h"
#include "simulate/journaled_calls.h"
#include "support/scripted_toolkit.h"

namespace hone {
namespace {

class RecordingTest : public testing::Test {
 protected:
  std::unique_ptr<Journal> Open(const std::string& name) const {
    return Journal::Open(directory_.path() / name).value();
  }

  const TemporaryDirectory directory_;
};

TEST_F(RecordingTest, WhatWasPlayedIsThereToLearnFrom) {
  for (const char* name : {"desk", "service"}) {
    const LoadedEnvironment loaded = NewBuiltIn(name).value();
    const auto journal = Open(std::string(name) + ".sqlite");
    const JournalingReport report = JournalPlay(loaded, {.episodes = 60}, journal.get()).value();
    EXPECT_EQ(report.episodes, 60) << name;
    EXPECT_GT(report.calls, 60) << name;
    EXPECT_GT(report.by_tool.size(), 4u) << name;
    EXPECT_FALSE(report.refused.empty()) << name;
    const JournaledCalls calls =
        ReadRecordedCalls(journal.get(), loaded.environment->tools()).value();
    EXPECT_GT(calls.calls.size(), 50u) << name;
    EXPECT_EQ(calls.left_out, 0) << name;
    EXPECT_NE(report.Table().find("calls of 60 episodes"), std::string::npos);
    EXPECT_EQ(*report.ToJson().Find("calls"), Json(report.calls));
  }
}

TEST_F(RecordingTest, TellsHowFarItIsAndCanBeStopped) {
  const LoadedEnvironment desk = NewBuiltIn("desk").value();
  const auto journal = Open("stopped.sqlite");
  int64_t told = 0;
  const auto report = JournalPlay(desk,
                                  {.episodes = 30,
                                   .stop = [&] { return told == 7; },
                                   .progress =
                                       [&](int64_t done, int64_t all) {
                                         EXPECT_EQ(done, told++);
                                         EXPECT_EQ(all, 30);
                                       }},
                                  journal.get());
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code(), ErrorCode::kStopped);
  EXPECT_NE(report.error().message().find("after 7 of 30 tasks"), std::string::npos);
  EXPECT_GT(journal->Statistics()->calls, 0) << "what was asked is not lost";
}

TEST_F(RecordingTest, TheSameAgainAddsNothingAndAnotherSeedIsAnotherWorld) {
  const LoadedEnvironment desk = NewBuiltIn("desk").value();
  const auto first = Open("1.sqlite"), second = Open("2.sqlite");
  ASSERT_TRUE(JournalPlay(desk, {.episodes = 30}, first.get()).ok());
  const int64_t calls = first->Statistics()->calls;
  ASSERT_TRUE(JournalPlay(desk, {.episodes = 30}, first.get()).ok());
  EXPECT_EQ(first->Statistics()->calls, calls);
  // Another seed makes other mistakes, which are no outcome of the same calls.
  EXPECT_FALSE(JournalPlay(desk, {.episodes = 30, .seed = 2}, first.get()).ok());
  ASSERT_TRUE(JournalPlay(desk, {.run = "more", .episodes = 30, .seed = 2}, first.get()).ok());
}

TEST_F(RecordingTest, GoldAgentsAreNeverRefused) {
  for (const char* name : {"desk", "service"}) {
    const auto journal = Open(std::string(name) + ".sqlite");
    const JournalingReport report =
        JournalPlay(NewBuiltIn(name).value(), {.episodes = 50, .gold = true}, journal.get())
            .value();
    EXPECT_GT(report.calls, 30) << name;
    EXPECT_TRUE(report.refused.empty()) << name;
  }
}

TEST_F(RecordingTest, TasksOfAFileArePlayedTwiceOncePlainlyAndOnceWithSlips) {
  auto kit = std::make_shared<ScriptedToolkit>();
  kit->Add("double", Effect::kReads, [](const Json& arguments, const CallLimits&) {
    return Answered(DumpJson(Json::Of({{"twice", 2 * arguments.Find("n")->AsInteger()}})));
  });
  std::vector<Task> tasks;
  for (int i = 0; i < 5; ++i) {
    Task task;
    task.id = "t" + std::to_string(i);
    task.messages = Json::Array{Json::Of({{"role", "user"}, {"content", "double it"}})};
    const Json call = Json::Of({{"name", "double"}, {"arguments", Json::Of({{"n", i}})}});
    task.reward = Json::Of({{"calls", Json::Array{call}}});
    task.metadata =
        Json::Of({{"plan", Json::Of({{"calls", Json::Array{call}}, {"answer", "${0.twice}"}})}});
    tasks.push_back(std::move(task));
  }
  const auto toolbox = ToolboxOf({kit});
  LoadedEnvironment loaded = NewBuiltIn("desk").value();
  loaded.environment = NewDataEnvironment(toolbox, {});
  loaded.tasks = NewListedTasks({{Split::kTrain, tasks}});
  loaded.recording = {};
  const auto journal = Open("data.sqlite");
  const JournalingReport report = JournalPlay(loaded, {.episodes = 100}, journal.get()).value();
  EXPECT_EQ(report.episodes, 5);
  EXPECT_EQ(report.calls, 10);
}

}  // namespace
}  // namespace hone
