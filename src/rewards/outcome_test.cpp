#include "rewards/outcome.h"

#include <gtest/gtest.h>

#include "support/tree_maker.h"

namespace hone {
namespace {

Outcome Of(const TreeMaker& maker, Labels labels = {}) {
  return OutcomeOf(TrajectoryOf(maker.tree, 0), labels);
}

Labels Gold(Json gold, std::optional<AnswerKind> kind = std::nullopt) {
  Labels labels;
  labels.answer = std::move(gold);
  labels.answer_kind = kind;
  return labels;
}

TEST(Outcome, ComparesTheAnswerOfTheFinalState) {
  TreeMaker maker;
  maker.Begin().Answer("Rain.");
  EXPECT_TRUE(Of(maker, Gold("rain")).right());
  EXPECT_FALSE(Of(maker, Gold("rain", AnswerKind::kExact)).right());
  EXPECT_FALSE(Of(maker).match.has_value()) << "no gold, no outcome";
}

TEST(Outcome, TheGoldAnswerInsideAToolResultEarnsNothing) {
  TreeMaker quoted;
  quoted.Begin().Call("ask", R"({"q": "42"})", CallStatus::kOk, "the answer is 42").Answer("none");
  EXPECT_EQ(Of(quoted, Gold(42)).match, AnswerMatch{});
  TreeMaker silent;
  silent.Begin().Call("ask", "{}", CallStatus::kOk, "42").End(Ending::kTurnLimit);
  EXPECT_EQ(Of(silent, Gold("42")).match, AnswerMatch{});
}

TEST(Outcome, TheEnvironmentsVerdictGoesFirstUnlessAKindIsNamed) {
  TreeMaker maker;
  maker.Begin().Answer("x");
  maker.tree.leaves[0].final_state.Set("verdict", true);
  EXPECT_TRUE(Of(maker, Gold("y")).right());
  EXPECT_FALSE(Of(maker, Gold("y", AnswerKind::kText)).right());
  maker.tree.leaves[0].final_state.Set("verdict", "fine");
  EXPECT_EQ(Of(maker).fault->blame, Blame::kEnvironment);
}

TEST(Outcome, TheGoldOfTheEpisodesWorldGoesBeforeTheTasks) {
  TreeMaker maker;
  maker.Begin().Answer("x");
  maker.tree.leaves[0].final_state.Set("gold_answer", "x");
  EXPECT_TRUE(Of(maker, Gold("y")).right());
  maker.tree.leaves[0].final_state.Set("gold_answer", Json());
  EXPECT_FALSE(Of(maker, Gold("x")).match.has_value());
}

TEST(Outcome, AnAnswerThatIsNotToldIsNotWrong) {
  TreeMaker maker;
  maker.Begin().Answer("x");
  maker.tree.leaves[0].final_state = Json();
  EXPECT_FALSE(Of(maker, Gold("x")).match.has_value());
}

TEST(Outcome, WhatCannotBeComparedIsAFault) {
  TreeMaker maker;
  maker.Begin().Answer("x");
  const Outcome outcome = Of(maker, Gold("not a number", AnswerKind::kNumber));
  EXPECT_FALSE(outcome.match.has_value());
  EXPECT_EQ(outcome.fault->blame, Blame::kJudge);
}

}  // namespace
}  // namespace hone
