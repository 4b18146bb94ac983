#include "envs/switchboard/switchboard.h"

#include <gtest/gtest.h>

#include "envs/agents.h"
#include "envs/switchboard/switchboard_tools.h"
#include "support/env_player.h"

namespace hone::switchboard {
namespace {

// Makes the calls of a plan, some of them changed, each with the code that came last.
class Scripted final : public Agent {
 public:
  using Change = std::function<void(size_t call, Json* arguments)>;
  Scripted(Plan plan, Change change, size_t stop = SIZE_MAX)
      : plan_(std::move(plan)), change_(std::move(change)), stop_(stop) {}

  AgentTurn Act(const Opening&, const std::vector<PlayedTurn>& turns) override {
    if (!turns.empty() && !turns.back().agent.results.empty()) {
      const Json said = *ParseJson(turns.back().agent.results[0].content);
      if (const Json* code = said.Find("c")) code_ = code->AsString();
    }
    if (made_ == std::min(stop_, plan_.calls.size())) return Says(code_);
    Json arguments = plan_.calls[made_].arguments;
    if (made_ > 0) arguments.Set("c", code_);
    change_(made_++, &arguments);
    AgentTurn turn;
    turn.calls = {{kOperationTool, arguments, {}}};
    return turn;
  }

 private:
  const Plan plan_;
  const Change change_;
  const size_t stop_;
  size_t made_ = 0;
  std::string code_ = "none";
};

class SwitchboardTest : public testing::Test {
 protected:
  void Use(const SwitchboardOptions& options) {
    board_ = std::make_shared<const Board>(options.board);
    player_.emplace(
        WithRules(NewSwitchboard(board_, options, false).value(), SwitchboardRules(options)));
    tasks_ = NewSwitchboardTasks(board_, options);
  }

  Playthrough Run(const Task& task, Scripted::Change change, size_t stop = SIZE_MAX) {
    return player_->Run(task, std::make_unique<Scripted>(*PlanOf(task).value(), change, stop));
  }

  // Another form than the one that stands there.
  void Spoil(Json* arguments) const {
    const size_t form = *PlaceIn(board_->forms(), arguments->Find("f")->AsString());
    arguments->Set("f", board_->forms()[(form + 1) % board_->forms().size()]);
  }

  static std::string Scores(const Playthrough& played) {
    return DumpJson(*played.final_state.Find("call_scores"));
  }

