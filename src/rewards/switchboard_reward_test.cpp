#include "rewards/switchboard_reward.h"

#include <gtest/gtest.h>

#include "record/reward_terms.h"
#include "record/validate.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

constexpr char kFourCalls[] = R"({"calls": [{"name": "op", "arguments": {"n": 0}},
    {"name": "op", "arguments": {"n": 1}}, {"name": "op", "arguments": {"n": 2}},
    {"name": "op", "arguments": {"n": 3}}]})";

TreeMaker FourCalls() {
  TreeMaker maker;
  maker.tree.task.reward = *ParseJson(kFourCalls);
  maker.tree.task.answer = "end";
  return maker;
}

// So many calls, then the answer; the environment's scores of the calls, if it has any.
void AddPath(TreeMaker* maker, int calls, const char* scores, const char* answer = "other") {
  maker->Begin();
  for (int i = 0; i < calls; ++i) maker->Call("op", "{\"n\": " + std::to_string(i) + "}");
  maker->Answer(answer);
  if (scores != nullptr)
    maker->tree.leaves.back().final_state.Set("call_scores", *ParseJson(scores));
}

std::vector<Score> ScoresOf(const TreeMaker& maker) {
  std::vector<Score> scores = NewSwitchboardReward(nullptr)->ScoreTree(maker.tree, {}).value();
  EXPECT_EQ(Validate({maker.tree, scores, {}}), std::vector<std::string>());
  return scores;
}

std::vector<double> ValuesOf(const Score& score, std::string_view name) {
  std::vector<double> values;
  for (const RewardTerm& term : score.terms) {
    if (term.name == name) values.push_back(term.value.value());
  }
  return values;
}

using Values = std::vector<double>;

TEST(SwitchboardReward, TheEnvironmentSaysWhichCallsAreRightWhereTheyStand) {
  TreeMaker maker = FourCalls();
  AddPath(&maker, 4, "[1, 0, 1, 1]", "end");
  const std::vector<Score> scores = ScoresOf(maker);
  EXPECT_EQ(ValuesOf(scores[0], kCallTerm), (Values{1, -0.25, 1, 1}));
  EXPECT_EQ(ValuesOf(scores[0], kOutcomeTerm), Values{1});
  EXPECT_EQ(ValuesOf(scores[0], kOmittedTerm), Values{0}) << "nothing is missing";
}

TEST(SwitchboardReward, WhereItDoesNotGoldCallsAreRight) {
  TreeMaker maker = FourCalls();
  maker.Begin().Call("op", R"({"n": 0})").Call("op", R"({"n": 0})").Call("op", R"({"n": 3})");
  maker.Answer("other");
  EXPECT_EQ(ValuesOf(ScoresOf(maker)[0], kCallTerm), (Values{1, -0.25, 1}));
}

TEST(SwitchboardReward, AMissingCallCostsWhatAWrongOneCosts) {
  TreeMaker maker = FourCalls();
  AddPath(&maker, 4, "[1, 1, 0, 0]");
  AddPath(&maker, 2, "[1, 1]");
  AddPath(&maker, 0, "[]");
  AddPath(&maker, 4, "[0, 0, 0, 0]");
  const std::vector<Score> scores = ScoresOf(maker);
  EXPECT_EQ(Total(scores[0]), Total(scores[1]));
  EXPECT_EQ(Total(scores[2]), Total(scores[3]));
  EXPECT_EQ(ValuesOf(scores[1], kOmittedTerm), (Values{-0.25, -0.25}));
  for (const RewardTerm& term : scores[1].terms) {
    if (term.name != kOmittedTerm) continue;
    EXPECT_EQ(term.node, maker.tree.leaves[1].node) << "on the answer that stands instead";
  }
}

TEST(SwitchboardReward, NothingIsGainedByCallingMore) {
  TreeMaker maker = FourCalls();
  AddPath(&maker, 4, "[1, 1, 0, 0]");
  AddPath(&maker, 6, "[1, 1, 0, 0, 0, 0]");
  const std::vector<Score> scores = ScoresOf(maker);
  EXPECT_DOUBLE_EQ(*Total(scores[0]) - *Total(scores[1]), 0.5);
}

TEST(SwitchboardReward, WhatCannotBeReadIsAWrongCallAndWhatEndedTooSoonIsMissing) {
  TreeMaker maker = FourCalls();
  maker.Begin().Call("op").Fault();
  maker.End(Ending::kInvalid, *ParseJson(R"({"call_scores": [1], "answer": null})"));
  maker.Begin().Call("op").Call("op").Call("op");
  maker.End(Ending::kBudget, *ParseJson(R"({"call_scores": [0, 0, 0], "answer": null})"));
  const std::vector<Score> scores = ScoresOf(maker);
  EXPECT_EQ(ValuesOf(scores[0], kCallTerm), (Values{1, -0.25}));
  EXPECT_EQ(ValuesOf(scores[0], kOmittedTerm), (Values{-0.25, -0.25}));
  EXPECT_EQ(ValuesOf(scores[1], kOmittedTerm), Values{-0.25});
  EXPECT_EQ(scores[1].terms.back().node, kNoNode) << "there is no answer to put it on";
}

TEST(SwitchboardReward, WithoutLabelsOnlyTheOutcomeIsThere) {
  TreeMaker maker;
  maker.tree.task.answer = "end";
  AddPath(&maker, 2, "[1, 1]", "end");
  const std::vector<Score> scores = ScoresOf(maker);
  ASSERT_EQ(scores[0].terms.size(), 1u);
  EXPECT_EQ(scores[0].terms[0].name, kOutcomeTerm);
}

}  // namespace
}  // namespace hone
