#include "envs/rules.h"

#include <gtest/gtest.h>

#include "envs/data_env.h"
#include "support/scripted_toolkit.h"

// What holds for every environment is tested over all of them in tests/conformance.

namespace hone {
namespace {

std::shared_ptr<const Toolbox> Priced() {
  auto toolkit = std::make_shared<ScriptedToolkit>();
  ToolSpec spec;
  spec.name = "ask";
  spec.parameters = Json::Of({{"type", "object"}});
  spec.price = 2;
  toolkit->Add(spec, [](const Json&, const CallLimits&) { return Answered("x"); });
  return ToolboxOf({toolkit});
}

std::unique_ptr<Episode> Open(const Rules& rules) {
  Task task;
  task.messages = Json::Array{Json::Of({{"role", "user"}, {"content", "?"}})};
  return WithRules(NewDataEnvironment(Priced(), {}), rules)->Open(task, 1).value();
}

AgentTurn Asking(int times) {
  AgentTurn turn;
  for (int i = 0; i < times; ++i) {
    turn.calls.push_back({"ask", Json::Object(), {}});
    turn.results.push_back({.call = i});
  }
  turn.tokens = 5;
  return turn;
}

TEST(RulesTest, CallsCostTheirPrice) {
  const auto episode = Open({.budgets = {.money = 5}});
  EXPECT_FALSE(episode->Step(Asking(2)).ending);
  EXPECT_EQ(episode->Step(Asking(1)).ending, Ending::kBudget);
  EXPECT_EQ(DumpJson(*episode->final_state().Find("used")),
            R"({"turns":2,"calls":3,"tokens":10,"money":6.0})");
}

TEST(RulesTest, WhatCouldBeReadIsCarriedOutButTheAnswerDoesNotCount) {
  const auto episode = Open({});
  AgentTurn turn = Asking(1);
  turn.answer = "x";
  turn.faults = {{FaultKind::kUnexpectedText, "text behind the call", {}}};
  const EnvironmentTurn reply = episode->Step(turn);
  EXPECT_FALSE(reply.ending);
  EXPECT_EQ(reply.notices, std::vector<std::string>{"Your turn could not be read "
                                                    "(unexpected_text): text behind the call"});
  EXPECT_TRUE(episode->final_state().Find("answer")->is_null());
}

TEST(RulesTest, AToolsFailureIsTheAgentsToCopeWith) {
  const auto episode = Open({});
  AgentTurn turn = Asking(1);
  turn.results[0].status = CallStatus::kTimeout;
  turn.results[0].blame = Blame::kTool;
  EXPECT_FALSE(episode->Step(turn).ending);
}

TEST(RulesTest, ACloneHasABudgetOfItsOwn) {
  const auto episode = Open({.budgets = {.calls = 2}});
  episode->Step(Asking(2));
  const auto clone = episode->Clone().value();
  EXPECT_EQ(clone->Step(Asking(1)).ending, Ending::kBudget);
  AgentTurn answer;
  answer.answer = "x";
  EXPECT_EQ(episode->Step(answer).ending, Ending::kAnswered);
}

TEST(RulesTest, RecipesAreRead) {
  Recipe recipe =
      Recipe::Parse("turns = 0\ncalls = 3\nmoney = 1.5\nshow_budget = true\non_fault = \"stop\"\n",
                    "r")
          .value();
  const Rules rules = ReadRules(recipe.Root(), {.budgets = {.turns = 8, .tokens = 9}});
  EXPECT_TRUE(recipe.Finish().ok());
  EXPECT_FALSE(rules.budgets.turns) << "0: no limit";
  EXPECT_EQ(rules.budgets.calls, 3);
  EXPECT_EQ(rules.budgets.tokens, 9);
  EXPECT_EQ(rules.budgets.money, 1.5);
  EXPECT_TRUE(rules.budgets.show);
  EXPECT_EQ(rules.on_fault, OnMistake::kStop);
  EXPECT_EQ(rules.on_void, OnMistake::kHintAndContinue);
}

}  // namespace
}  // namespace hone
