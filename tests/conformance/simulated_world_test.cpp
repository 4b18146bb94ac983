// Gold that is right in a simulated world: whoever follows the plan there succeeds, whoever brings
// the real world's answer does not.

#include <gtest/gtest.h>

#include "envs/agents.h"
#include "envs/environments.h"
#include "envs/gold.h"
#include "envs/plan.h"
#include "simulate/simulator.h"
#include "support/env_player.h"

namespace hone {
namespace {

RoutingOptions Simulated() {
  return {.mode = ToolMode::kSimulate, .simulator = NewSimulator(NewRandomPlayer(), {}, nullptr)};
}

std::vector<Task> TasksOf(const LoadedEnvironment& loaded, uint64_t count) {
  std::vector<Task> tasks;
  for (uint64_t i = 0; i < count; ++i) tasks.push_back(loaded.tasks->Make(Split::kTrain, i));
  return tasks;
}

TEST(SimulatedWorldTest, ThePlanSucceedsWithTheGoldOfTheWorldThatAnswers) {
  const LoadedEnvironment desk = NewBuiltIn("desk").value();
  const std::vector<Task> tasks = TasksOf(desk, 500);
  const std::vector<uint64_t> seeds(tasks.size(), 1);
  EnvPlayer gold(desk.environment, Simulated());
  const auto there = GoldInWorld(*desk.environment, tasks, seeds, gold.executor(), "run").value();

  EnvPlayer player(desk.environment, Simulated());  // another simulator: the same world
  int64_t other_answers = 0, old_gold = 0, played = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    ASSERT_EQ(there[i].void_because, "") << tasks[i].id;
    const Task& task = there[i].task;
    const auto agent = desk.gold_agent(task).value();
    EXPECT_TRUE(player.Run(task, agent.get()).success()) << DumpJson(task.metadata);
    if (task.answer == tasks[i].answer) continue;
    ++other_answers;
    // The same calls in the same world, scored by what the real world would have said.
    const auto again = desk.gold_agent(tasks[i]).value();
    old_gold += player.Run(tasks[i], again.get()).success() ? 1 : 0;
    ++played;
  }
  EXPECT_GT(other_answers, 200);  // a third of the tasks need no call, or only a computed one
  EXPECT_EQ(old_gold, 0);
  EXPECT_GT(played, 0);
}

// None of its calls is computed: the codes are the simulator's, the forms those of the real world.
TEST(SimulatedWorldTest, TheSwitchboardHasASimulatedTwin) {
  const LoadedEnvironment board = NewBuiltIn("switchboard").value();
  const std::vector<Task> tasks = TasksOf(board, 100);
  const std::vector<uint64_t> seeds(tasks.size(), 1);
  EnvPlayer player(board.environment, Simulated());
  const auto there =
      GoldInWorld(*board.environment, tasks, seeds, player.executor(), "run").value();
  int64_t other_answers = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    ASSERT_EQ(there[i].void_because, "") << tasks[i].id;
    const Task& task = there[i].task;
    const Playthrough played = player.Run(task, board.gold_agent(task).value());
    EXPECT_TRUE(played.success());
    EXPECT_EQ(DumpJson(*played.final_state.Find("call_scores")), "[1,1,1,1,1,1,1,1]");
    other_answers += task.answer == tasks[i].answer ? 0 : 1;
    const Json &real = tasks[i].reward.Find("calls")->AsArray()[7],
               &simulated = task.reward.Find("calls")->AsArray()[7];
    EXPECT_EQ(*real.Find("arguments")->Find("f"), *simulated.Find("arguments")->Find("f"));
  }
  EXPECT_GT(other_answers, 90);
}

// What is accepted beside the gold call is worked out anew as well.
TEST(SimulatedWorldTest, TheSumIsTheSimulatedWorldsEitherWayRound) {
  const LoadedEnvironment desk = NewBuiltIn("desk").value();
  std::vector<Task> sums;
  for (const Task& task : TasksOf(desk, 600)) {
    if (*task.metadata.Find("kind") == Json("d_sum")) sums.push_back(task);
  }
  ASSERT_GT(sums.size(), 5u);
  EnvPlayer player(desk.environment, Simulated());
  const std::vector<uint64_t> seeds(sums.size(), 1);
  const auto there = GoldInWorld(*desk.environment, sums, seeds, player.executor(), "run").value();
  int64_t changed = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const Json& call = there[i].task.reward.Find("calls")->AsArray().back();
    const std::string expression = call.Find("arguments")->Find("expression")->AsString();
    const Json& other = call.Find("accepted")->Find("expression")->AsArray()[0];
    const size_t plus = expression.find('+');
    EXPECT_EQ(other, Json(expression.substr(plus + 1) + "+" + expression.substr(0, plus)));
    changed += there[i].task.reward == sums[i].reward ? 0 : 1;
  }
  EXPECT_GT(changed, static_cast<int64_t>(sums.size()) / 2);
}

// Same tasks, asked in another order and with others beside them.
TEST(SimulatedWorldTest, GoldDoesNotDependOnWhoElseAsks) {
  const LoadedEnvironment desk = NewBuiltIn("desk").value();
  std::vector<Task> tasks = TasksOf(desk, 60);
  const std::vector<uint64_t> seeds(tasks.size(), 1);
  EnvPlayer together(desk.environment, Simulated());
  const auto at_once =
      GoldInWorld(*desk.environment, tasks, seeds, together.executor(), "run").value();
  EnvPlayer alone(desk.environment, Simulated());
  for (size_t i = tasks.size(); i-- > 0;) {
    const auto one = GoldInWorld(*desk.environment, std::span(tasks).subspan(i, 1),
                                 std::span(seeds).first(1), alone.executor(), "other run")
                         .value();
    EXPECT_EQ(one[0].task, at_once[i].task);
  }
}

}  // namespace
}  // namespace hone
