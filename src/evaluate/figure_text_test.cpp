#include "evaluate/figure_text.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(FigureTextTest, ReadsFiguresWithTheirIntervals) {
  const Json evaluation = *ParseJson(
      R"({"figures": {"success": {"value": 0.9123, "low": 0.887, "high": 0.936},
                      "calls": {"value": 1.234, "low": 1.2, "high": 1.26}},
          "families": {"A": {"success": 0.5, "low": 0.25, "high": 0.75}, "": {"success": 1}}})");
  EXPECT_EQ(TextOf(FigureIn(&evaluation, "success")), "91.2 % [88.7, 93.6]");
  EXPECT_EQ(TextOf(FigureIn(&evaluation, "calls")), "1.23 [1.20, 1.26]");
  EXPECT_EQ(TextOf(FigureIn(&evaluation, "how")), "-") << "nothing to count is not 0";
  EXPECT_EQ(TextOf(GroupIn(&evaluation, "families", "A")), "50.0 % [25.0, 75.0]");
  EXPECT_EQ(GroupsIn(&evaluation, "families"), std::vector<std::string>{"A"});
  EXPECT_TRUE(GroupsIn(&evaluation, "kinds").empty());
}

TEST(FigureTextTest, AShareThatDoesNotRestOnAllTrajectoriesSaysOnHowManyItDoes) {
  const Json evaluation = *ParseJson(
      R"({"tasks": 6, "samples": 2, "broken": 2,
          "figures": {"success": {"value": 0.5, "low": 0.2, "high": 0.8, "trajectories": 10},
                      "needless_calls": {"value": 1, "low": 1, "high": 1, "trajectories": 1},
                      "gold_calls": {"value": 1.5, "low": 1, "high": 2, "trajectories": 4}}})");
  EXPECT_EQ(TextOf(FigureIn(&evaluation, "success")), "50.0 % [20.0, 80.0]");
  EXPECT_EQ(TextOf(FigureIn(&evaluation, "needless_calls")), "100.0 % [100.0, 100.0] of 1");
  EXPECT_EQ(TextOf(FigureIn(&evaluation, "gold_calls")), "1.50 [1.00, 2.00]") << "no share";
}

TEST(FigureTextTest, EvaluationsOfOlderProgramsAreReadWithoutIntervals) {
  const Json old = *ParseJson(
      R"({"all": {"success": 0.25, "calls_per_task": 1.5}, "families": {"A": {"success": 0.5}}})");
  EXPECT_EQ(TextOf(FigureIn(&old, "success")), "25.0 %");
  EXPECT_EQ(TextOf(FigureIn(&old, "calls")), "1.50");
  EXPECT_EQ(TextOf(GroupIn(&old, "families", "A")), "50.0 %");
  EXPECT_EQ(TextOf(FigureIn(nullptr, "success")), "-");
  EXPECT_EQ(TextOf(GroupIn(nullptr, "families", "A")), "-");
}

}  // namespace
}  // namespace hone
