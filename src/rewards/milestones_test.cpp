#include "rewards/milestones.h"

#include <gtest/gtest.h>

#include "support/tree_maker.h"

namespace hone {
namespace {

TEST(Milestones, EachPaysOnceHoweverOftenItHappens) {
  TreeMaker maker;
  maker.tree.task.reward = *ParseJson(R"({"milestones": [
      {"name": "navigation", "call": {"name": "open"}},
      {"name": "fields"},
      {"name": "goal", "state": {"form": {"sent": true}}}]})");
  maker.Begin().Call("open").Call("open").Call("open").Answer("x");
  maker.tree.leaves[0].final_state = *ParseJson(R"({"form": {"sent": true, "id": 7},
      "milestones": [{"name": "fields", "share": 0.5}, {"name": "fields", "share": 0.25}, "x"]})");
  const auto scores = NewMilestones()->ScoreTree(maker.tree, {}).value();
  ASSERT_EQ(scores[0].terms.size(), 3u);
  EXPECT_EQ(scores[0].terms[0], (RewardTerm{"milestone", 1, 0.1, 1, Span{2, 8}}));
  EXPECT_EQ(scores[0].terms[1].value, 0.5);
  EXPECT_DOUBLE_EQ(*Total(scores[0]), 0.1 + 0.5 * 0.2 + 0.2);
}

TEST(Milestones, WhatDidNotHappenIsZeroAndWhatNobodyCouldSeeIsAbsent) {
  TreeMaker maker;
  maker.tree.task.reward = *ParseJson(R"({"milestones": [
      {"name": "navigation", "call": {"name": "open"}}, {"name": "fields"}]})");
  maker.Begin().Call("open", "{}", CallStatus::kToolError).Answer("x");
  const auto scores = NewMilestones()->ScoreTree(maker.tree, {}).value();
  ASSERT_EQ(scores[0].terms.size(), 1u);
  EXPECT_EQ(scores[0].terms[0].value, 0);
}

}  // namespace
}  // namespace hone
