#include "envs/command_env.h"

#include <gtest/gtest.h>

#include "support/scripted_toolkit.h"

namespace hone {
namespace {

// A program in the shell that answers each request with the next of these lines, then ends.
std::shared_ptr<const Environment> Says(const std::vector<std::string>& lines) {
  CommandEnvOptions options;
  std::string script;
  for (const std::string& line : lines) script += "read -r request; echo '" + line + "'; ";
  options.command = {"sh", "-c", script};
  options.deadline = std::chrono::milliseconds(5000);
  return NewCommandEnvironment(ToolboxOf({}), options);
}

Task Any() {
  Task task;
  task.id = "t";
  return task;
}

AgentTurn Answer() {
  AgentTurn turn;
  turn.answer = "x";
  return turn;
}

TEST(CommandEnvironmentTest, RepliesBecomeTurns) {
  const auto environment =
      Says({R"({"episode":"1","messages":[{"role":"user","content":"hi"}]})",
            R"({"user":"more","notices":["n"],"calls":[{"name":"user","arguments":{}}]})",
            R"({"ending":"user_stop","blame":"none","final_state":{"verdict":true}})"});
  const auto episode = environment->Open(Any(), 1).value();
  EXPECT_EQ(*episode->opening().messages.AsArray()[0].Find("content"), Json("hi"));
  const EnvironmentTurn first = episode->Step(Answer());
  EXPECT_EQ(first.user, "more");
  EXPECT_EQ(first.notices, std::vector<std::string>{"n"});
  EXPECT_EQ(first.calls[0].name, "user");
  const EnvironmentTurn second = episode->Resume({ToolResult{}});
  EXPECT_EQ(second.ending, Ending::kUserStop);
  EXPECT_EQ(*episode->final_state().Find("verdict"), Json(true));
}

TEST(CommandEnvironmentTest, WhatBreaksIsTheEnvironmentsFault) {
  constexpr char kReset[] = R"({"episode":"1"})";
  for (const std::vector<std::string>& lines :
       std::vector<std::vector<std::string>>{{kReset},
                                             {kReset, "no json"},
                                             {kReset, R"({"ending":"over"})"},
                                             {kReset, R"({"usr":"x"})"},
                                             {kReset, R"({"error":"oh"})"}}) {
    const auto environment = Says(lines);
    const auto episode = environment->Open(Any(), 1).value();
    const EnvironmentTurn turn = episode->Step(Answer());
    EXPECT_EQ(turn.ending, Ending::kFailed);
    EXPECT_EQ(turn.blame, Blame::kEnvironment);
    EXPECT_NE(episode->final_state().Find("error"), nullptr);
  }
}

TEST(CommandEnvironmentTest, AProgramThatEndedIsStartedAfresh) {
  const auto environment = Says({R"({"episode":"1"})"});
  const auto first = environment->Open(Any(), 1).value();
  EXPECT_EQ(first->Step(Answer()).ending, Ending::kFailed);
  const auto second = environment->Open(Any(), 1);
  ASSERT_TRUE(second.ok()) << second.error().message();
  EXPECT_EQ(first->Step(Answer()).ending, Ending::kFailed) << "its program is gone";
}

TEST(CommandEnvironmentTest, RefusalsAreErrors) {
  const auto refused = Says({R"({"error":"no such task"})"})->Open(Any(), 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(), "task \"t\": reset: no such task");
  EXPECT_FALSE(Says({"{}"})->Open(Any(), 1).ok());
  CommandEnvOptions missing;
  missing.command = {"/no/such/program"};
  EXPECT_FALSE(NewCommandEnvironment(ToolboxOf({}), missing)->Open(Any(), 1).ok());
  const auto environment = Says({R"({"episode":"1"})", R"({"error":"cannot"})"});
  EXPECT_EQ(environment->Open(Any(), 1).value()->Clone().error().message(), "cannot");
}

}  // namespace
}  // namespace hone
