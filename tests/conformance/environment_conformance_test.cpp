// What every environment promises, over all of them.

#include <gtest/gtest.h>

#include <thread>

#include "base/file.h"
#include "base/subprocess.h"
#include "conformance/sums_environment.h"
#include "envs/agents.h"
#include "envs/desk/desk.h"
#include "envs/environments.h"
#include "support/env_player.h"

namespace hone {
namespace {

constexpr char kRiddles[] =
    R"({"id":"a","prompt":"Add 2 and 3.","answer":5,)"
    R"("metadata":{"plan":{"calls":[{"name":"calculator","arguments":{"expression":"2+3"}}],)"
    R"("answer":"${0.result}"}}})"
    "\n"
    R"({"id":"b","prompt":"Which sky?","answer":"fog",)"
    R"("metadata":{"plan":{"calls":[],"answer":"Fog."}}})"
    "\n";

constexpr char kGuesses[] =
    R"({"id":"low","prompt":"","metadata":{"plan":{"calls":[],"answer":"3"},"number":3}})"
    "\n"
    R"({"id":"high","prompt":"","metadata":{"plan":{"calls":[],"answer":"9"},"number":9}})"
    "\n";

constexpr char kServedGuesses[] =
    R"({"id":"low","prompt":"","metadata":{"plan":{"calls":[],"answer":"3"},"reset":{"number":3}}})"
    "\n"
    R"({"id":"high","prompt":"","metadata":{"plan":{"calls":[],"answer":"9"},"reset":{"number":9}}})"
    "\n";

// The address of a server that lives as long as the tests.
const std::string& OpenEnvUrl() {
  static const std::unique_ptr<Subprocess> server =
      Subprocess::Start({"/usr/bin/python3", HONE_SOURCE_DIR "/tests/support/openenv_server.py"})
          .value();
  static const std::string url =
      "http://127.0.0.1:" + server->ReadLine(std::chrono::seconds(60)).value();
  return url;
}

// Environments of users: one of data, one that is a program, one on a server.
LoadedEnvironment FromRecipe(const std::string& recipe_text, const std::string& tasks) {
  TemporaryDirectory directory;
  const std::string file = (directory.path() / "tasks.jsonl").string();
  CHECK(WriteFileAtomic(file, tasks).ok(), "no temporary directory");
  Recipe recipe = Recipe::Parse(recipe_text + "train = \"" + file + "\"\n", "recipe").value();
  const EnvironmentOptions environment = ReadEnvironment(recipe.Root());
  const Result<void> finished = recipe.Finish();
  CHECK(finished.ok(), finished.error().message());
  return environment.make(desk::NewDesk({}).value()->tools()).value();
}

// The program's own, and the one that is there to be copied.
const std::vector<RegisteredEnvironment>& AllEnvironments() {
  static const std::vector<RegisteredEnvironment> all = [] {
    std::vector<RegisteredEnvironment> table = BuiltInEnvironments();
    table.push_back(sums::Register());
    return table;
  }();
  return all;
}

// Whoever registers an environment that is no part of the program says here how to play it.
LoadedEnvironment Make(const std::string& name) {
  if (name == "data") return FromRecipe("[environment]\nsystem = \"Be brief.\"\n", kRiddles);
  if (name == "command") {
    return FromRecipe(
        "[environment]\nkind = \"command\"\ncommand = [\"python3\", \"" HONE_SOURCE_DIR
        "/examples/environments/guess.py\"]\n",
        kGuesses);
  }
  if (name == "openenv") {
    return FromRecipe("[environment]\nkind = \"openenv\"\nurl = \"" + OpenEnvUrl() + "\"\n",
                      kServedGuesses);
  }
  return NewBuiltIn(name, AllEnvironments()).value();
}

class EnvironmentConformanceTest : public testing::TestWithParam<std::string> {
 protected:
  EnvironmentConformanceTest() : loaded_(Make(GetParam())), player_(loaded_.environment) {}

  Task TaskAt(uint64_t index) const {
    const uint64_t count = loaded_.tasks->count(Split::kTrain).value_or(index + 1);
    return loaded_.tasks->Make(Split::kTrain, index % count);
  }
  std::unique_ptr<Agent> Gold(const Task& task) { return loaded_.gold_agent(task).value(); }

  // Everything an agent gets to see, and the end.
  static std::string TextOf(const Playthrough& played) {
    std::string text = DumpJson(played.opening.messages) + DumpJson(played.opening.tools);
    for (const PlayedTurn& turn : played.turns) {
      for (const ToolResult& result : turn.agent.results) text += result.content + "\n";
      for (const std::string& notice : turn.environment.notices) text += notice + "\n";
      text += turn.environment.user + "\n";
    }
    return text + std::string(EndingName(played.ending)) + DumpJson(played.final_state);
  }

  // The environment with rules of the test's own around it. Rules inside stay.
  EnvPlayer With(const Rules& rules) const {
    return EnvPlayer(WithRules(loaded_.environment, rules));
  }

