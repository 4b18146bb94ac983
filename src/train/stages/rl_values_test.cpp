#include "train/stages/rl_values.h"

#include <gtest/gtest.h>

#include "credit/method.h"
#include "credit/methods.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

TEST(RlValues, AreMeansOverWhatWasScored) {
  TreeMaker maker;
  maker.tree.task.reward = *ParseJson(R"({"calls": [{"name": "clock", "arguments": {}}]})");
  maker.Begin().Call("clock").Answer("1");
  maker.Begin().Fault().End(Ending::kTokenLimit);
  maker.Begin().Call("clock").End(Ending::kFailed, Json(), Blame::kSimulator);
  ScoredTree record{.tree = maker.tree};
  record.scores = {
      {0, {{.name = "outcome", .value = 1}, {.name = "call", .value = 3, .weight = 2}}},
      {1, {{.name = "outcome", .value = 0}}},
      {2, {}}};
  RolloutCounts counts;
  counts.leaves = 3;
  counts.dropped = 1;
  counts.turns = 4;
  counts.unread_calls = 1;
  StepValues values;
  AddRolloutValues({record}, MeasureTree(record.tree).value(), counts, &values);
  EXPECT_EQ(values.at("reward/mean"), 3.5);
  EXPECT_EQ(values.at("reward/outcome"), 0.5);
  EXPECT_EQ(values.at("reward/call"), 3);
  EXPECT_EQ(values.at("unscored"), 1);
  EXPECT_EQ(values.at("fault_rate"), 0.5) << "one in the tree, one that left it, of four";
  EXPECT_DOUBLE_EQ(values.at("truncated_rate"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(values.at("valid_action_rate"), 1 - 1.0 / 4);
  EXPECT_EQ(values.at("tool_calls"), 0.5);
  EXPECT_EQ(values.at("unread_call_rate"), 0.25);
}

TEST(RlValues, WhatIsPaidForCallsThatBroughtNothingIsToldApart) {
  TreeMaker maker;
  maker.tree.task.reward = *ParseJson(R"({"calls": [{"name": "clock", "arguments": {}}]})");
  maker.Begin().Call("clock").Call("clock").Answer("1");
  maker.Begin().Answer("1");
  ScoredTree record{.tree = maker.tree};
  const auto paid = [&](NodeId node, double value) {
    return RewardTerm{
        .name = "call", .value = value, .weight = 2, .node = node, .span = Span{2, 8}};
  };
  record.scores = {{0, {paid(1, 1), paid(3, 0.5)}}, {1, {{.name = "outcome", .value = 1}}}};
  StepValues values;
  AddRolloutValues({record}, MeasureTree(record.tree).value(), {}, &values);
  EXPECT_EQ(values.at("unused_call_rate"), 0.5) << "one gold call: the second brought nothing";
  EXPECT_EQ(values.at("hollow_reward"), 1)
      << "half of a point with weight 2; the answer is no call";
  record.scores[0].terms[1].value = -0.5;
  StepValues punished;
  AddRolloutValues({record}, MeasureTree(record.tree).value(), {}, &punished);
  EXPECT_FALSE(punished.contains("hollow_reward")) << "nothing was paid";
}

// A figure of nothing is absent: 0 would look like a collapse.
TEST(RlValues, WhatNothingWasMeasuredForIsAbsent) {
  TreeMaker maker;
  maker.Begin().Call("clock").End(Ending::kFailed, Json(), Blame::kSimulator);
  StepValues values;
  AddRolloutValues({{.tree = maker.tree}}, MeasureTree(maker.tree).value(), {.leaves = 1}, &values);
  for (const char* name : {"success", "which", "which_accuracy", "reward/mean", "tool_calls",
                           "execution_failure_rate", "valid_action_rate", "unread_call_rate"}) {
    EXPECT_FALSE(values.contains(name)) << name;
  }
  EXPECT_EQ(values.at("fault_rate"), 1);
  EXPECT_EQ(values.at("trajectories"), 1);
}

TEST(RlValues, AGroupIsSilentWhenAllItsCreditIsZero) {
  const Credit silent{.advantages = {{0, {0, 0}}, {1, {0}}}};
  const Credit loud{.advantages = {{0, {0, 0}}, {1, {0.5f}}}};
  EXPECT_EQ(SilentShare(std::vector<Credit>{silent, loud, loud, silent}), 0.5);
  EXPECT_EQ(SilentShare({}), 0);
}

// Rewards that are there and that no method reads teach nothing, and nobody notices.
TEST(RlValues, WhatAChannelLeavesOutIsCounted) {
  TreeMaker maker;
  maker.Begin().Call("clock").Answer("1");
  maker.Begin().Call("clock").Answer("2");
  ScoredTree record{.tree = maker.tree};
  record.scores = {{0, {{.name = "outcome", .value = 1}}}, {1, {{.name = "outcome"}}}};
  const auto share = [&] {
    return LeftOutShare(std::vector<Credit>{*AssignCredit(*NewMethod("grpo"), record)});
  };
  EXPECT_EQ(share(), 0.5);
  record.scores[1].terms[0].value = 0;
  EXPECT_EQ(share(), 0);
  EXPECT_EQ(LeftOutShare({}), 0);
}

}  // namespace
}  // namespace hone
