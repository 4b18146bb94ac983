#include "rewards/components.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "record/validate.h"
#include "support/random_record.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

constexpr char kParis[] = R"({"tool_needed": true, "calls": [
    {"name": "weather", "arguments": {"city": "Paris", "day": "tomorrow"}}]})";

std::vector<Score> Scored(const TreeMaker& maker, ComponentOptions options = {}) {
  EXPECT_EQ(Validate({maker.tree, {}, {}}), std::vector<std::string>());
  auto scores = NewComponents(std::move(options))->ScoreTree(maker.tree, {});
  EXPECT_TRUE(scores.ok()) << (scores.ok() ? "" : scores.error().message());
  if (!scores.ok()) return {};
  EXPECT_EQ(Validate({maker.tree, *scores, {}}), std::vector<std::string>());
  return *scores;
}

// The value of the only term of this name; nothing when there is none.
std::optional<double> Value(const Score& score, std::string_view name) {
  std::optional<double> value;
  for (const RewardTerm& term : score.terms) {
    if (term.name != name) continue;
    EXPECT_FALSE(value.has_value()) << name << " is there twice";
    value = term.value;
  }
  return value;
}

TreeMaker Labelled(const char* reward, Json answer = Json()) {
  TreeMaker maker;
  maker.tree.task.reward = *ParseJson(reward);
  maker.tree.task.answer = std::move(answer);
  return maker;
}

TEST(Components, TheWorkedExamples) {
  TreeMaker maker = Labelled(kParis, "Sunny, 24 degrees");
  maker.Begin().Call("traffic", R"({"city": "Paris"})").Answer("Heavy traffic");
  maker.Begin()
      .Call("weather", R"({"city": "Paris", "day": "tomorrow"})")
      .Answer("Sunny, 24 degrees");
  const std::vector<Score> scores = Scored(maker);
  EXPECT_EQ(Total(scores[0]), 0.5);
  EXPECT_EQ(Value(scores[0], "when"), 1);
  EXPECT_EQ(Value(scores[0], "which"), -0.5);
  EXPECT_EQ(Value(scores[0], "syntax"), 0.5);
  EXPECT_EQ(Value(scores[0], "execution"), 0);
  EXPECT_EQ(Value(scores[0], "arguments"), std::nullopt);
  EXPECT_EQ(Value(scores[0], "outcome"), -0.5);
  EXPECT_EQ(Total(scores[1]), 14.5);
  EXPECT_EQ(Value(scores[1], "which"), 1.5);
  EXPECT_EQ(Value(scores[1], "arguments"), 1);
  EXPECT_EQ(Value(scores[1], "execution"), 1);
  EXPECT_EQ(Value(scores[1], "outcome"), 10);
}

TEST(Components, TermsStandOnTheCallOrTheAnswer) {
  TreeMaker maker = Labelled(kParis, "x");
  maker.Begin().Call("weather").Answer("x");
  const std::vector<Score> scores = Scored(maker);
  for (const RewardTerm& term : scores[0].terms) {
    if (term.name == "outcome") {
      EXPECT_EQ(term.node, 3);
    } else {
      EXPECT_EQ(term.node, 1) << term.name;
      EXPECT_EQ(term.span, (Span{2, 8})) << term.name;
    }
  }
}

TEST(Components, WithoutLabelsTermsAreAbsentAndNotZero) {
  TreeMaker maker;
  maker.Begin().Call("weather").Answer("x");
  const Score score = Scored(maker)[0];
  for (const char* name : {"when", "which", "arguments", "outcome", "preference"}) {
    EXPECT_TRUE(std::none_of(score.terms.begin(), score.terms.end(), [&](const RewardTerm& term) {
      return term.name == name;
    })) << name;
  }
  // Measured, but not paid: nobody says that a tool was needed.
  EXPECT_EQ(Value(score, "execution"), 0);
  EXPECT_EQ(Value(score, "syntax"), 0);
}

TEST(Components, WhereOnlyTheNeedIsKnownOneCallIsPaid) {
  TreeMaker maker = Labelled(R"({"tool_needed": true})");
  maker.Begin().Call("a").Call("b").Answer("x");
  EXPECT_EQ(Total(Scored(maker)[0]), 1 + 1 + 0.5);
}

TEST(Components, ANeedlessCallNeverPays) {
  for (const char* reward : {R"({"tool_needed": false})", R"({"calls": []})", "null"}) {
    TreeMaker maker = Labelled(reward, "x");
    maker.Begin().Answer("x");
    maker.Begin().Call("weather").Answer("x");
    const std::vector<Score> scores = Scored(maker);
    EXPECT_GE(*Total(scores[0]), *Total(scores[1])) << reward;
    for (const RewardTerm& term : scores[1].terms) {
      if (term.name == "outcome") continue;
      EXPECT_LE(*term.value, 0) << reward << ": " << term.name;
    }
  }
}

TEST(Components, NotCallingIsPaidWhereNoToolIsNeeded) {
  TreeMaker maker = Labelled(R"({"tool_needed": false})");
  maker.Begin().Answer("x");
  maker.Begin().Call("weather").Call("weather").Answer("x");
  const std::vector<Score> scores = Scored(maker);
  EXPECT_EQ(Value(scores[0], "when"), 0.5);
  double needless = 0;
  for (const RewardTerm& term : scores[1].terms) {
    if (term.name == "when") needless += *term.value;
  }
  EXPECT_DOUBLE_EQ(needless, -0.4);
}

