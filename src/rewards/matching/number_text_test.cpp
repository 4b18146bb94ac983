#include "rewards/matching/number_text.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(NumberText, ReadsNumbersAsPeopleWriteThem) {
  EXPECT_EQ(WholeNumber("72"), 72);
  EXPECT_EQ(WholeNumber(" $1,234.50. "), 1234.5);
  EXPECT_EQ(WholeNumber("-.5"), -0.5);
  EXPECT_EQ(WholeNumber("\u22123"), -3);
  EXPECT_EQ(WholeNumber("-$3"), -3);
  EXPECT_EQ(WholeNumber("$-3"), -3);
  EXPECT_EQ(WholeNumber("50 %"), 50);
  EXPECT_EQ(WholeNumber("50\\%"), 50);
  EXPECT_EQ(WholeNumber("1/4"), 0.25);
  EXPECT_EQ(WholeNumber("2e3"), 2000);
  EXPECT_EQ(WholeNumber("1,234,567"), 1234567);
}

TEST(NumberText, WhatIsMoreThanANumberIsNone) {
  for (const char* text : {"", "-", "$", "3 apples", "1,23", "1/0", "1/2/3", "0x10", "nan", "inf",
                           "1e999", "--3", "1.2.3", "e5", "."}) {
    EXPECT_EQ(WholeNumber(text), std::nullopt) << text;
  }
}

TEST(NumberText, TheLastNumberOfAText) {
  EXPECT_EQ(LastNumber("so 3 + 4 = 7 apples."), 7);
  EXPECT_EQ(LastNumber("5-3"), 3);
  EXPECT_EQ(LastNumber("it is -3"), -3);
  EXPECT_EQ(LastNumber("costs $1,200 in all"), 1200);
  EXPECT_EQ(LastNumber("loss: -$7"), -7);
  EXPECT_EQ(LastNumber("no number"), std::nullopt);
  EXPECT_EQ(LastNumber("1,2,3"), 3);
}

}  // namespace
}  // namespace hone
