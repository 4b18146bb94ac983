#include "envs/desk/desk.h"

#include <gtest/gtest.h>

#include <map>

#include "envs/agents.h"
#include "envs/desk/desk_tasks.h"
#include "envs/plan.h"
#include "record/record_json.h"
#include "support/env_player.h"

namespace hone::desk {
namespace {

std::shared_ptr<const Environment> Desk(const DeskOptions& options = {}) {
  return WithRules(NewDesk(options).value(), DeskRules());
}

Task FirstOf(std::string_view kind, Split split = Split::kTrain) {
  TaskOptions options;
  options.kinds = {std::string(kind)};
  options.max_calls = 6;
  options.hard = true;
  return NewTaskSource(options)->Make(split, 0);
}

TEST(DeskTest, GoldPlansSucceed) {
  TaskOptions options;
  options.hard = true;
  const auto tasks = NewTaskSource(options);
  EnvPlayer player(Desk());
  std::map<std::string, int> kinds;
  for (const Split split : kAllSplits) {
    for (uint64_t i = 0; i < 400; ++i) {
      const Task task = tasks->Make(split, i);
      const Playthrough played = player.Run(task, NewPlanAgent(**PlanOf(task)));
      ASSERT_TRUE(played.success()) << DumpJson(TaskToJson(task)) << DumpJson(played.final_state);
      EXPECT_EQ(played.ending, Ending::kAnswered);
      EXPECT_EQ(*played.final_state.Find("answer"), task.answer);
      EXPECT_EQ(played.CountCalls(),
                static_cast<int64_t>(task.reward.Find("calls")->AsArray().size()));
      ++kinds[SplitMarksOf(task).kind];
    }
  }
  EXPECT_EQ(kinds.size(), 36u) << "every kind occurs";
}

TEST(DeskTest, AMessageTooManyIsFinal) {
  const Task task = FirstOf("tell");
  const Call send{"send", *task.reward.Find("calls")->AsArray()[0].Find("arguments"), {}};
  class Twice final : public Agent {
   public:
    explicit Twice(Call call) : call_(std::move(call)) {}
    AgentTurn Act(const Opening&, const std::vector<PlayedTurn>& turns) override {
      AgentTurn turn;
      if (turns.size() < 2) {
        turn.calls = {call_};
      } else {
        turn.answer = "done";
      }
      return turn;
    }

   private:
    Call call_;
  };
  EnvPlayer player(Desk());
  const Playthrough played = player.Run(task, std::make_unique<Twice>(send));
  EXPECT_EQ(*played.final_state.Find("answer"), task.answer);
  EXPECT_FALSE(played.success());
  EXPECT_EQ(played.final_state.Find("sent")->AsArray().size(), 2u);
}

TEST(DeskTest, TheQuizIsDecidedByTheFirstTurn) {
  TaskOptions options;
  options.max_calls = 1;
  const auto tasks = NewTaskSource(options);
  EnvPlayer player(Desk({.quiz = true}));
  for (uint64_t i = 0; i < 200; ++i) {
    const Task task = tasks->Make(Split::kTrain, i);
    const Playthrough played = player.Run(task, NewPlanAgent(**PlanOf(task)));
    EXPECT_TRUE(played.success()) << DumpJson(TaskToJson(task));
    EXPECT_EQ(played.turns.size(), 1u);
    EXPECT_LE(task.reward.Find("calls")->AsArray().size(), 1u);
    EXPECT_FALSE(player.Run(task, NewIdleAgent()).success());
  }
}

TEST(DeskTest, ACalculationIsRightByItsValue) {
  const Task task = FirstOf("word_prob");
  const Json& gold = task.reward.Find("calls")->AsArray()[0];
  const Json::Array& accepted = gold.Find("accepted")->Find("expression")->AsArray();
  ASSERT_EQ(accepted.size(), 3u);
  EnvPlayer player(Desk({.quiz = true}));
  for (const Json& expression : accepted) {
    Plan plan;
    plan.calls = {{"calculator", Json::Of({{"expression", expression}}), {}}};
    EXPECT_TRUE(player.Run(task, NewPlanAgent(plan)).success()) << expression.AsString();
  }
}

TEST(DeskTest, ToolsAreListedWhenAskedFor) {
  const Task task = FirstOf("sky");
  EXPECT_EQ(Desk()->Open(task, 1).value()->opening().tools.AsArray().size(), 0u);
  EXPECT_EQ(Desk({.list_tools = true})->Open(task, 1).value()->opening().tools.AsArray().size(),
            8u);
}

TEST(DeskTest, ATaskWithoutGoldIsRefused) {
  Task task = FirstOf("sky");
  task.reward = Json();
  const auto opened = Desk()->Open(task, 1);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message().find("reward.calls"), std::string::npos);
}

}  // namespace
}  // namespace hone::desk
