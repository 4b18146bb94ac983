#include "envs/agents.h"

#include <gtest/gtest.h>

#include "envs/desk/desk.h"
#include "envs/desk/desk_tasks.h"
#include "support/env_player.h"

namespace hone {
namespace {

class AgentsTest : public testing::Test {
 protected:
  EnvPlayer player_{WithRules(desk::NewDesk({}).value(), desk::DeskRules())};
  Task task_ = desk::NewTaskSource({})->Make(Split::kTrain, 3);
  Json tools_ = VisibleTools(player_.environment());
};

TEST_F(AgentsTest, TheIdleOneNeverCalls) {
  const Playthrough played = player_.Run(task_, NewIdleAgent());
  EXPECT_EQ(played.CountCalls(), 0);
  EXPECT_EQ(played.ending, Ending::kAnswered);
}

TEST_F(AgentsTest, TheOneThatAlwaysCallsRunsOutOfCalls) {
  const Playthrough played = player_.Run(task_, NewAlwaysCallAgent(tools_, Rng(1)));
  EXPECT_EQ(played.ending, Ending::kBudget);
  EXPECT_EQ(played.CountCalls(), 7);
}

TEST_F(AgentsTest, TheRandomOneFitsSchemas) {
  int fitting = 0, calls = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    for (const PlayedTurn& turn : player_.Run(task_, NewRandomAgent(tools_, Rng(i))).turns) {
      for (const ToolResult& result : turn.agent.results) {
        ++calls;
        fitting += result.status != CallStatus::kInvalidArguments;
      }
    }
  }
  EXPECT_GT(calls, 100);
  EXPECT_EQ(fitting, calls);
}

TEST_F(AgentsTest, APlanThatFailsGivesUp) {
  Plan plan;
  plan.calls = {{"clock", Json::Of({{"city", "Nowhere"}}), {}},
                {"clock", Json::Of({{"city", "Oslo"}}), {}}};
  const Playthrough played = player_.Run(task_, NewPlanAgent(plan));
  EXPECT_EQ(played.CountCalls(), 1);
  EXPECT_EQ(*played.final_state.Find("answer"), Json("none"));
}

TEST_F(AgentsTest, AThoughtStandsBeforeEveryCallAndBeforeTheAnswer) {
  Task task = task_;
  task.metadata =
      *ParseJson(R"({"plan": {"calls": [{"name": "clock", "arguments": {"city": "Oslo"}}],
      "answer": "noon"}, "thoughts": ["I look at the clock.", "It is noon."]})");
  const Playthrough played = player_.Run(task, NewPlanAgentFor(task).value());
  ASSERT_EQ(played.turns.size(), 2u);
  EXPECT_EQ(played.turns[0].agent.thought, "I look at the clock.");
  EXPECT_EQ(played.turns[1].agent.thought, "It is noon.");
  EXPECT_EQ(*played.final_state.Find("answer"), Json("noon"));
  task.metadata = *ParseJson(R"({"plan": {"calls": [], "answer": "noon"}})");
  EXPECT_EQ(player_.Run(task, NewPlanAgentFor(task).value()).turns[0].agent.thought, "");
}

}  // namespace
}  // namespace hone
