#include "envs/command_env.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "base/file.h"
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

// A program in Python, by the package that travels in the binary: it counts its steps, and does
// what the answer says.
constexpr char kCounting[] = R"(
import os, time
import hone

@hone.environment
class Counting:
    def reset(self, task, seed):
        self.seed, self.said = seed, []
        return "count"

    def step(self, action):
        if action.answer == "hang": time.sleep(1000)
        if action.answer == "die": os._exit(3)
        if action.answer == "raise": raise ValueError("no luck")
        self.said.append(action.answer)
        return {"reply": " ".join(self.said), "state": {"seed": self.seed, "process": os.getpid()}}

hone.run()
)";

class CommandProcessesTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Environment> Start(
      int64_t processes, std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / "env.py", kCounting).ok());
    CommandEnvOptions options;
    options.command = {"/usr/bin/python3", (folder_.path() / "env.py").string()};
    options.deadline = deadline;
    options.processes = processes;
    return NewCommandEnvironment(ToolboxOf({}), options);
  }

  static std::string Say(Episode& episode, const char* what) {
    AgentTurn turn;
    turn.answer = what;
    const EnvironmentTurn reply = episode.Step(turn);
    return reply.ending == Ending::kFailed ? "failed" : reply.user;
  }
  static int64_t ProcessOf(const Episode& episode) {
    const Json state = episode.final_state();
    const Json* process = state.Find("process");
    return process == nullptr ? 0 : process->AsInteger();
  }

  TemporaryDirectory folder_;
};

TEST_F(CommandProcessesTest, EpisodesAreSpreadOverProcessesAndAreTheSameInAny) {
  const auto one = Start(1), three = Start(3);
  std::vector<std::unique_ptr<Episode>> in_one, in_three;
  std::map<int64_t, int> used;
  for (uint64_t i = 0; i < 6; ++i) {
    in_one.push_back(one->Open(Any(), i).value());
    in_three.push_back(three->Open(Any(), i).value());
    for (const char* word : {"a", "b"}) {
      EXPECT_EQ(Say(*in_one.back(), word), Say(*in_three.back(), word));
    }
    ++used[ProcessOf(*in_three.back())];
    EXPECT_EQ(*in_three.back()->final_state().Find("seed"), Json(static_cast<int64_t>(i)));
  }
  EXPECT_EQ(used.size(), 3u);
  for (const auto& [process, count] : used) EXPECT_EQ(count, 2) << process;
}

TEST_F(CommandProcessesTest, OneThatHangsCostsItsOwnDeadlineAndOthersAreBuiltAgain) {
  const auto environment = Start(2, std::chrono::milliseconds(1500));
  std::vector<std::unique_ptr<Episode>> episodes;
  for (uint64_t i = 0; i < 4; ++i) {
    episodes.push_back(environment->Open(Any(), i).value());
    EXPECT_EQ(Say(*episodes.back(), "a"), "a");
  }
  ASSERT_EQ(ProcessOf(*episodes[0]), ProcessOf(*episodes[2]));
  const int64_t before = ProcessOf(*episodes[2]);
  std::jthread hanging([&] { EXPECT_EQ(Say(*episodes[0], "hang"), "failed"); });
  // The other process answers meanwhile.
  for (int i = 0; i < 20; ++i) EXPECT_NE(Say(*episodes[1], "b"), "failed");
  hanging.join();
  EXPECT_EQ(Say(*episodes[0], "a"), "failed") << "it is over";
  EXPECT_EQ(Say(*episodes[2], "b"), "a b") << "what it was told was told again";
  EXPECT_NE(ProcessOf(*episodes[2]), before);
  EXPECT_EQ(*episodes[2]->final_state().Find("seed"), Json(2));
}

TEST_F(CommandProcessesTest, ClonesOfALostEpisodeAreBuiltAgainToo) {
  const auto environment = Start(1);
  const auto first = environment->Open(Any(), 1).value(),
             other = environment->Open(Any(), 2).value();
  EXPECT_EQ(Say(*first, "a"), "a");
  EXPECT_EQ(Say(*other, "die"), "failed");
  const auto clone = first->Clone().value();
  EXPECT_EQ(Say(*clone, "b"), "a b");
  EXPECT_EQ(Say(*first, "c"), "a c");
}

TEST_F(CommandProcessesTest, WhatIsRaisedIsSaidAndTheProcessGoesOn) {
  const auto environment = Start(1);
  const auto first = environment->Open(Any(), 1).value(),
             other = environment->Open(Any(), 2).value();
  EXPECT_EQ(Say(*other, "a"), "a");
  EXPECT_EQ(Say(*first, "raise"), "failed");
  EXPECT_EQ(*first->final_state().Find("error"), Json("ValueError: no luck (env.py:14)"));
  const int64_t process = ProcessOf(*other);
  EXPECT_EQ(Say(*other, "b"), "a b");
  EXPECT_EQ(ProcessOf(*other), process);
}

}  // namespace
}  // namespace hone
