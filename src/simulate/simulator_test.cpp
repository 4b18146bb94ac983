#include "simulate/simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <thread>

#include "base/file.h"
#include "support/scripted_toolkit.h"
#include "tools/modes.h"

namespace hone {
namespace {

Json J(std::string_view text) { return ParseJson(text).value(); }

// A shop that is only described, and a real calculator of doubles.
std::shared_ptr<const Toolbox> Shop() {
  auto kit = std::make_shared<ScriptedToolkit>();
  auto absent = [](const Json&, const CallLimits&) {
    return Unavailable("this tool is only described", Blame::kInfrastructure);
  };
  const Json order = J(R"({"type": "object", "required": ["order_id"],
      "properties": {"order_id": {"type": "string"}}})");
  kit->Add({.name = "get_order",
            .parameters = order,
            .output = J(R"({"type": "object", "required": ["address", "total"], "properties": {
                "address": {"type": "string"}, "total": {"type": "integer", "minimum": 1}}})"),
            .resource = "orders"},
           absent);
  kit->Add({.name = "move_order",
            .parameters = J(R"({"type": "object", "required": ["order_id", "address"]})"),
            .output = J(R"({"type": "object", "required": ["ok"], "properties": {
                "ok": {"const": true}}})"),
            .effect = Effect::kWrites,
            .resource = "orders"},
           absent);
  kit->Add({.name = "twice",
            .parameters = J(R"({"type": "object"})"),
            .output = J(R"({"type": "integer"})"),
            .effect = Effect::kPure,
            .computable = true},
           [](const Json& arguments, const CallLimits&) {
             return Answered(std::to_string(2 * arguments.Find("n")->AsInteger()));
           });
  kit->Add({.name = "guess",
            .parameters = J(R"({"type": "object"})"),
            .output = J(R"({"type": "integer", "minimum": 0, "maximum": 1000000})"),
            .effect = Effect::kPure,
            .computable = true},
           absent);
  return ToolboxOf({kit}, {.retries = 0});
}

// Plays as a function of the test says.
class ScriptedPlayer final : public Player {
 public:
  using Function = std::function<Result<PlayedResult>(const SimulatedCall&)>;
  explicit ScriptedPlayer(Function function) : function_(std::move(function)) {}
  std::string version() const override { return "scripted"; }
  bool minds_state() const override { return true; }
  Result<PlayedResult> Play(const SimulatedCall& call) override { return function_(call); }

 private:
  const Function function_;
};

// A trajectory against a simulator.
class World {
 public:
  World(std::shared_ptr<Responder> simulator, uint64_t seed, Timeline* timeline)
      : toolbox_(Shop()),
        sessions_(std::make_shared<Sessions>(toolbox_, seed)),
        executor_({.responders = {std::move(simulator)}}, timeline) {}

  CallOutcome Call(const std::string& tool, std::string_view arguments) {
    executor_.Submit(
        {{.run = "r", .task = "t", .path = "0", .call = next_++}, tool, J(arguments), sessions_});
    return executor_.Next().value();
  }
  std::string Ask(const std::string& tool, std::string_view arguments) {
    return Call(tool, arguments).result.content;
  }

 private:
  std::shared_ptr<const Toolbox> toolbox_;
  std::shared_ptr<Sessions> sessions_;
  Executor executor_;
  int32_t next_ = 0;
};

std::shared_ptr<Simulator> RandomSimulator() {
  return NewSimulator(NewRandomPlayer(), {}, nullptr);
}

