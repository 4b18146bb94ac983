#include "envs/switchboard/switchboard_teacher.h"

#include <gtest/gtest.h>

#include <cmath>

#include "envs/switchboard/switchboard.h"
#include "support/env_player.h"

namespace hone::switchboard {
namespace {

// How often the teacher took the right form, its habit and each other one.
struct Taken {
  double right = 0, habit = 0, others = 0, most = 0;  // `most`: of the others, the commonest
  int64_t calls = 0;
};

template <typename Meant>
Taken Count(const Board& board, Meant meant) {
  Rng rng = Rng(11).Split("count");
  Taken taken;
  for (size_t operation = 0; operation < board.operations().size(); ++operation) {
    if (!meant(operation)) continue;
    std::vector<double> other(board.forms().size(), 0);
    for (int i = 0; i < 500; ++i) {
      const size_t form = TaughtForm(board, operation, &rng);
      ++taken.calls;
      if (form == board.Accepted(operation, false)) {
        ++taken.right;
      } else if (form == board.Habit(operation)) {
        ++taken.habit;
      } else {
        ++taken.others;
        taken.most = std::max(taken.most, ++other[form]);
      }
    }
  }
  const auto calls = static_cast<double>(taken.calls);
  taken.right /= calls, taken.habit /= calls, taken.others /= calls, taken.most /= 500;
  return taken;
}

// Four standard errors of a share.
double Error4(double share, int64_t calls) {
  return 4 * std::sqrt(share * (1 - share) / static_cast<double>(calls));
}

TEST(SwitchboardTeacherTest, HabitsAreAsOftenAtWorkAsTheDesignSays) {
  const Board board({});
  const Taken bad = Count(board, [&](size_t i) { return board.HabitShare(i) == 1; });
  EXPECT_EQ(bad.calls, 32 * 500);
  EXPECT_NEAR(bad.right, 0.2, Error4(0.2, bad.calls));
  EXPECT_NEAR(bad.habit, 0.64, Error4(0.64, bad.calls));
  EXPECT_NEAR(bad.others, 0.16, Error4(0.16, bad.calls));
  EXPECT_LT(bad.most, 0.1) << "the rest is spread: 0.04 each";
  const Taken good = Count(board, [&](size_t i) { return board.HabitShare(i) == 0; });
  EXPECT_EQ(good.calls, 32 * 500);
  EXPECT_NEAR(good.right, 0.95, Error4(0.95, good.calls));
  EXPECT_NEAR(good.habit, 0.01, Error4(0.01, good.calls)) << "a form like any other";
}

TEST(SwitchboardTeacherTest, ASharedHabitIsAtWorkNowAndThenOnAllOfThem) {
  const Board board({.habits = 0.5, .shared_habit = true});
  const Taken all = Count(board, [](size_t) { return true; });
  EXPECT_NEAR(all.right, 0.575, Error4(0.575, all.calls));
  EXPECT_NEAR(all.habit, 0.325, Error4(0.325, all.calls));
}

double SuccessOfTeacher(const SwitchboardOptions& options, uint64_t count,
                        double* calls = nullptr) {
  const auto board = std::make_shared<const Board>(options.board);
  EnvPlayer player(
      WithRules(NewSwitchboard(board, options, false).value(), SwitchboardRules(options)));
  const auto tasks = NewSwitchboardTasks(board, options);
  const TeacherMaker teacher =
      NewSwitchboardTeacher(board, options.skip_refused ? options.tries : 0);
  double right = 0, made = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const Task task = tasks->Make(Split::kTrain, i);
    const Playthrough played = player.Run(task, teacher(task, 0.5, Rng(3).Split(i)).value());
    right += played.success() ? 1 : 0;
    made += static_cast<double>(played.CountCalls());
  }
  if (calls != nullptr) *calls = made / static_cast<double>(count);
  return right / static_cast<double>(count);
}

// Silent: 0.575^8 is 1.2 %, of drawing without putting back 1.0 %; and one in 48 of the others ends
// with the right code by luck.
TEST(SwitchboardTeacherTest, ItsOwnSuccessIsThatOfItsForms) {
  EXPECT_NEAR(SuccessOfTeacher({}, 4000), 0.03, 0.012);
  EXPECT_NEAR(SuccessOfTeacher({.board = {.habits = 0}}, 1000), 0.67, 0.06) << "0.95^8 and luck";
  EXPECT_NEAR(SuccessOfTeacher({.calls = 4}, 2000), 0.12, 0.03);
}

TEST(SwitchboardTeacherTest, InALoudWorldItTriesAgain) {
  double calls = 0;
  // A habit lets 1 - 0.8^3 of the calls through, and hardly anything else fails.
  const double through = (1 - 0.8 * 0.8 * 0.8 + 1) / 2;
  EXPECT_NEAR(SuccessOfTeacher({.calls = 4, .loud = true}, 2000, &calls), std::pow(through, 4),
              0.04);
  EXPECT_GT(calls, 4);
  EXPECT_NEAR(SuccessOfTeacher({.calls = 4, .loud = true, .tries = 1}, 2000), std::pow(0.575, 4),
              0.03);
}

TEST(SwitchboardTeacherTest, WhatIsRefusedItSkipsWhereItMay) {
  double calls = 0;
  const SwitchboardOptions options{
      .calls = 4, .loud = true, .tries = 1, .skip_refused = true, .judge_by_acceptance = true};
  EXPECT_NEAR(SuccessOfTeacher(options, 2000, &calls), std::pow(0.575, 4), 0.03);
  EXPECT_EQ(calls, 4);
}

TEST(SwitchboardTeacherTest, NobodyToldItOfTheDrift) {
  SwitchboardOptions options{.board = {.habits = 0}, .calls = 4};
  const double before = SuccessOfTeacher(options, 1000);
  options.drift = 1;
  EXPECT_NEAR(SuccessOfTeacher(options, 1000), before * std::pow(0.75, 4), 0.06);
}

TEST(SwitchboardTeacherTest, TheSameSeedIsTheSameDemonstrationWhateverTheError) {
  const auto board = std::make_shared<const Board>(BoardOptions{});
  EnvPlayer player(WithRules(NewSwitchboard(board, {}, false).value(), SwitchboardRules({})));
  const auto tasks = NewSwitchboardTasks(board, {});
  const TeacherMaker teacher = NewSwitchboardTeacher(board);
  for (uint64_t i = 0; i < 20; ++i) {
    const Task task = tasks->Make(Split::kTrain, i);
    const auto demonstrate = [&](double error) {
      return DumpJson(MessagesOf(player.Run(task, teacher(task, error, Rng(i)).value())));
    };
    EXPECT_EQ(demonstrate(0.1), demonstrate(0.9));
  }
  EXPECT_FALSE(teacher({}, 0.5, Rng(1)).ok()) << "a task without a plan";
}

}  // namespace
}  // namespace hone::switchboard
