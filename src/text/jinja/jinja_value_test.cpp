#include "text/jinja/jinja_value.h"

#include <gtest/gtest.h>

#include <limits>

namespace hone {
namespace {

TEST(JinjaValueTest, NumbersCompareAsPythonsDo) {
  EXPECT_TRUE(Equal(JinjaValue(1), JinjaValue(true)));
  EXPECT_TRUE(Equal(JinjaValue(1), JinjaValue(1.0)));
  EXPECT_FALSE(Equal(JinjaValue(1), JinjaValue::Text("1")));
  EXPECT_TRUE(*Order(JinjaValue(false), JinjaValue(0.5)) < 0);
  EXPECT_FALSE(Order(JinjaValue(1), JinjaValue::Text("a")).ok());
  EXPECT_FALSE(Order(JinjaValue(), JinjaValue()).ok());
}

TEST(JinjaValueTest, ADictHasAKeyOnce) {
  JinjaDict dict;
  dict.Set(JinjaValue(1), JinjaValue::Text("a"));
  dict.Set(JinjaValue(true), JinjaValue::Text("b"));
  ASSERT_EQ(dict.members.size(), 1u);
  EXPECT_EQ(dict.Find(JinjaValue(1.0))->AsText().bytes(), "b");
  EXPECT_EQ(dict.Find(std::string_view("1")), nullptr);
  EXPECT_FALSE(IsHashable(JinjaValue::List({}).value()));
  EXPECT_TRUE(IsHashable(JinjaValue::Tuple({JinjaValue(1)}).value()));
}

TEST(JinjaValueTest, WhatIsTooDeepOrTooLargeIsRefused) {
  JinjaValue deep = JinjaValue::List({}).value();
  int depth = 1;
  while (true) {
    auto next = JinjaValue::List({deep});
    if (!next.ok()) break;
    deep = *next;
    ++depth;
  }
  EXPECT_EQ(depth, JinjaValue::kLargest.depth);
  // Each holds the one before twice: it doubles without taking memory.
  JinjaValue wide = JinjaValue(1);
  int doublings = 0;
  while (true) {
    auto next = JinjaValue::Tuple({wide, wide});
    if (!next.ok()) break;
    wide = *next;
    ++doublings;
  }
  EXPECT_LT(doublings, 23);
}

TEST(JinjaValueTest, RangesCountWithoutOverflow) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ((JinjaRange{0, 7, 3}).size(), 3);
  EXPECT_EQ((JinjaRange{7, 0, -3}).size(), 3);
  EXPECT_EQ((JinjaRange{0, 6, 3}).size(), 2);
  EXPECT_EQ((JinjaRange{3, 0, 1}).size(), 0);
  EXPECT_EQ((JinjaRange{-kMax, kMax, 1}).size(), kMax);
  EXPECT_EQ((JinjaRange{-kMax, kMax, -1}).size(), 0);
}

TEST(JinjaValueTest, JsonComesInWithItsOrderAndItsLargeNumbers) {
  const Json json = *ParseJson(R"({"b": 123456789012345678901234567890, "a": [1.5, null, "x"]})");
  const JinjaValue value = JinjaValue::FromJson(json, true).value();
  EXPECT_EQ(value.AsDict().members[0].first.AsText().bytes(), "b");
  EXPECT_EQ(value.AsDict().Find(std::string_view("b"))->AsBigInteger().digits,
            "123456789012345678901234567890");
  EXPECT_FALSE(value.AsDict().Find(std::string_view("a"))->Items()[2].AsText().foreign().empty());
  EXPECT_TRUE(JinjaValue::FromJson("x", false)->AsText().foreign().empty());
}

}  // namespace
}  // namespace hone