TEST(Simulator, AnswersFitTheSchemaAndAreFixedBySeedArgumentsAndState) {
  const auto timeline = NewVirtualTimeline();
  World one(RandomSimulator(), 1, timeline.get()), same(RandomSimulator(), 1, timeline.get()),
      other(RandomSimulator(), 2, timeline.get());
  const CallOutcome outcome = one.Call("get_order", R"({"order_id":"7"})");
  EXPECT_EQ(outcome.result.status, CallStatus::kOk);
  EXPECT_EQ(outcome.source, CallSource::kSimulator);
  const std::string first = outcome.result.content;
  EXPECT_TRUE(J(first).Find("total")->is_integer());
  EXPECT_EQ(one.Ask("get_order", R"({"order_id":"7"})"), first);
  EXPECT_EQ(same.Ask("get_order", R"({"order_id":"7"})"), first);
  EXPECT_NE(one.Ask("get_order", R"({"order_id":"8"})"), first);
  EXPECT_NE(other.Ask("get_order", R"({"order_id":"7"})"), first);
  EXPECT_EQ(one.Ask("move_order", R"({"order_id":"7","address":"Oslo"})"), R"({"ok":true})");
  EXPECT_NE(one.Ask("get_order", R"({"order_id":"7"})"), first) << "the state has changed";
}

TEST(Simulator, WhatCanBeComputedIsComputedByTheRealTool) {
  const auto timeline = NewVirtualTimeline();
  const auto simulator = RandomSimulator();
  World world(simulator, 1, timeline.get());
  const CallOutcome outcome = world.Call("twice", R"({"n":21})");
  EXPECT_EQ(outcome.result.content, "42");
  EXPECT_EQ(outcome.source, CallSource::kComputed);
  EXPECT_EQ(world.Call("guess", "{}").source, CallSource::kSimulator)
      << "there is nothing to compute it with";
  EXPECT_EQ(simulator->counts().computed, 1);
}

// A recorded read is part of the world that is made up around it.
TEST(Simulator, WhatWasRecordedIsTrueInTheSimulatedWorld) {
  auto recorded = std::make_shared<JournaledCalls>();
  recorded->calls.push_back({.environment_seed = 1,
                             .tool = "get_order",
                             .arguments = J(R"({"order_id":"7"})"),
                             .answer = {.content = R"({"address":"Rome","total":5})"}});
  std::vector<std::string> seen;  // what a write is shown of the order
  const auto simulator = NewSimulator(
      std::make_shared<ScriptedPlayer>([&](const SimulatedCall& call) -> Result<PlayedResult> {
        for (const KnownResult& known : call.known) seen.push_back(known.answer.content);
        if (call.spec->name == "move_order") return PlayedResult{.content = R"({"ok":true})"};
        return PlayedResult{.content = R"({"address":"made up","total":1})"};
      }),
      {}, nullptr, recorded);
  const auto timeline = NewVirtualTimeline();
  World world(simulator, 1, timeline.get()), other(simulator, 2, timeline.get());
  const CallOutcome read = world.Call("get_order", R"({"order_id":"7"})");
  EXPECT_EQ(read.result.content, R"({"address":"Rome","total":5})");
  EXPECT_EQ(read.source, CallSource::kJournal);
  EXPECT_EQ(world.Call("get_order", R"({"order_id":"8"})").source, CallSource::kSimulator);
  EXPECT_EQ(other.Call("get_order", R"({"order_id":"7"})").source, CallSource::kSimulator);
  // A write to another order concerns neither.
  EXPECT_EQ(world.Ask("move_order", R"({"order_id":"8","address":"Oslo"})"), R"({"ok":true})");
  EXPECT_EQ(world.Call("get_order", R"({"order_id":"7"})").source, CallSource::kJournal);
  seen.clear();
  EXPECT_EQ(world.Ask("move_order", R"({"order_id":"7","address":"Oslo"})"), R"({"ok":true})");
  EXPECT_EQ(seen, (std::vector<std::string>{R"({"address":"Rome","total":5})"}));
  // After the write the record says nothing any more, but what it said is known.
  seen.clear();
  const CallOutcome after = world.Call("get_order", R"({"order_id":"7"})");
  EXPECT_EQ(after.source, CallSource::kSimulator);
  EXPECT_EQ(J(after.result.content).Find("address")->AsString(), "Oslo");
  EXPECT_EQ(seen, (std::vector<std::string>{R"({"address":"Rome","total":5})"}));
}

