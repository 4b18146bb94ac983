#include "rewards/trajectory_view.h"

#include <gtest/gtest.h>

#include "record/validate.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

TEST(TrajectoryView, HoldsTheCallsOfItsPathWithTheirResults) {
  TreeMaker maker;
  maker.Begin().Call("a").Fault().Call("b", "{}", CallStatus::kToolError).Answer("x");
  maker.Begin().Answer("y");
  ASSERT_TRUE(Validate({maker.tree, {}, {}}).empty());
  const TrajectoryView first = TrajectoryOf(maker.tree, 0);
  ASSERT_EQ(first.calls.size(), 2u);
  EXPECT_EQ(first.calls[0].call->name, "a");
  EXPECT_EQ(first.calls[1].result->status, CallStatus::kToolError);
  EXPECT_EQ(first.faults.size(), 1u);
  EXPECT_EQ(first.answer(), Json("x"));
  EXPECT_EQ(first.policy_tokens, 35);
  EXPECT_EQ(first.all_tokens, 46);
  EXPECT_EQ(first.latency_us, 2000000);
  EXPECT_FALSE(first.well_formed());
  const TrajectoryView second = TrajectoryOf(maker.tree, 1);
  EXPECT_TRUE(second.calls.empty() && second.faults.empty() && second.well_formed());
}

TEST(TrajectoryView, TermsStandWhereTheyWereEarned) {
  TreeMaker maker;
  maker.Begin().Call("a").Answer("x");
  maker.tree.leaves[0].final_state.Set("answer_span", Json::ArrayOf(std::vector<int>{1, 4}));
  maker.Begin().Call("a").End(Ending::kTurnLimit);
  const TrajectoryView answered = TrajectoryOf(maker.tree, 0);
  EXPECT_EQ(answered.AtCall("t", 1, answered.calls[0]), (RewardTerm{"t", 1, 1, 1, Span{2, 8}}));
  EXPECT_EQ(answered.AtAnswer("t", 1), (RewardTerm{"t", 1, 1, 3, Span{1, 4}}));
  const TrajectoryView cut = TrajectoryOf(maker.tree, 1);
  EXPECT_EQ(cut.AtAnswer("t", 1), (RewardTerm{"t", 1, 1, kNoNode, std::nullopt}));
  maker.tree.leaves[0].final_state.Set("answer_span", Json::ArrayOf(std::vector<int>{1, 99}));
  EXPECT_EQ(TrajectoryOf(maker.tree, 0).AtAnswer("t", 1).span, std::nullopt);
}

TEST(TrajectoryView, ATurnThatCallsOrCannotBeReadIsNoAnswer) {
  TreeMaker maker;
  maker.Begin().Answer("x");
  for (const bool faulty : {false, true}) {
    maker.Begin().Answer("x");
    Node& last = maker.tree.nodes[maker.tree.leaves.back().node];
    if (faulty) {
      last.faults = {{FaultKind::kBadJson, "cut off", {0, 2}}};
    } else {
      last.calls = {{"a", Json::Of({}), {0, 2}}};
    }
  }
  EXPECT_EQ(TrajectoryOf(maker.tree, 0).AtAnswer("t", 0).node, maker.tree.leaves[0].node);
  for (const int32_t leaf : {1, 2}) {
    EXPECT_EQ(TrajectoryOf(maker.tree, leaf).AtAnswer("t", 0).node, kNoNode) << leaf;
  }
}

TEST(TrajectoryView, FailuresOfOthersAreTold) {
  TreeMaker maker;
  maker.Begin().Call("f").End(Ending::kFailed, {}, Blame::kInfrastructure);
  maker.Begin().Call("f").End(Ending::kInterrupted);
  maker.Begin().Answer("x");
  maker.Begin().Call("f").End(Ending::kFailed, {}, Blame::kAgent);
  EXPECT_TRUE(TrajectoryOf(maker.tree, 0).failed_by_others());
  EXPECT_TRUE(TrajectoryOf(maker.tree, 1).failed_by_others());
  EXPECT_FALSE(TrajectoryOf(maker.tree, 2).failed_by_others());
  EXPECT_FALSE(TrajectoryOf(maker.tree, 3).failed_by_others());
}

TEST(TrajectoryView, WhoseFailureARunIs) {
  const auto run = [](CallStatus status, Blame blame) {
    TreeMaker maker;
    maker.Begin().Call("a", "{}", status, "", blame).Answer("");
    return RunOf(TrajectoryOf(maker.tree, 0).calls[0]);
  };
  EXPECT_EQ(run(CallStatus::kOk, Blame::kNone), CallRun::kRan);
  EXPECT_EQ(run(CallStatus::kToolError, Blame::kNone), CallRun::kFailed);
  EXPECT_EQ(run(CallStatus::kToolError, Blame::kSimulator), CallRun::kUnknown);
  EXPECT_EQ(run(CallStatus::kTimeout, Blame::kNone), CallRun::kUnknown);
  EXPECT_EQ(run(CallStatus::kTimeout, Blame::kAgent), CallRun::kFailed);
  EXPECT_EQ(run(CallStatus::kInvalidArguments, Blame::kAgent), CallRun::kNeverRan);
  EXPECT_EQ(RunOf({}), CallRun::kUnknown);
}

TEST(TrajectoryView, WithoutAResultTheSchemaSaysWhetherTheFormIsRight) {
  Task task;
  task.tools = *ParseJson(R"([{"name": "f", "parameters": {"type": "object",
      "required": ["x"], "properties": {"x": {"type": "integer"}}}, "x-hone": {"price": 0.25}}])");
  const TaskTools tools = TaskTools::Of(task);
  const auto form = [&](const char* name, const char* arguments) {
    const Call call{name, *ParseJson(arguments), {}};
    return tools.FormOf({1, &call, nullptr});
  };
  EXPECT_EQ(form("f", "{\"x\": 1}"), CallForm::kRight);
  EXPECT_EQ(form("f", "{\"x\": \"1\"}"), CallForm::kWrong);
  EXPECT_EQ(form("g", "{}"), CallForm::kWrong);
  EXPECT_EQ(tools.PriceOf("f"), 0.25);
  EXPECT_EQ(tools.PriceOf("g"), 0);
  const Call call{"f", Json::Object(), {}};
  EXPECT_EQ(TaskTools::Of(Task()).FormOf({1, &call, nullptr}), CallForm::kUnknown);
}

}  // namespace
}  // namespace hone
