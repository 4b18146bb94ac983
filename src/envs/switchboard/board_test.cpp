#include "envs/switchboard/board.h"

#include <gtest/gtest.h>

#include <set>

namespace hone::switchboard {
namespace {

TEST(BoardTest, TheSameSeedIsTheSameWorldAndAnotherHasOtherConventions) {
  const Board first({}), second({}), other({.world = 2});
  int different = 0;
  for (size_t i = 0; i < first.operations().size(); ++i) {
    EXPECT_EQ(first.Accepted(i, false), second.Accepted(i, false));
    EXPECT_EQ(first.Accepted(i, true), second.Accepted(i, true));
    EXPECT_EQ(first.Habit(i), second.Habit(i));
    EXPECT_EQ(first.Next(i, 2, 3), second.Next(i, 2, 3));
    different += first.Accepted(i, false) != other.Accepted(i, false);
  }
  EXPECT_GT(different, 40) << "of 64, five sixths";
  EXPECT_EQ(first.operations(), other.operations()) << "the words are the same everywhere";
  EXPECT_EQ(first.SessionSeed(false), second.SessionSeed(false));
  const std::set<uint64_t> seeds = {first.SessionSeed(false), first.SessionSeed(true),
                                    other.SessionSeed(false), other.SessionSeed(true)};
  EXPECT_EQ(seeds.size(), 4u);
}

TEST(BoardTest, NoWordIsThereTwice) {
  const Board board({.operations = kMostOperations, .forms = kMostForms, .codes = kMostCodes});
  std::set<std::string> words(board.operations().begin(), board.operations().end());
  words.insert(board.forms().begin(), board.forms().end());
  words.insert(board.codes().begin(), board.codes().end());
  EXPECT_EQ(static_cast<int64_t>(words.size()), kMostOperations + kMostForms + kMostCodes);
}

TEST(BoardTest, AWrongFormIsAnotherCodeAndRightCallsNeverLeadBack) {
  const Board board({});
  for (size_t operation = 0; operation < board.operations().size(); ++operation) {
    for (size_t code = 0; code < board.codes().size(); ++code) {
      std::set<size_t> by_form;
      for (size_t form = 0; form < board.forms().size(); ++form) {
        by_form.insert(board.Next(operation, form, code));
      }
      EXPECT_EQ(by_form.size(), board.forms().size());
    }
    for (size_t form = 0; form < board.forms().size(); ++form) {
      std::set<size_t> by_code;
      for (size_t code = 0; code < board.codes().size(); ++code) {
        by_code.insert(board.Next(operation, form, code));
      }
      EXPECT_EQ(by_code.size(), board.codes().size()) << "two codes become one";
    }
  }
}

TEST(BoardTest, AQuarterOfTheConventionsDrifts) {
  for (const uint64_t world : {1, 2, 3}) {
    const Board board({.world = world});
    int drifted = 0;
    for (size_t i = 0; i < 64; ++i) drifted += board.Accepted(i, false) != board.Accepted(i, true);
    EXPECT_EQ(drifted, 16);
  }
}

TEST(BoardTest, OtherNamesAreOfOperationsAloneAndChangeNothingElse) {
  const Board board({}), renamed({.names = 7});
  EXPECT_EQ(board.forms(), renamed.forms());
  EXPECT_EQ(board.codes(), renamed.codes());
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_FALSE(PlaceIn(board.operations(), renamed.operations()[i])) << i;
    EXPECT_EQ(board.Accepted(i, true), renamed.Accepted(i, true));
    EXPECT_EQ(board.Next(i, 2, 3), renamed.Next(i, 2, 3));
  }
}

TEST(BoardTest, HabitsAreWrongFormsOfTheirShareOfTheOperations) {
  for (const double habits : {0.0, 0.25, 0.5, 1.0}) {
    const Board board({.habits = habits});
    double sum = 0;
    for (size_t i = 0; i < 64; ++i) {
      EXPECT_NE(board.Habit(i), board.Accepted(i, false));
      EXPECT_TRUE(board.HabitShare(i) == 0 || board.HabitShare(i) == 1);
      sum += board.HabitShare(i);
    }
    EXPECT_EQ(sum, 64 * habits);
  }
}

TEST(BoardTest, ASharedHabitIsOneFormAndOneHabitForAll) {
  const Board board({.habits = 0.5, .shared_habit = true});
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(board.Accepted(i, false), board.Accepted(0, false));
    EXPECT_EQ(board.Habit(i), board.Habit(0));
    EXPECT_NE(board.Habit(i), board.Accepted(i, false));
    EXPECT_EQ(board.HabitShare(i), 0.5);
  }
}

}  // namespace
}  // namespace hone::switchboard