TEST(Simulator, TheOrderOfQuestionsAndTheNumberOfThreadsChangeNothing) {
  struct Asked {
    uint64_t seed;
    std::string arguments;
  };
  std::vector<Asked> questions;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    for (int order = 0; order < 25; ++order) {
      questions.push_back({seed, "{\"order_id\":\"" + std::to_string(order) + "\"}"});
    }
  }
  using Answers = std::map<std::pair<uint64_t, std::string>, std::string>;
  auto ask = [](const std::vector<Asked>& list, std::shared_ptr<Simulator> simulator) {
    const auto timeline = NewRealTimeline();
    Answers answers;
    for (const Asked& asked : list) {
      World world(simulator, asked.seed, timeline.get());
      answers[{asked.seed, asked.arguments}] = world.Ask("get_order", asked.arguments);
    }
    return answers;
  };
  const Answers straight = ask(questions, RandomSimulator());
  Rng rng(5);
  for (size_t i = questions.size(); i > 1; --i)
    std::swap(questions[i - 1], questions[rng.Below(i)]);
  EXPECT_EQ(ask(questions, RandomSimulator()), straight);
  std::vector<Asked> backwards(questions.rbegin(), questions.rend());
  const auto shared = RandomSimulator();
  Answers left, right;
  {
    std::jthread a([&] { left = ask(questions, shared); });
    std::jthread b([&] { right = ask(backwards, shared); });
  }
  EXPECT_EQ(left, straight);
  EXPECT_EQ(right, straight);
  EXPECT_EQ(shared->counts().played, 100) << "two who ask the same get one answer";
}

TEST(Simulator, AnAnswerThatDoesNotFitIsTriedAgainWithWhatWasWrong) {
  const auto timeline = NewVirtualTimeline();
  std::vector<std::string> problems;
  const auto simulator = NewSimulator(
      std::make_shared<ScriptedPlayer>([&](const SimulatedCall& call) -> Result<PlayedResult> {
        problems.push_back(call.problem);
        if (problems.size() == 1) return PlayedResult{.content = R"({"address":"Oslo"})"};
        if (problems.size() == 2) return PlayedResult{.problem = "no JSON"};
        return PlayedResult{.content = R"({"address":"Oslo","total":3})"};
      }),
      {}, nullptr);
  World world(simulator, 1, timeline.get());
  EXPECT_EQ(world.Ask("get_order", R"({"order_id":"7"})"), R"({"address":"Oslo","total":3})");
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_NE(problems[1].find("total"), std::string::npos) << problems[1];
  EXPECT_EQ(problems[2], "no JSON");
  EXPECT_EQ(simulator->counts().invalid, 2);
}

TEST(Simulator, WhoeverHasNoAnswerIsTheSimulatorAndNotTheAgent) {
  const auto timeline = NewVirtualTimeline();
  int plays = 0;
  bool there = true;
  const auto simulator = NewSimulator(
      std::make_shared<ScriptedPlayer>([&](const SimulatedCall&) -> Result<PlayedResult> {
        ++plays;
        if (!there) return Error(ErrorCode::kUnavailable, "nobody there");
        return PlayedResult{.content = "{}"};
      }),
      {.tries = 3}, nullptr);
  World world(simulator, 1, timeline.get());
  const ToolResult result = world.Call("get_order", R"({"order_id":"7"})").result;
  EXPECT_EQ(result.status, CallStatus::kUnavailable);
  EXPECT_EQ(result.blame, Blame::kSimulator);
  EXPECT_EQ(plays, 3);
  world.Call("get_order", R"({"order_id":"7"})");
  EXPECT_EQ(plays, 3) << "a fault is as fixed as an answer";
  there = false;
  EXPECT_NE(world.Ask("get_order", R"({"order_id":"8"})").find("nobody there"), std::string::npos);
  there = true;
  EXPECT_EQ(plays, 4);
  world.Call("get_order", R"({"order_id":"8"})");
  EXPECT_EQ(plays, 7) << "somebody who was not there may come back";
}

