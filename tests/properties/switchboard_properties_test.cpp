// The switchboard from its tasks to credit: what is played there, what it earns, and whom the
// methods compare.

#include <gtest/gtest.h>

#include <numeric>

#include "credit/methods.h"
#include "envs/agents.h"
#include "envs/environments.h"
#include "envs/plan.h"
#include "record/reward_terms.h"
#include "record/validate.h"
#include "rewards/presets.h"
#include "support/env_player.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

LoadedEnvironment Switchboard(const std::string& tasks) {
  Recipe recipe =
      Recipe::Parse("[environment]\nkind = \"switchboard\"\n[environment.tasks]\n" + tasks, "r")
          .value();
  const EnvironmentOptions options = ReadEnvironment(recipe.Root());
  EXPECT_TRUE(recipe.Finish().ok());
  return options.make(nullptr).value();
}

// The record of what was played, as a model would have written it.
void AddTo(TreeMaker* maker, const Playthrough& played) {
  maker->Begin();
  for (const PlayedTurn& turn : played.turns) {
    for (size_t i = 0; i < turn.agent.calls.size(); ++i) {
      const ToolResult& result = turn.agent.results[i];
      maker->Call(turn.agent.calls[i].name, DumpJson(turn.agent.calls[i].arguments), result.status,
                  result.content, result.blame);
    }
    if (!turn.agent.answer) continue;
    maker->Answer(*turn.agent.answer);
    maker->tree.leaves.back().final_state = played.final_state;
    return;
  }
  maker->End(played.ending, played.final_state, played.blame);
}

// Follows the plan but answers after so many calls.
class Quitter final : public Agent {
 public:
  Quitter(std::unique_ptr<Agent> gold, size_t after) : gold_(std::move(gold)), after_(after) {}
  AgentTurn Act(const Opening& opening, const std::vector<PlayedTurn>& turns) override {
    return turns.size() == after_ ? Says("none") : gold_->Act(opening, turns);
  }

 private:
  std::unique_ptr<Agent> gold_;
  size_t after_;
};

double Sum(const Score& score, std::string_view name) {
  double sum = 0;
  for (const RewardTerm& term : score.terms) {
    if (term.name == name) sum += *term.value;
  }
  return sum;
}

std::vector<Score> Scored(const TreeMaker& maker) {
  return NewPreset("switchboard").value()->ScoreTree(maker.tree, {}).value();
}

TEST(SwitchboardProperties, GoldPlansEarnAllThereIsAndTheTeacherLess) {
  for (const char* tasks : {"calls = 8\n", "calls = 16\n", "mode = \"loud\"\n", "drift = 5\n",
                            "shared_habit = true\n", "habits = 1.0\n"}) {
    const LoadedEnvironment loaded = Switchboard(tasks);
    EnvPlayer player(loaded.environment);
    double taught = 0;
    for (uint64_t i = 0; i < 10; ++i) {
      const Task task = loaded.tasks->Make(Split::kTrain, i);
      TreeMaker maker;
      maker.tree.task = task;
      AddTo(&maker, player.Run(task, loaded.gold_agent(task).value()));
      AddTo(&maker, player.Run(task, loaded.teacher(task, 0, Rng(i)).value()));
      const std::vector<Score> scores = Scored(maker);
      const auto calls = static_cast<double>(task.reward.Find("calls")->AsArray().size());
      EXPECT_EQ(Total(scores[0]), calls + 1) << tasks;
      taught += *Total(scores[1]) / (calls + 1) / 10;
    }
    EXPECT_LT(taught, 0.8) << tasks;
  }
}

// Pointed at by the methods that look at single calls: who stops is compared with those who went
// on, and loses by it on what was written instead.
TEST(SwitchboardProperties, WhoStopsIsInEveryComparisonAndLosesByIt) {
  const LoadedEnvironment loaded = Switchboard("calls = 8\n");
  EnvPlayer player(loaded.environment);
  const Task task = loaded.tasks->Make(Split::kTrain, 0);
  const auto gold = [&] { return loaded.gold_agent(task).value(); };
  TreeMaker maker;
  maker.tree.task = task;
  AddTo(&maker, player.Run(task, gold()));
  AddTo(&maker, player.Run(task, loaded.teacher(task, 0, Rng(1)).value()));
  AddTo(&maker, player.Run(task, loaded.teacher(task, 0, Rng(2)).value()));
  AddTo(&maker, player.Run(task, std::make_unique<Quitter>(gold(), 3)));
  const ScoredTree record{maker.tree, Scored(maker), {}};
  ASSERT_EQ(Validate(record), std::vector<std::string>());
  EXPECT_EQ(Sum(record.scores[3], kCallTerm), 3);
  EXPECT_EQ(Sum(record.scores[3], kOmittedTerm), -0.25 * 5);
  for (const char* method : {"toolpo-per-call:norm=mean_std", "toolpo-split:norm=mean_std",
                             "toolpo:norm=mean_std", "smeared:norm=mean_std", "turn-loo"}) {
    const Credit credit = AssignCredit(NewMethod(method).value(), record).value();
    for (const Note& note : credit.notes) {
      EXPECT_NE(note.kind, NoteKind::kUnscored) << method << ": " << note.text;
    }
    const std::vector<float>& quit = credit.advantages[3].values;
    if (std::string_view(method).starts_with("toolpo:")) continue;  // on the tokens of calls alone
    EXPECT_LT(quit.back(), 0) << method;
    EXPECT_LT(quit.back(), credit.advantages[0].values.back()) << method;
  }
}

}  // namespace
}  // namespace hone