TEST(Components, AMissedCallCosts) {
  TreeMaker maker = Labelled(kParis);
  maker.Begin().Answer("x");
  EXPECT_EQ(Value(Scored(maker)[0], "when"), -0.2);
}

TEST(Components, MoreCallsNeverEarnMore) {
  for (const char* reward : {kParis, "null", R"({"tool_needed": true})", R"({"calls": []})"}) {
    double last = 1e9;
    for (int junk = 0; junk < 6; ++junk) {
      TreeMaker maker = Labelled(reward, "x");
      maker.Begin().Call("weather", R"({"city": "Paris", "day": "tomorrow"})");
      for (int i = 0; i < junk; ++i) maker.Call(i % 2 == 0 ? "weather" : "other");
      maker.Answer("x");
      const double total = *Total(Scored(maker)[0]);
      EXPECT_LE(total, last) << reward << ", " << junk;
      last = total;
    }
  }
}

TEST(Components, MalformedAndMisshapenCallsCostWhereTheyStand) {
  TreeMaker maker = Labelled(kParis);
  maker.Begin().Fault().Call("weather", "{}", CallStatus::kInvalidArguments).Answer("x");
  std::vector<RewardTerm> syntax;
  const std::vector<Score> scores = Scored(maker);
  for (const RewardTerm& term : scores[0].terms) {
    if (term.name == "syntax") syntax.push_back(term);
    EXPECT_NE(term.name, "execution") << "what never ran neither ran nor failed";
  }
  ASSERT_EQ(syntax.size(), 2u);
  EXPECT_EQ(syntax[0].node, 2);
  EXPECT_EQ(syntax[0].value, -1);
  EXPECT_EQ(syntax[1].node, 1);
  EXPECT_EQ(syntax[1].span, (Span{1, 9}));
  EXPECT_EQ(syntax[1].value, -1);
}

TEST(Components, OnlyTheAgentsOwnFailuresCost) {
  TreeMaker maker = Labelled(kParis);
  maker.Begin().Call("weather", "{}", CallStatus::kToolError).Answer("x");
  maker.Begin().Call("weather", "{}", CallStatus::kTimeout).Answer("x");
  maker.Begin().Call("weather").End(Ending::kFailed, {}, Blame::kSimulator);
  const std::vector<Score> scores = Scored(maker);
  EXPECT_EQ(Value(scores[0], "execution"), -1);
  EXPECT_EQ(Value(scores[1], "execution"), std::nullopt);
  EXPECT_TRUE(scores[2].terms.empty());
}

TEST(Components, ArgumentsArePaidByHowNearTheyAre) {
  TreeMaker maker = Labelled(R"({"calls": [{"name": "f", "arguments": {"n": 10}}]})");
  maker.Begin().Call("f", R"({"n": 9})").Answer("x");
  EXPECT_DOUBLE_EQ(*Value(Scored(maker)[0], "arguments"), 0.9 * 1.0 - 0.1 * 0.5);
}

TEST(Components, WeightsStandOnTheTerms) {
  TreeMaker maker = Labelled(kParis, "x");
  maker.Begin().Answer("x");
  ComponentOptions options;
  options.weights["outcome"] = 2;
  EXPECT_EQ(Total(Scored(maker, options)[0]), 2 * 10 - 0.2);
}

// Likes short answers; fails on the word "boom".
class Judge final : public OpinionSource {
 public:
  Result<std::optional<Opinion>> Ask(const Question& question) override {
    const Json& answer = question.trajectory.answer();
    if (answer == Json("boom")) return Error(ErrorCode::kUnavailable, "no answer");
    return std::optional<Opinion>(Opinion{answer == Json("x") ? 1.0 : 0.0, 1});
  }
};

TEST(Components, AJudgeFillsWhatTheRuleCannotSay) {
  TreeMaker maker;
  maker.Begin().Answer("x");
  maker.Begin().Answer("a long answer");
  maker.Begin().Answer("boom");
  Judge judge;
  ComponentOptions options;
  options.panels["preference"] = {Panel::Mode::kCascade, nullptr, &judge};
  options.panels["outcome"] = {Panel::Mode::kCascade, nullptr, &judge};
  const std::vector<Score> scores = Scored(maker, options);
  EXPECT_EQ(Value(scores[0], "preference"), 3);
  EXPECT_EQ(Value(scores[0], "outcome"), 10);
  EXPECT_EQ(Value(scores[1], "preference"), -0.5);
  ASSERT_EQ(scores[2].terms.size(), 2u);
  for (const RewardTerm& term : scores[2].terms) {
    EXPECT_FALSE(term.value.has_value());
    EXPECT_EQ(term.fault->blame, Blame::kJudge);
  }
  EXPECT_EQ(Total(scores[2]), std::nullopt);
}

TEST(Components, WhateverTheRecordTheScoresFitIt) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    ScoredTree record = RandomRecord(Rng(seed));
    record.tree.task.reward = *ParseJson(kParis);
    record.tree.task.metadata = Json();
    record.tree.task.answer = "x";
    const auto scores = NewComponents()->ScoreTree(record.tree, {});
    ASSERT_TRUE(scores.ok()) << scores.error().message();
    record.scores = *scores;
    EXPECT_EQ(Validate(record), std::vector<std::string>()) << seed;
  }
}

}  // namespace
}  // namespace hone
