#include "rewards/labels.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Task MakeTask(const char* reward, const char* metadata = "null") {
  Task task;
  task.id = "t";
  task.reward = *ParseJson(reward);
  task.metadata = *ParseJson(metadata);
  return task;
}

std::string ErrorOf(const char* reward) {
  const auto labels = LabelsOf(MakeTask(reward));
  return labels.ok() ? "" : labels.error().message();
}

TEST(Labels, WhatIsNotSaidIsAbsent) {
  const Labels labels = LabelsOf(Task()).value();
  EXPECT_FALSE(labels.tool_needed || labels.calls || labels.answer_kind || labels.least_calls);
  EXPECT_TRUE(labels.answer.is_null());
}

TEST(Labels, AllOfThem) {
  Task task = MakeTask(R"({"tool_needed": true, "order": "sequence", "calls": [
      {"name": "find", "arguments": {"q": "x"}, "accepted": {"q": ["y"]}, "optional": ["n"]},
      {"name": "send"}],
      "answer": {"kind": "number", "relative": 0.01},
      "milestones": [{"name": "navigation", "call": {"name": "open"}},
                     {"name": "paid", "weight": 0.5, "state": {"cart": {"paid": true}}}],
      "outputs": ["42"], "budget": {"calls": 3, "money": 0.5}, "least_calls": 2,
      "preferences": {"cost": 0.5}, "origin": "judge"})");
  task.answer = 42;
  const Labels labels = LabelsOf(task).value();
  EXPECT_EQ(labels.tool_needed, true);
  EXPECT_EQ(labels.calls->order, CallOrder::kSequence);
  EXPECT_EQ(labels.calls->calls[0].accepted.at("q")[0], Json("y"));
  EXPECT_FALSE(labels.calls->calls[1].arguments.has_value());
  EXPECT_EQ(labels.answer_kind, AnswerKind::kNumber);
  EXPECT_EQ(labels.answer_options.relative, 0.01);
  EXPECT_EQ(labels.milestones[0].weight, 0.1);
  EXPECT_EQ(labels.milestones[1].weight, 0.5);
  EXPECT_EQ(labels.budget.calls, 3);
  EXPECT_EQ(labels.origin, "judge");
  EXPECT_EQ(labels.answer, Json(42));
}

TEST(Labels, AWordIsAKindOfAnswer) {
  EXPECT_EQ(LabelsOf(MakeTask("\"math\""))->answer_kind, AnswerKind::kMath);
}

TEST(Labels, MadeLabelsFillWhatTheAuthorLeftOut) {
  const Labels labels =
      LabelsOf(
          MakeTask(R"({"answer": "math"})",
                   R"({"labels": {"answer": "exact", "tool_needed": false, "origin": "rule"}})"))
          .value();
  EXPECT_EQ(labels.answer_kind, AnswerKind::kMath);
  EXPECT_EQ(labels.tool_needed, false);
  EXPECT_EQ(labels.origin, "rule");
}

TEST(Labels, GoldCallsSayWhetherAToolIsNeeded) {
  EXPECT_EQ(LabelsOf(MakeTask(R"({"calls": []})"))->tool_needed, false);
  EXPECT_EQ(LabelsOf(MakeTask(R"({"calls": [{"name": "f"}]})"))->tool_needed, true);
}

TEST(Labels, MistakesAreNamed) {
  EXPECT_NE(ErrorOf(R"({"tool_neded": true})").find("tool_needed"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"answer": "mathh"})").find("did you mean \"math\""), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"calls": [{"name": "a", "after": [0]}]})").find("calls[0].after"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"calls": [{"name": "a", "after": [1]}, {"name": "b", "after": [0]}]})")
                .find("circle"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"calls": [{"name": "a", "arguments": 3}]})").find("calls[0].arguments"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"milestones": [{"name": "x"}]})").find("weight"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"milestones": [{"name": "a", "weight": 0.7},
                                       {"name": "b", "weight": 0.7}]})")
                .find("over 1"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"order": "any"})").find("no \"calls\""), std::string::npos);
  EXPECT_NE(ErrorOf("5").find("task.reward"), std::string::npos);
}

}  // namespace
}  // namespace hone
