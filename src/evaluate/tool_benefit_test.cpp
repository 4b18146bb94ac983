#include "evaluate/tool_benefit.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Json Of(const char* outcomes, const char* calls, int64_t samples = 1) {
  return Json::Of(
      {{"outcomes", outcomes}, {"calls_by_task", *ParseJson(calls)}, {"samples", samples}});
}

double Value(const ToolBenefit& benefit, const std::string& name) {
  for (const ToolBenefit::Row& row : benefit.rows) {
    if (row.name == name) return row.cell.value;
  }
  ADD_FAILURE() << "no figure " << name;
  return -1;
}

TEST(ToolBenefitTest, CountsWhoIsRightInWhich) {
  // Both right (once after two calls), right with tools alone, without alone, never, unknown.
  const Json with = Of("1111001-", "[0,2,1,1,3,0,0,1]"),
             without = Of("11001001", "[0,0,0,0,0,0,0,0]");
  const ToolBenefit benefit = ToolBenefitOf(&with, &without).value();
  EXPECT_EQ(benefit.pairs, 7);
  EXPECT_EQ(benefit.both, 2);
  EXPECT_EQ(benefit.only_with, 3);
  EXPECT_EQ(benefit.only_without, 1);
  EXPECT_EQ(benefit.neither, 1);
  EXPECT_DOUBLE_EQ(Value(benefit, "with_tools"), 5.0 / 7);
  EXPECT_DOUBLE_EQ(Value(benefit, "without_tools"), 3.0 / 7);
  EXPECT_DOUBLE_EQ(Value(benefit, "difference"), 2.0 / 7);
  EXPECT_DOUBLE_EQ(Value(benefit, "tool_use"), 4.0 / 7);
  EXPECT_DOUBLE_EQ(Value(benefit, "gain"), 3.0 / 4);
  EXPECT_DOUBLE_EQ(Value(benefit, "overuse"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(Value(benefit, "overuse_calls"), 5.0 / 7);
  EXPECT_DOUBLE_EQ(Value(benefit, "myopia"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(Value(benefit, "myopia_with_calls"), 1.0 / 3);
  const Json json = ToJson(benefit);
  EXPECT_EQ(json.Find("only_with")->AsInteger(), 3);
  EXPECT_DOUBLE_EQ(json.Find("figures")->Find("overuse")->Find("value")->AsDouble(), 2.0 / 3);
}

TEST(ToolBenefitTest, WhatThereIsNothingToCountOfIsLeftOut) {
  const Json with = Of("11", "[0,0]"), without = Of("00", "[0,0]");
  const ToolBenefit benefit = ToolBenefitOf(&with, &without).value();
  for (const ToolBenefit::Row& row : benefit.rows) {
    EXPECT_NE(row.name, "myopia") << "nothing was done without tools";
    EXPECT_NE(row.name, "overuse_calls") << "nothing was called";
  }
  EXPECT_DOUBLE_EQ(Value(benefit, "gain"), 1);
}

TEST(ToolBenefitTest, TrajectoriesOfATaskAreResampledTogether) {
  // One task: every resample is the whole, so that the interval is a point.
  const Json with = Of("1100", "[1,1,1,1]", 4), without = Of("1010", "[0,0,0,0]", 4);
  const ToolBenefit benefit = ToolBenefitOf(&with, &without).value();
  for (const ToolBenefit::Row& row : benefit.rows) {
    EXPECT_EQ(row.cell.interval->low, row.cell.interval->high) << row.name;
  }
}

TEST(ToolBenefitTest, EvaluationsThatDoNotFitSayNothing) {
  const Json four = Of("1100", "[1,1,1,1]"), two = Of("11", "[1,1]"),
             pairs = Of("1100", "[1,1,1,1]", 2), unknown = Of("----", "[1,1,1,1]");
  EXPECT_FALSE(ToolBenefitOf(&four, nullptr));
  EXPECT_FALSE(ToolBenefitOf(nullptr, &four));
  EXPECT_FALSE(ToolBenefitOf(&four, &two));
  EXPECT_FALSE(ToolBenefitOf(&four, &pairs));
  EXPECT_FALSE(ToolBenefitOf(&four, &unknown));
  const Json empty = Json::Of({});
  EXPECT_FALSE(ToolBenefitOf(&four, &empty));
}

}  // namespace
}  // namespace hone
