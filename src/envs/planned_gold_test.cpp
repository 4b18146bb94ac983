#include "envs/planned_gold.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Task With(const char* reward, const char* metadata) {
  Task task;
  task.id = "t";
  task.reward = ParseJson(reward).value();
  task.metadata = ParseJson(metadata).value();
  return task;
}

constexpr char kTwoCalls[] = R"({"plan": {
  "calls": [{"name": "contact", "arguments": {"name": "Ana"}},
            {"name": "weather", "arguments": {"city": "${0.city}", "day": "Mon"}}],
  "answer": "${1.sky}"}})";

TEST(PlannedGoldTest, CallsOfThePlanAreTheGoldCalls) {
  Task task = With("null", kTwoCalls);
  TakeGoldFromPlan(&task);
  const Json wanted = ParseJson(R"([
      {"name": "contact", "arguments": {"name": "Ana"}},
      {"name": "weather", "arguments": {"city": "${0.city}", "day": "Mon"},
       "any": ["city"], "after": [0]}])")
                          .value();
  ASSERT_NE(task.reward.Find("calls"), nullptr);
  EXPECT_EQ(*task.reward.Find("calls"), wanted);
}

TEST(PlannedGoldTest, WhatTheTaskSaysItselfStays) {
  Task said = With(R"({"calls": [], "answer": "text"})", kTwoCalls);
  TakeGoldFromPlan(&said);
  EXPECT_TRUE(said.reward.Find("calls")->AsArray().empty());
  Task kind = With(R"("number")", kTwoCalls);
  TakeGoldFromPlan(&kind);
  EXPECT_EQ(*kind.reward.Find("answer"), Json("number"));
  EXPECT_EQ(kind.reward.Find("calls")->AsArray().size(), 2u);
}

TEST(PlannedGoldTest, APlanWithoutCallsSaysThatNoneIsNeeded) {
  Task task = With("null", R"({"plan": {"calls": [], "answer": "4"}})");
  TakeGoldFromPlan(&task);
  ASSERT_NE(task.reward.Find("calls"), nullptr);
  EXPECT_TRUE(task.reward.Find("calls")->AsArray().empty());
}

TEST(PlannedGoldTest, CallsOnConditionsAndTasksWithoutPlansSayNothing) {
  Task none = With("null", R"({"kind": "x"})");
  TakeGoldFromPlan(&none);
  EXPECT_TRUE(none.reward.is_null());
  Task sometimes = With("null", R"({"plan": {
    "calls": [{"name": "a", "arguments": {}},
              {"name": "b", "arguments": {}, "if": {"left": "${0.x}", "test": "equal", "right": 1}}],
    "answer": "y"}})");
  TakeGoldFromPlan(&sometimes);
  EXPECT_TRUE(sometimes.reward.is_null());
}

TEST(PlannedGoldTest, AnAcceptedValueThatRefersToAResultLeavesItsParameterOpen) {
  Task task = With("null", R"({"plan": {
    "calls": [{"name": "a", "arguments": {}},
              {"name": "b", "arguments": {"sum": "1+2"}, "accepted": {"sum": ["${0.n}+2"]}}],
    "answer": "3"}})");
  TakeGoldFromPlan(&task);
  EXPECT_EQ(*task.reward.Find("calls")->AsArray()[1].Find("any"), Json(Json::Array{Json("sum")}));
}

}  // namespace
}  // namespace hone
