#include "evaluate/suites/suite_figures.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Suite FourCases() {
  Suite suite{.name = "s", .cases = {}, .tools = {}};
  for (const char* category : {"b", "b", "a", "a"}) {
    SuiteCase& one = suite.cases.emplace_back();
    one.id = std::to_string(suite.cases.size());
    one.category = category;
  }
  return suite;
}

// One character per sample: '1' right, '0' wrong, '-' not measured.
SuiteOutcomes Outcomes(const std::string& marks) {
  SuiteOutcomes outcomes;
  for (const char mark : marks) {
    SuiteOutcome& one = outcomes.emplace_back();
    one.measured = mark != '-';
    one.problem = one.measured ? "" : "gone";
    one.verdict = {mark == '1', mark == '0' ? "wrong_tool" : ""};
    one.turns = 1;
    one.tokens = {10, 2};
    one.money = 0.25;
    one.latency_us = 1000 * static_cast<int64_t>(outcomes.size());
  }
  return outcomes;
}

TEST(SuiteFigures, SharesAreByCategoryAndOverAll) {
  const SuiteFigures figures = FiguresOf(FourCases(), Outcomes("1011"), 1, Rng(0));
  ASSERT_EQ(figures.categories.size(), 2u);
  EXPECT_EQ(figures.categories[0].name, "b");
  EXPECT_EQ(figures.categories[0].right->value, 0.5);
  EXPECT_EQ(figures.categories[1].right->value, 1);
  EXPECT_EQ(figures.all.right->value, 0.75);
  EXPECT_LE(figures.all.right->low, 0.75);
  EXPECT_EQ(*figures.mean_of_categories, 0.75);
  EXPECT_EQ(figures.all.errors.at("wrong_tool"), 1);
  EXPECT_EQ(figures.tokens, (TokenUsage{40, 8}));
  EXPECT_EQ(figures.money, 1);
  EXPECT_EQ(figures.latency->p50, 3);
  EXPECT_EQ(figures.latency->p99, 4);
  EXPECT_TRUE(figures.passes.empty());
}

TEST(SuiteFigures, WhatWasNotMeasuredCountsNowhere) {
  const SuiteFigures figures = FiguresOf(FourCases(), Outcomes("10--"), 1, Rng(0));
  EXPECT_EQ(figures.all.right->value, 0.5);
  EXPECT_EQ(figures.all.cases, 2);
  EXPECT_FALSE(figures.categories[1].right);
  EXPECT_EQ(figures.not_measured, 2);
  EXPECT_EQ(figures.problem, "gone");
  EXPECT_TRUE(figures.ToJson().Find("categories")->Find("a")->Find("right")->is_null());
}

TEST(SuiteFigures, SeveralSamplesHavePasses) {
  const SuiteFigures figures = FiguresOf(FourCases(), Outcomes("11100000"), 2, Rng(0));
  ASSERT_EQ(figures.passes.size(), 2u);
  EXPECT_EQ(figures.passes[1].k, 2);
  EXPECT_EQ(figures.passes[1].one->value, 0.5);
  EXPECT_EQ(figures.passes[1].every->value, 0.25);
  EXPECT_EQ(figures.passes[0].one->value, 0.375);
}

TEST(SuiteFigures, DifferencesArePairedByCase) {
  const auto differences =
      DifferencesOf(FourCases(), Outcomes("1010"), Outcomes("11-1"), 1, Rng(0));
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(differences[0].name, "b");
  EXPECT_EQ(differences[0].value.value, -0.5);
  EXPECT_EQ(differences[1].cases, 1) << "measured in both";
  EXPECT_EQ(differences[1].value.value, -1);
  EXPECT_EQ(differences[2].name, "all");
  EXPECT_NEAR(differences[2].value.value, -2.0 / 3, 1e-12);
  EXPECT_EQ(*ToJson(differences).Find("all")->Find("cases"), Json(3));
}

TEST(SuiteFigures, EveryCaseIsALine) {
  const SuiteOutcomes outcomes = Outcomes("0-");
  const Json line = OutcomeJson(FourCases().cases[0], 1, outcomes[0]);
  EXPECT_EQ(*line.Find("id"), Json("1"));
  EXPECT_EQ(*line.Find("sample"), Json(1));
  EXPECT_EQ(*line.Find("right"), Json(false));
  EXPECT_EQ(*line.Find("error_type"), Json("wrong_tool"));
  EXPECT_EQ(line.Find("problem"), nullptr);
  EXPECT_TRUE(OutcomeJson(FourCases().cases[0], 0, outcomes[1]).Find("right")->is_null());
}

}  // namespace
}  // namespace hone