TEST(Simulator, AReadAfterAWriteShowsWhatWasWrittenAndKeepsTheRest) {
  const auto timeline = NewVirtualTimeline();
  for (const bool repair : {true, false}) {
    const auto simulator = NewSimulator(
        std::make_shared<ScriptedPlayer>([&](const SimulatedCall& call) -> Result<PlayedResult> {
          if (call.spec->effect == Effect::kWrites)
            return PlayedResult{.content = R"({"ok":true})"};
          if (call.writes.empty())
            return PlayedResult{.content = R"({"address":"Rome","total":3})"};
          // Told what was wrong it does better; else it repeats what it said before the write.
          if (!call.problem.empty())
            return PlayedResult{.content = R"({"address":"Oslo","total":3})"};
          return call.known.back().answer;
        }),
        {.repair = repair}, nullptr);
    World world(simulator, 1, timeline.get());
    EXPECT_EQ(world.Ask("get_order", R"({"order_id":"7"})"), R"({"address":"Rome","total":3})");
    world.Call("move_order", R"({"order_id":"7","address":"Oslo"})");
    EXPECT_EQ(world.Ask("get_order", R"({"order_id":"7"})"), R"({"address":"Oslo","total":3})");
    EXPECT_EQ(world.Ask("get_order", R"({"order_id":"8"})"), R"({"address":"Rome","total":3})");
    EXPECT_EQ(simulator->counts().contradicted, 1);
    EXPECT_EQ(simulator->counts().repaired, repair ? 1 : 0);
  }
}

TEST(Simulator, AReadSentTogetherWithAWriteWaitsForWhatTheWriteComesTo) {
  const auto timeline = NewRealTimeline();
  const auto toolbox = Shop();
  const auto simulator = NewSimulator(
      std::make_shared<ScriptedPlayer>([&](const SimulatedCall& call) -> Result<PlayedResult> {
        if (call.spec->effect == Effect::kWrites) return PlayedResult{.content = R"({"ok":true})"};
        return PlayedResult{.content = R"({"address":"Rome","total":)" +
                                       std::to_string(1 + call.writes.size()) + "}"};
      }),
      {}, timeline.get());
  Executor executor({.responders = {simulator}}, timeline.get());
  const auto sessions = std::make_shared<Sessions>(toolbox, 1);
  auto submit = [&](int32_t call, const std::string& tool, std::string_view arguments) {
    return executor.Submit({{"r", "t", "0", 0, call}, tool, J(arguments), sessions});
  };
  submit(0, "move_order", R"({"order_id":"7","address":"Oslo"})");
  const uint64_t read = submit(1, "get_order", R"({"order_id":"7"})");
  std::map<uint64_t, std::string> contents;
  while (auto outcome = executor.Next()) contents[outcome->ticket] = outcome->result.content;
  EXPECT_EQ(contents[read], R"({"address":"Oslo","total":2})");
}

TEST(Simulator, FromTheJournalAloneTheSameEpisodesComeOutOffline) {
  const TemporaryDirectory directory;
  const std::shared_ptr<Journal> journal =
      Journal::Open(directory.path() / "journal.sqlite").value();
  auto play = [&](ToolMode mode, std::shared_ptr<Responder> simulator) {
    const auto timeline = NewVirtualTimeline();
    const auto toolbox = Shop();
    Executor executor(
        OptionsFor({.mode = mode, .journal = journal, .simulator = std::move(simulator)}, *toolbox,
                   timeline.get())
            .value(),
        timeline.get());
    std::vector<std::string> contents;
    for (uint64_t task = 0; task < 5; ++task) {
      const auto sessions = std::make_shared<Sessions>(toolbox, task);
      int32_t number = 0;
      for (const auto& [tool, arguments] : std::vector<std::pair<std::string, std::string>>{
               {"get_order", R"({"order_id":"7"})"},
               {"move_order", R"({"order_id":"7","address":"Oslo"})"},
               {"get_order", R"({"order_id":"7"})"},
               {"twice", R"({"n":4})"}}) {
        executor.Submit(
            {{"run", std::to_string(task), "0", number++, 0}, tool, J(arguments), sessions});
        contents.push_back(executor.Next()->result.content);
      }
    }
    return contents;
  };
  const auto simulated = play(ToolMode::kReplayElseSimulate, RandomSimulator());
  EXPECT_EQ(play(ToolMode::kReplay, nullptr), simulated);
}

}  // namespace
}  // namespace hone
