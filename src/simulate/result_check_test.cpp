#include "simulate/result_check.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

ToolSpec Spec(const char* output) {
  return {.name = "t", .parameters = Json::Of({}), .output = ParseJson(output).value()};
}

TEST(AnswerCheck, WhatDoesNotFitIsSaidAsAModelCanActOnIt) {
  AnswerChecker checker;
  const ToolSpec spec = Spec(
      R"({"type": "object", "required": ["temp"], "properties": {"temp": {"type": "integer"}}})");
  EXPECT_EQ(checker.Problem(spec, R"({"temp": 3})"), std::nullopt);
  EXPECT_NE(checker.Problem(spec, R"({"temp": "3"})")->find("`temp`"), std::string::npos);
  EXPECT_TRUE(checker.Problem(spec, "warm").has_value());
  EXPECT_EQ(checker.Problem({.name = "any"}, "warm"), std::nullopt);
}

TEST(AnswerCheck, ATextIsATextEvenWhereItLooksLikeANumber) {
  AnswerChecker checker;
  EXPECT_EQ(checker.Problem(Spec(R"({"type": "string"})"), "42"), std::nullopt);
  EXPECT_EQ(checker.Problem(Spec(R"({"type": "string"})"), "hello"), std::nullopt);
}

TEST(AnswerCheck, ASchemaThatCannotBeReadIsAProblemOfEveryAnswer) {
  AnswerChecker checker;
  EXPECT_NE(checker.Problem(Spec(R"({"$ref": "https://example.org/x"})"), "1")->find("schema"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