  std::shared_ptr<const Board> board_;
  std::optional<EnvPlayer> player_;
  std::unique_ptr<TaskSource> tasks_;
};

TEST_F(SwitchboardTest, GoldPlansEarnEverythingInEveryMode) {
  for (const bool loud : {false, true}) {
    for (const int64_t calls : {4, 8, 16}) {
      Use({.calls = calls, .loud = loud, .drift = 10});
      for (uint64_t i = 0; i < 20; ++i) {
        const Task task = tasks_->Make(i % 3 == 0 ? Split::kTest : Split::kTrain, i);
        const Playthrough played = player_->Run(task, NewPlanAgentFor(task).value());
        EXPECT_TRUE(played.success());
        EXPECT_EQ(Scores(played), DumpJson(Json::ArrayOf(std::vector<int64_t>(calls, 1))));
      }
    }
  }
}

TEST_F(SwitchboardTest, SilentlyAWrongFormIsAnotherCodeAndTheChainGoesOnAndEndsWrong) {
  Use({});
  for (uint64_t i = 0; i < 100; ++i) {
    const Task task = tasks_->Make(Split::kTrain, i);
    const size_t wrong = i % 8;
    const Playthrough played = Run(task, [&](size_t call, Json* arguments) {
      if (call == wrong) Spoil(arguments);
    });
    EXPECT_EQ(played.ending, Ending::kAnswered);
    EXPECT_EQ(played.CountCalls(), 8);
    EXPECT_FALSE(played.success());
    std::vector<int64_t> scores(8, 1);
    scores[wrong] = 0;
    EXPECT_EQ(Scores(played), DumpJson(Json::ArrayOf(scores)))
        << "calls behind the wrong one are right where they stand";
  }
}

TEST_F(SwitchboardTest, ACallWithAnotherCodeThanTheLastIsWrong) {
  Use({.calls = 3});
  const Task task = tasks_->Make(Split::kTrain, 0);
  const Playthrough played = Run(task, [&](size_t call, Json* arguments) {
    if (call == 0) return;
    const size_t code = *PlaceIn(board_->codes(), arguments->Find("c")->AsString());
    arguments->Set("c", board_->codes()[(code + 1) % board_->codes().size()]);
  });
  EXPECT_EQ(Scores(played), "[1,0,0]") << "even with the right form";
  EXPECT_FALSE(played.success());
}

TEST_F(SwitchboardTest, WhatIsLeftOutRepeatedOrUnknownIsNotRight) {
  Use({.calls = 4});
  const Task task = tasks_->Make(Split::kTrain, 0);
  const Plan plan = *PlanOf(task).value();
  const auto as = [&](size_t call, Json* arguments) {
    for (const char* key : {"n", "f"}) arguments->Set(key, *plan.calls[call].arguments.Find(key));
  };
  // The second is passed over; what stands behind it is right but for the first of them.
  EXPECT_EQ(Scores(Run(task, [&](size_t call,
                                 Json* a) { as(std::min<size_t>(call + (call > 0), 3), a); })),
            "[1,0,1,0]");
  EXPECT_EQ(Scores(Run(
                task, [&](size_t call, Json* a) { as(call == 1 ? 0 : call, a); }, 3)),
            "[1,0,0]")
      << "the second was not made: the third is not yet its turn";
  const Playthrough stranger = Run(task, [&](size_t call, Json* a) {
    if (call == 0) a->Set("n", "nowhere");
  });
  EXPECT_EQ(stranger.turns[0].agent.results[0].content, "{\"error\":\"not found\"}");
  EXPECT_EQ(stranger.turns[0].agent.results[0].status, CallStatus::kToolError);
}

TEST_F(SwitchboardTest, WhoStopsEarlyHasTheScoresOfWhatWasMade) {
  Use({});
  const Task task = tasks_->Make(Split::kTrain, 0);
  const Playthrough played = Run(
      task, [](size_t, Json*) {}, 3);
  EXPECT_EQ(Scores(played), "[1,1,1]");
  EXPECT_FALSE(played.success());
}

TEST_F(SwitchboardTest, LoudlyAWrongFormIsRefusedAndThreeTriesEndIt) {
  Use({.calls = 4, .loud = true});
  const Task task = tasks_->Make(Split::kTrain, 0);
  // All calls with a wrong form: the first one is never done.
  class Stubborn final : public Agent {
   public:
    explicit Stubborn(Json arguments) : arguments_(std::move(arguments)) {}
    AgentTurn Act(const Opening&, const std::vector<PlayedTurn>&) override {
      AgentTurn turn;
      turn.calls = {{kOperationTool, arguments_, {}}};
      return turn;
    }

   private:
    const Json arguments_;
  };
  Json wrong = PlanOf(task).value()->calls[0].arguments;
  Spoil(&wrong);
  const Playthrough played = player_->Run(task, std::make_unique<Stubborn>(wrong));
  EXPECT_EQ(played.ending, Ending::kBudget);
  EXPECT_EQ(played.CountCalls(), 3);
  EXPECT_EQ(played.turns[0].agent.results[0].content, "{\"error\":\"wrong form\"}");
  EXPECT_EQ(Scores(played), "[0,0,0]");
  EXPECT_FALSE(played.success());
}

TEST_F(SwitchboardTest, LoudlyASecondTryThatIsRightIsAsGoodAsAFirst) {
  Use({.calls = 3, .loud = true});
  const Task task = tasks_->Make(Split::kTrain, 0);
  Plan plan = *PlanOf(task).value();
  plan.calls.insert(plan.calls.begin() + 1, 2, plan.calls[1]);  // three tries of the second
  const auto agent = std::make_unique<Scripted>(plan, [&](size_t call, Json* arguments) {
    if (call == 1 || call == 2) Spoil(arguments);
  });
  const Playthrough played = player_->Run(task, agent.get());
  EXPECT_EQ(Scores(played), "[1,0,0,1,1]");
  EXPECT_TRUE(played.success());
}

// What is refused is given up; the rest goes on with the code that there is, and can be right.
TEST_F(SwitchboardTest, LoudlyWhatIsRefusedCanBeSkipped) {
  Use({.calls = 3, .loud = true, .tries = 1, .skip_refused = true, .judge_by_acceptance = true});
  const Task task = tasks_->Make(Split::kTrain, 0);
  const auto run = [&](size_t spoiled) {
    Json code;
    const auto agent =
        std::make_unique<Scripted>(*PlanOf(task).value(), [&](size_t call, Json* arguments) {
          if (call > spoiled) arguments->Set("c", code);
          if (call != spoiled) return;
          code = *arguments->Find("c");
          Spoil(arguments);
        });
    return player_->Run(task, agent.get());
  };
  const Playthrough played = run(1);
  EXPECT_EQ(Scores(played), "[1,0,1]");
  EXPECT_FALSE(played.success()) << "one is missing";
  const std::string& code = played.turns[1].agent.calls[0].arguments.Find("c")->AsString();
  EXPECT_EQ(played.turns[1].agent.results[0].content, "{\"error\":\"" + code + "\"}");
  EXPECT_EQ(Scores(run(0)), "[0,1,0]") << "the third has the code of the first, not of the second";
  EXPECT_TRUE(run(9).success());
}

TEST_F(SwitchboardTest, AfterTheDriftALoudWorldAcceptsTheOtherForm) {
  Use({.loud = true, .drift = 1});
  int differ = 0;
  for (size_t i = 0; i < board_->operations().size(); ++i) {
    const size_t old_form = board_->Accepted(i, false), new_form = board_->Accepted(i, true);
    if (old_form == new_form) continue;
    ++differ;
    const auto ask = [&](size_t form, bool drifted) {
      return AnswerOf(*board_, true, drifted,
                      Json::Of({{"n", board_->operations()[i]},
                                {"f", board_->forms()[form]},
                                {"c", board_->codes()[0]}}))
          .ok();
    };
    EXPECT_TRUE(ask(old_form, false) && ask(new_form, true));
    EXPECT_FALSE(ask(old_form, true) || ask(new_form, false));
  }
  EXPECT_EQ(differ, 16);
  const Task task = tasks_->Make(Split::kTrain, 1);
  EXPECT_TRUE(player_->Run(task, NewPlanAgentFor(task).value()).success())
      << "the sessions of the tool know which world they are of";
}

TEST_F(SwitchboardTest, TheToolTellsNoConvention) {
  Use({});
  const std::string spec = DumpJson(player_->environment().tools()->tools()[0].spec.ToJson());
  for (const std::string& form : board_->forms()) {
    EXPECT_EQ(spec.find("\"" + form + "\""), std::string::npos);
  }
  EXPECT_FALSE(player_->environment().tools()->tools()[0].spec.computable)
      << "or simulated worlds would be the real one";
}

TEST_F(SwitchboardTest, TasksThatAreNoneAreRefused) {
  Use({});
  Task task = tasks_->Make(Split::kTrain, 0);
  task.answer = Json();
  EXPECT_FALSE(player_->environment().Open(task, 1).ok());
  task = tasks_->Make(Split::kTrain, 0);
  task.reward = *ParseJson(R"({"calls": [{"name": "op", "arguments": {"n": "a"}}]})");
  const auto opened = player_->environment().Open(task, 1);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message().find("needs the arguments"), std::string::npos);
}

// Where nobody knows what is right, acceptance tells: with the real tool the verdicts and scores
// are those of the gold plan, whatever the agent does. Only who stops early and happens to tell the
// right code is not believed.
TEST_F(SwitchboardTest, JudgedByAcceptanceTheRealToolSaysWhatTheGoldPlanSays) {
  for (uint64_t i = 0; i < 40; ++i) {
    std::vector<std::pair<bool, std::string>> said;
    for (const bool by_acceptance : {false, true}) {
      Use({.calls = 4, .loud = true, .judge_by_acceptance = by_acceptance});
      const Task task = tasks_->Make(Split::kTrain, i);
      const Playthrough played = Run(
          task,
          [&](size_t call, Json* arguments) {
            if (i % 3 != 0 && call == i % 4) Spoil(arguments);
          },
          i % 5 == 0 ? 3 : SIZE_MAX);
      said.emplace_back(played.success() && i % 5 != 0, Scores(played));
      if (by_acceptance && i % 5 == 0) {
        EXPECT_FALSE(played.success());
      }
    }
    EXPECT_EQ(said[0], said[1]) << "task " << i;
  }
}

// An operation that is done twice is accepted twice, and leads elsewhere.
TEST_F(SwitchboardTest, JudgedByAcceptanceADetourEndsWrong) {
  Use({.calls = 3, .loud = true, .judge_by_acceptance = true});
  const Task task = tasks_->Make(Split::kTrain, 0);
  Plan plan = *PlanOf(task).value();
  plan.calls.insert(plan.calls.begin() + 1, plan.calls[0]);
  const auto agent = std::make_unique<Scripted>(plan, [](size_t, Json*) {});
  const Playthrough played = player_->Run(task, agent.get());
  EXPECT_EQ(Scores(played), "[1,0,1,1]");
  EXPECT_FALSE(played.success());
}

// In a world that accepts another form, that one is right there, and the gold plan is not asked.
TEST_F(SwitchboardTest, JudgedByAcceptanceAnotherWorldHasItsOwnRight) {
  Use({.calls = 3, .loud = true, .judge_by_acceptance = true});
  const Task task = tasks_->Make(Split::kTrain, 0);
  const auto episode = player_->environment().Open(task, 1).value();
  const Plan plan = *PlanOf(task).value();
  std::string code = plan.calls[0].arguments.Find("c")->AsString();
  for (size_t call = 0; call < 3; ++call) {
    Json arguments = plan.calls[call].arguments;
    Spoil(&arguments);
    arguments.Set("c", code);
    code = board_->codes()[call];
    AgentTurn turn;
    turn.calls = {{kOperationTool, arguments, {}}};
    turn.results.emplace_back();
    turn.results[0].content = DumpJson(Json::Of({{"c", code}}));
    EXPECT_FALSE(episode->Step(turn).ending);
  }
  AgentTurn last;
  last.answer = code;
  EXPECT_EQ(episode->Step(last).ending, Ending::kAnswered);
  EXPECT_EQ(DumpJson(*episode->final_state().Find("call_scores")), "[1,1,1]");
  EXPECT_TRUE(episode->final_state().Find("verdict")->AsBool());
}

}  // namespace
}  // namespace hone::switchboard
