#include "envs/service/service_teacher.h"

#include <gtest/gtest.h>

#include <map>

#include "envs/service/service.h"
#include "envs/service/service_tasks.h"
#include "support/env_player.h"

namespace hone::service {
namespace {

std::string KindOf(const Task& task) { return task.metadata.Find("kind")->AsString(); }

struct Outcome {
  double success = 0;
  double calls = 0;
  std::map<std::string, double> by_kind;
};

Outcome Teach(double teacher_error, uint64_t count, const TaskOptions& options = {},
              Split split = Split::kTrain) {
  const auto tasks = NewTaskSource(options);
  EnvPlayer player(WithRules(NewService({}).value(), ServiceRules()));
  Outcome outcome;
  std::map<std::string, double> sizes;
  for (uint64_t i = 0; i < count; ++i) {
    const Task task = tasks->Make(split, i);
    const Playthrough played =
        player.Run(task, NewTeacher(task, teacher_error, Rng(7).Split(i)).value());
    ++sizes[KindOf(task)];
    outcome.by_kind[KindOf(task)] += played.success() ? 1 : 0;
    outcome.success += played.success() ? 1 : 0;
    outcome.calls += static_cast<double>(played.CountCalls());
    if (teacher_error > 0) continue;
    EXPECT_TRUE(played.success()) << DumpJson(MessagesOf(played), JsonStyle::kPretty)
                                  << DumpJson(played.final_state);
    EXPECT_EQ(played.ending, Ending::kUserStop);
    EXPECT_EQ(*played.final_state.Find("unconfirmed_writes"), Json(0));
  }
  outcome.success /= static_cast<double>(count);
  outcome.calls /= static_cast<double>(count);
  for (auto& [kind, value] : outcome.by_kind) value /= sizes[kind];
  return outcome;
}

TEST(ServiceTeacher, WithoutErrorsItIsAlwaysRight) {
  EXPECT_EQ(Teach(0, 400).success, 1);
  for (const Split split : {Split::kUnseenKinds, Split::kUnseenPhrases}) {
    EXPECT_EQ(Teach(0, 100, {}, split).success, 1);
  }
}

TEST(ServiceTeacher, ErrsMoreTheSloppierItIs) {
  TaskOptions one_wish;
  one_wish.max_goals = 1;
  EXPECT_NEAR(Teach(0.1, 2000, one_wish).success, 0.82, 0.03);
  const Outcome much = Teach(0.5, 2000, one_wish);
  EXPECT_NEAR(much.success, 0.44, 0.03);
  for (const auto& [kind, success] : much.by_kind) {
    EXPECT_GT(success, 0.05) << kind << ": practice needs some to succeed";
    // Who only wants to know something insists until it is told.
    const bool insists = kind == "status" || kind == "total" || kind == "cancel_too_late";
    EXPECT_LT(success, insists ? 1 : 0.6) << kind << ": and some to fail";
  }
}

// What nobody has said or shown it, it does not know: the values of the plan are not in its calls
// before they were in what it read.
TEST(ServiceTeacher, KnowsOnlyWhatWasSaid) {
  const auto tasks = NewTaskSource({});
  EnvPlayer player(WithRules(NewService({}).value(), ServiceRules()));
  for (uint64_t i = 0; i < 200; ++i) {
    const Task task = tasks->Make(Split::kTrain, i);
    const Playthrough played = player.Run(task, NewTeacher(task, 0, Rng(i)).value());
    std::string read = played.opening.messages.AsArray().back().Find("content")->AsString();
    for (const PlayedTurn& turn : played.turns) {
      for (const Call& call : turn.agent.calls) {
        for (const auto& [name, value] : call.arguments.AsObject()) {
          EXPECT_NE(read.find(value.AsString()), std::string::npos) << name << " " << task.id;
        }
      }
      for (const ToolResult& result : turn.agent.results) read += result.content;
      read += turn.environment.user;
    }
  }
}

TEST(ServiceTeacher, TheSameSeedIsTheSameDemonstration) {
  const auto tasks = NewTaskSource({});
  EnvPlayer player(WithRules(NewService({}).value(), ServiceRules()));
  for (uint64_t i = 0; i < 50; ++i) {
    const Task task = tasks->Make(Split::kTrain, i);
    const auto demonstrate = [&] {
      return DumpJson(MessagesOf(player.Run(task, NewTeacher(task, 0.4, Rng(i)).value())));
    };
    EXPECT_EQ(demonstrate(), demonstrate());
  }
}

TEST(ServiceTeacher, ATaskWithoutCustomerIsRefused) {
  EXPECT_FALSE(NewTeacher({}, 0.5, Rng(1)).ok());
}

}  // namespace
}  // namespace hone::service
