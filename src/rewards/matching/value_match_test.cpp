#include "rewards/matching/value_match.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Json J(const char* text) { return *ParseJson(text); }

TEST(ValueMatch, NumbersAreEqualByValueAndObjectsByKey) {
  EXPECT_TRUE(SameValue(J("{\"a\": 1, \"b\": [1.0]}"), J("{\"b\": [1], \"a\": 1.0}")));
  EXPECT_FALSE(SameValue(J("[1, 2]"), J("[2, 1]")));
  EXPECT_FALSE(SameValue(J("true"), J("1")));
  EXPECT_FALSE(SameValue(J("{}"), J("{\"a\": null}")));
  EXPECT_FALSE(SameValue(J("9007199254740993"), J("9007199254740992")));
}

TEST(ValueMatch, TheShareCountsPartsOfBoth) {
  EXPECT_DOUBLE_EQ(ValueShare(J("{\"a\": 1, \"b\": 2}"), J("{\"a\": 1, \"c\": 2}")), 1.0 / 3);
  EXPECT_DOUBLE_EQ(ValueShare(J("[1, 2, 3]"), J("[1, 5]")), 1.0 / 3);
  EXPECT_DOUBLE_EQ(ValueShare(J("{}"), J("{}")), 1);
  EXPECT_DOUBLE_EQ(ValueShare(J("{}"), J("[]")), 0);
}

TEST(ValueMatch, NearIsWorthMoreThanFar) {
  EXPECT_DOUBLE_EQ(ValueSimilarity(J("\"Paris \""), J("\"paris\"")), 1);
  EXPECT_DOUBLE_EQ(ValueSimilarity(J("9"), J("10")), 0.9);
  EXPECT_DOUBLE_EQ(ValueSimilarity(J("100"), J("10")), 0);
  EXPECT_DOUBLE_EQ(ValueSimilarity(J("\"10\""), J("10")), 0.5);
  EXPECT_DOUBLE_EQ(ValueSimilarity(J("10"), J("\"10\"")), 0.5);
  EXPECT_DOUBLE_EQ(ValueSimilarity(J("null"), J("10")), 0);
  EXPECT_DOUBLE_EQ(ValueSimilarity(J("true"), J("true")), 1);
  EXPECT_DOUBLE_EQ(ValueSimilarity(J("[\"a\", 2]"), J("[\"a\", 4]")), 0.75);
}

}  // namespace
}  // namespace hone
