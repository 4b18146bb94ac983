#include "app/views/evaluation_view.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Evaluation Some(int64_t samples) {
  Evaluation evaluation{.split = Split::kTest, .tasks = 4, .samples = samples};
  for (int64_t i = 0; i < 4 * samples; ++i) {
    Measures& m = evaluation.measures.emplace_back();
    m.task = std::to_string(i / samples);
    m.family = "B";
    m.kind = "sky";
    m.success = i % 2 == 0;
    m.tool_needed = true;
    m.called = true;
    m.calls = 1;
    m.gold_calls = 1;
    m.gold_tool = "weather";
    m.first_tool = i % 2 == 0 ? "weather" : "clock";
  }
  return evaluation;
}

TEST(EvaluationViewTest, AllFiguresStandSideBySide) {
  std::vector<ShownEvaluation> shown;
  shown.push_back(MakeShown("sampled at 1", Some(1)));
  shown.push_back(MakeShown("greedy", Some(1)));
  const std::string text = EvaluationsView(shown, {});
  for (const char* part : {"sampled at 1", "greedy", "success", "50.0 % [", "missed calls", "0.0 %",
                           "success by family", "success by kind", "sky", "clock", "weather"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("pass@"), std::string::npos);
  EXPECT_EQ(text.find("money"), std::string::npos) << "nobody paid anything";
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(EvaluationsView(shown, {.colour = true}).find('\x1b'), std::string::npos);
}

TEST(EvaluationViewTest, SeveralTrajectoriesHavePasses) {
  const ShownEvaluation shown = MakeShown("sampled at 1", Some(2));
  const std::string text = EvaluationsView({shown}, {});
  EXPECT_NE(text.find("pass@2                100.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("pass^2                0.0 %"), std::string::npos) << text;
  const Json json = ShownJson(shown);
  EXPECT_EQ(json.Find("pass")->AsArray()[1].Find("one")->Find("value")->AsDouble(), 1);
  EXPECT_EQ(json.Find("outcomes")->AsString(), "10101010");
  EXPECT_EQ(DumpJson(*json.Find("confusion")),
            R"({"tools":["clock","weather"],"counts":[[0,0,0],[4,4,0]]})");
}

TEST(EvaluationViewTest, WhatOthersBrokeIsSaid) {
  Evaluation evaluation = Some(1);
  evaluation.measures[0].counts = false;
  const std::string text = EvaluationsView({MakeShown("greedy", std::move(evaluation))}, {});
  EXPECT_NE(text.find("1 of 4 trajectories ended by the fault of others"), std::string::npos);
}

TEST(EvaluationViewTest, CallsThatNobodyReadAreSaid) {
  Evaluation evaluation = Some(1);
  EXPECT_EQ(evaluation.ToJson().Find("unread_calls"), nullptr);
  evaluation.counts.unread_calls = 2;
  evaluation.counts.unread_note = "choose calls=glm";
  const std::string text = EvaluationsView({MakeShown("greedy", std::move(evaluation))}, {});
  EXPECT_NE(text.find("greedy: 2 turns look like calls that were not read: choose calls=glm\n"),
            std::string::npos)
      << text;
}

TEST(EvaluationViewTest, BeforeAndAfterAreAligned) {
  BeforeAfterTable table{.split = "test", .tasks = 64};
  table.rows.push_back({.label = "success, sampled",
                        .before = FigureCell{0.25, Interval{0.25, 0.2, 0.3}, true},
                        .after = FigureCell{0.75, std::nullopt, true},
                        .main = true});
  table.rows.push_back(
      {.label = "family A", .after = FigureCell{1, std::nullopt, true}, .indent = 1});
  EXPECT_EQ(BeforeAfterView({table}, {}),
            "test, 64 tasks, real tools              before                  after\n"
            "  success, sampled                      25.0 % [20.0, 30.0]     75.0 %\n"
            "    family A                            -                       100.0 %\n");
}

}  // namespace
}  // namespace hone
