#include "rewards/matching/math_answer.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(MathAnswer, SpellingsOfTheSameAnswerAreEqual) {
  EXPECT_TRUE(MathEquivalent("\\dfrac{1}{2}", "\\frac12"));
  EXPECT_TRUE(MathEquivalent("0.5", "1/2"));
  EXPECT_TRUE(MathEquivalent("x = 5", "5"));
  EXPECT_TRUE(MathEquivalent("\\left(3, \\frac{\\pi}{2}\\right)", "(3,\\frac{\\pi}{2})"));
  EXPECT_TRUE(MathEquivalent("90^\\circ", "90"));
  EXPECT_TRUE(MathEquivalent("5\\text{ cm}", "5"));
  EXPECT_TRUE(MathEquivalent("\\sqrt3", "\\sqrt{3}"));
  EXPECT_TRUE(MathEquivalent(".25", "0.25"));
  EXPECT_TRUE(MathEquivalent("\\frac1{72}", "\\frac{1}{72}"));
}

TEST(MathAnswer, DifferentAnswersAreNot) {
  EXPECT_FALSE(MathEquivalent("\\frac143", "\\frac{14}{3}"));
  EXPECT_FALSE(MathEquivalent("abc=5", "5"));
  EXPECT_FALSE(MathEquivalent("2", "3"));
  EXPECT_FALSE(MathEquivalent("01/2", "\\frac{1}{2}"));
}

TEST(MathAnswer, WhatTheRuleCannotReadIsComparedAsItStands) {
  EXPECT_EQ(MathNormalised("\\frac"), std::nullopt);
  EXPECT_EQ(MathNormalised("\\sqrt"), std::nullopt);
  EXPECT_EQ(MathNormalised("1\\text{ a}\\text{ b}"), std::nullopt);
  EXPECT_TRUE(MathEquivalent("\\frac", "\\frac"));
  EXPECT_FALSE(MathEquivalent("\\frac ", "\\frac"));
  EXPECT_EQ(MathNormalised("\\frac1"), "\\frac1");
  EXPECT_EQ(MathNormalised(""), "");
  EXPECT_EQ(MathNormalised("\\frac\u00e9\u00e9"), "\\frac{\u00e9}{\u00e9}");
}

}  // namespace
}  // namespace hone