  LoadedEnvironment loaded_;
  EnvPlayer player_;
};

// Makes one malformed turn, then plays on.
class Stumbling final : public Agent {
 public:
  explicit Stumbling(std::unique_ptr<Agent> then, AgentTurn first)
      : then_(std::move(then)), first_(std::move(first)) {}

  AgentTurn Act(const Opening& opening, const std::vector<PlayedTurn>& turns) override {
    if (turns.empty()) return first_;
    return then_->Act(opening, {turns.begin() + 1, turns.end()});
  }

 private:
  std::unique_ptr<Agent> then_;
  AgentTurn first_;
};

// The same turn for ever.
class Repeating final : public Agent {
 public:
  explicit Repeating(AgentTurn turn) : turn_(std::move(turn)) {}
  AgentTurn Act(const Opening&, const std::vector<PlayedTurn>&) override { return turn_; }

 private:
  AgentTurn turn_;
};

AgentTurn Unreadable() {
  AgentTurn turn;
  turn.faults = {{FaultKind::kBadJson, "a comma is missing", {}}};
  turn.tokens = 10;
  return turn;
}

AgentTurn CallOf(const Environment& environment) {
  AgentTurn turn;
  turn.calls = {{environment.tools()->tools()[0].spec.name, Json::Object(), {}}};
  return turn;
}

TEST_P(EnvironmentConformanceTest, TheSameSeedIsTheSameEpisode) {
  EnvPlayer other(Make(GetParam()).environment);
  for (uint64_t i = 0; i < 30; ++i) {
    const Task task = TaskAt(i);
    EXPECT_EQ(TextOf(player_.Run(task, Gold(task), 5)), TextOf(other.Run(task, Gold(task), 5)));
    const Json tools = VisibleTools(*loaded_.environment);
    EXPECT_EQ(TextOf(player_.Run(task, NewRandomAgent(tools, Rng(i)), 5)),
              TextOf(other.Run(task, NewRandomAgent(tools, Rng(i)), 5)));
  }
}

TEST_P(EnvironmentConformanceTest, ThreadsDoNotDisturbEachOther) {
  const auto play = [&](bool backwards) {
    EnvPlayer player(loaded_.environment);
    std::vector<std::string> texts(20);
    for (size_t n = 0; n < texts.size(); ++n) {
      const size_t i = backwards ? texts.size() - 1 - n : n;
      const Task task = TaskAt(i);
      texts[i] = TextOf(player.Run(task, Gold(task), 5));
    }
    return texts;
  };
  const std::vector<std::string> alone = play(false);
  std::vector<std::string> first, second;
  std::thread other([&] { second = play(true); });
  first = play(false);
  other.join();
  EXPECT_EQ(first, alone);
  EXPECT_EQ(second, alone) << "whoever asks first";
}

TEST_P(EnvironmentConformanceTest, ItsOwnPlansSucceed) {
  for (uint64_t i = 0; i < 50; ++i) {
    const Task task = TaskAt(i);
    const Playthrough played = player_.Run(task, Gold(task));
    EXPECT_TRUE(played.success()) << task.id << " " << TextOf(played);
    EXPECT_EQ(played.blame, Blame::kNone);
    EXPECT_NE(played.final_state.Find("answer"), nullptr);
  }
}

TEST_P(EnvironmentConformanceTest, AMalformedTurnGetsAnErrorTextAndTheEpisodeGoesOn) {
  for (const AgentTurn& first : {Unreadable(), AgentTurn{}}) {
    for (uint64_t i = 0; i < 10; ++i) {
      const Task task = TaskAt(i);
      const Playthrough played = player_.Run(task, std::make_unique<Stumbling>(Gold(task), first));
      ASSERT_GE(played.turns.size(), 2u);
      ASSERT_EQ(played.turns[0].environment.notices.size(), 1u);
      EXPECT_FALSE(played.turns[0].environment.ending);
      EXPECT_TRUE(played.success()) << TextOf(played);
      if (!first.faults.empty()) {
        EXPECT_NE(played.turns[0].environment.notices[0].find("a comma is missing"),
                  std::string::npos);
      }
    }
  }
}

TEST_P(EnvironmentConformanceTest, WhereMistakesStopItTheEndingSaysSo) {
  Rules rules;
  rules.on_fault = rules.on_void = OnMistake::kStop;
  EnvPlayer strict = With(rules);
  const Task task = TaskAt(0);
  EXPECT_EQ(strict.Run(task, std::make_unique<Repeating>(Unreadable())).ending, Ending::kInvalid);
  const Playthrough empty = strict.Run(task, std::make_unique<Repeating>(AgentTurn{}));
  EXPECT_EQ(empty.ending, Ending::kVoid);
  EXPECT_EQ(empty.blame, Blame::kAgent);
}

TEST_P(EnvironmentConformanceTest, AClonePlaysOnByItself) {
  for (uint64_t i = 0; i < 5; ++i) {
    const Task task = TaskAt(i);
    const Playthrough gold = player_.Run(task, Gold(task), 3);
    // At every turn: the original goes on as if nothing had been, whatever the clone does.
    for (size_t at = 0; at < gold.turns.size(); ++at) {
      auto episode = loaded_.environment->Open(task, 3).value();
      for (size_t t = 0; t < at; ++t) episode->Step(gold.turns[t].agent);
      auto clone = episode->Clone();
      ASSERT_TRUE(clone.ok()) << clone.error().message();
      EXPECT_EQ((*clone)->final_state(), episode->final_state());
      AgentTurn wrong;
      wrong.answer = "something else";
      (*clone)->Step(wrong);
      for (size_t t = at; t < gold.turns.size(); ++t) episode->Step(gold.turns[t].agent);
      EXPECT_EQ(episode->final_state(), gold.final_state);
    }
  }
}

TEST_P(EnvironmentConformanceTest, EpisodesShareNothing) {
  const Task first = TaskAt(0), second = TaskAt(1);
  const Playthrough one = player_.Run(first, Gold(first)), two = player_.Run(second, Gold(second));
  auto a = loaded_.environment->Open(first, 1).value(),
       b = loaded_.environment->Open(second, 1).value();
  for (size_t t = 0; t < std::max(one.turns.size(), two.turns.size()); ++t) {
    if (t < one.turns.size()) a->Step(one.turns[t].agent);
    if (t < two.turns.size()) b->Step(two.turns[t].agent);
  }
  EXPECT_EQ(a->final_state(), one.final_state);
  EXPECT_EQ(b->final_state(), two.final_state);
}

TEST_P(EnvironmentConformanceTest, EveryBudgetEndsItWithItsEnding) {
  const Task task = TaskAt(0);
  // Unreadable turns cost turns and tokens, and nothing else ends them.
  const auto ending = [&](const Budgets& budgets, AgentTurn turn) {
    Rules rules;
    rules.budgets = budgets;
    EnvPlayer player = With(rules);
    return player.Run(task, std::make_unique<Repeating>(std::move(turn)));
  };
  const Playthrough turns = ending({.turns = 3}, Unreadable());
  EXPECT_EQ(turns.ending, Ending::kTurnLimit);
  EXPECT_EQ(turns.turns.size(), 3u);
  const Playthrough tokens = ending({.tokens = 20}, Unreadable());
  EXPECT_EQ(tokens.ending, Ending::kTokenLimit);
  EXPECT_EQ(tokens.turns.size(), 2u);
  AgentTurn long_context = Unreadable();
  long_context.context_tokens = 100;
  EXPECT_EQ(ending({.context_tokens = 100}, long_context).ending, Ending::kTokenLimit);
  EXPECT_EQ(ending({.money = 25, .token_price = 1}, Unreadable()).ending, Ending::kBudget);
  // A readable call ends a single-turn environment; an unreadable one beside it does not.
  AgentTurn calls = CallOf(*loaded_.environment);
  if (loaded_.environment->traits().kind == EnvironmentKind::kSingleTurn) {
    calls.calls.push_back(calls.calls[0]);
    EXPECT_EQ(ending({.calls = 1}, calls).ending, Ending::kAnswered);
  } else {
    const Playthrough called = ending({.calls = 2}, calls);
    EXPECT_EQ(called.ending, Ending::kBudget);
    EXPECT_EQ(called.turns.size(), 3u) << "an agent may answer after its last call";
  }
}

TEST_P(EnvironmentConformanceTest, WhatIsLeftIsShown) {
  Rules rules;
  rules.budgets = {.turns = 4, .calls = 10, .show = true};
  EnvPlayer player = With(rules);
  const Playthrough played = player.Run(TaskAt(0), std::make_unique<Repeating>(Unreadable()));
  ASSERT_EQ(played.turns.size(), 4u);
  EXPECT_EQ(played.turns[0].environment.notices.back(),
            "Budget: turns 3 of 4 left (HIGH); calls 10 of 10 left (HIGH).");
  EXPECT_EQ(played.turns[2].environment.notices.back(),
            "Budget: turns 1 of 4 left (LOW); calls 10 of 10 left (HIGH).");
}

TEST_P(EnvironmentConformanceTest, AnAnswerInTheLastTurnCounts) {
  for (uint64_t i = 0; i < 10; ++i) {
    const Task task = TaskAt(i);
    Rules rules;
    rules.budgets.turns = static_cast<int64_t>(player_.Run(task, Gold(task)).turns.size());
    EnvPlayer player = With(rules);
    EXPECT_TRUE(player.Run(task, Gold(task)).success());
  }
}

TEST_P(EnvironmentConformanceTest, SomebodyElsesFailureIsNotTheAgents) {
  for (const Blame blame : {Blame::kSimulator, Blame::kInfrastructure, Blame::kUserSimulator}) {
    auto episode = loaded_.environment->Open(TaskAt(0), 1).value();
    AgentTurn turn = CallOf(*loaded_.environment);
    turn.results = {{.call = 0, .status = CallStatus::kUnavailable, .blame = blame}};
    const EnvironmentTurn reply = episode->Step(turn);
    EXPECT_EQ(reply.ending, Ending::kFailed);
    EXPECT_EQ(reply.blame, blame);
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const RegisteredEnvironment& one : AllEnvironments()) names.push_back(one.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, EnvironmentConformanceTest, testing::ValuesIn(Names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace hone
