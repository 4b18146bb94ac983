#include "envs/play.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "envs/agents.h"
#include "envs/desk/desk.h"
#include "envs/desk/desk_tasks.h"
#include "envs/plan.h"
#include "support/env_player.h"

namespace hone {
namespace {

std::shared_ptr<const Environment> Desk() {
  return WithRules(desk::NewDesk({}).value(), desk::DeskRules());
}

// The same episodes from the journal alone, in another order: nothing depends on who asked when.
TEST(PlayTest, RecordedEpisodesAreReplayedWithoutTools) {
  TemporaryDirectory directory;
  const auto environment = Desk();
  const auto tasks = desk::NewTaskSource({});
  const auto play = [&](ToolMode mode, bool backwards) {
    std::shared_ptr<Journal> journal = Journal::Open(directory.path() / "journal.sqlite").value();
    const auto timeline = NewVirtualTimeline();
    Executor executor(
        OptionsFor({.mode = mode, .journal = journal}, *environment->tools(), timeline.get())
            .value(),
        timeline.get());
    std::vector<std::string> texts(30);
    for (uint64_t n = 0; n < texts.size(); ++n) {
      const uint64_t i = backwards ? texts.size() - 1 - n : n;
      const Task task = tasks->Make(Split::kTrain, i);
      const auto agent = NewPlanAgent(**PlanOf(task));
      const Playthrough played = Play(*environment, task, 1, agent.get(), &executor).value();
      texts[i] = DumpJson(MessagesOf(played)) + DumpJson(played.final_state);
    }
    return texts;
  };
  const std::vector<std::string> recorded = play(ToolMode::kRecord, false);
  EXPECT_EQ(play(ToolMode::kReplay, true), recorded);
}

TEST(PlayTest, MessagesTellTheWholeStory) {
  EnvPlayer player(Desk());
  desk::TaskOptions options;
  options.kinds = {"sky"};
  options.chatter = 0;
  const Task task = desk::NewTaskSource(options)->Make(Split::kTrain, 0);
  const Json messages = MessagesOf(player.Run(task, NewPlanAgent(**PlanOf(task))));
  ASSERT_EQ(messages.AsArray().size(), 4u);
  EXPECT_NE(messages.AsArray()[1].Find("tool_calls"), nullptr);
  EXPECT_EQ(*messages.AsArray()[2].Find("name"), Json("weather"));
  EXPECT_EQ(*messages.AsArray()[3].Find("content"), task.answer);
}

TEST(PlayTest, ItEndsWhenTheAgentLeavesOrNeverEnds) {
  class Leaving final : public Agent {
   public:
    AgentTurn Act(const Opening&, const std::vector<PlayedTurn>&) override { return {}; }
    bool left() const override { return true; }
  };
  EnvPlayer player(desk::NewDesk({}).value());
  const Task task = desk::NewTaskSource({})->Make(Split::kTrain, 0);
  EXPECT_EQ(player.Run(task, std::make_unique<Leaving>()).ending, Ending::kInterrupted);
  const Json tools = VisibleTools(player.environment());
  const Playthrough endless = player.Run(task, NewAlwaysCallAgent(tools, Rng(1)));
  EXPECT_EQ(endless.ending, Ending::kTurnLimit);
  EXPECT_EQ(endless.turns.size(), 256u);
}

}  // namespace
}  // namespace hone
