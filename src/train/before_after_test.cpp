#include "train/before_after.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Json Measured(const std::string& success) {
  return *ParseJson(R"({"tasks": 64, "figures": {
      "success": {"value": )" +
                    success + R"(, "low": 0.1, "high": 0.9},
      "calls": {"value": 1.5, "low": 1.4, "high": 1.6}},
      "families": {"A": {"success": )" +
                    success + R"(, "low": 0.1, "high": 0.9}}})");
}

const BeforeAfterRow* RowOf(const BeforeAfterTable& table, const std::string& label) {
  for (const BeforeAfterRow& row : table.rows) {
    if (row.label == label) return &row;
  }
  return nullptr;
}

TEST(BeforeAfterTest, StandsBesideEachOtherWhatWasMeasured) {
  Json evaluations = Json::Object();
  evaluations.Set("before/test/sampled", Measured("0.25"));
  evaluations.Set("after/test/sampled", Measured("0.75"));
  evaluations.Set("after/test/greedy", Measured("0.875"));
  evaluations.Set("after/unseen-kinds/sampled", Measured("0.5"));
  const auto tables = BeforeAndAfter(evaluations);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].split, "test");
  EXPECT_EQ(tables[0].tasks, 64);
  const BeforeAfterRow* sampled = RowOf(tables[0], "success, sampled");
  ASSERT_NE(sampled, nullptr);
  EXPECT_EQ(sampled->before->value, 0.25);
  EXPECT_EQ(sampled->after->value, 0.75);
  EXPECT_FALSE(RowOf(tables[0], "success, greedy")->before) << "was not measured";
  EXPECT_EQ(RowOf(tables[0], "family A")->after->Text(), "75.0 % [10.0, 90.0]");
  EXPECT_EQ(RowOf(tables[0], "calls per task")->after->Text(), "1.50 [1.40, 1.60]");
  EXPECT_EQ(RowOf(tables[0], "right tool"), nullptr) << "nothing to say of it";
  EXPECT_EQ(tables[1].split, "unseen-kinds");
  EXPECT_EQ(RowOf(tables[1], "family A"), nullptr);
}

TEST(BeforeAfterTest, WithoutToolsItSaysHowEachFamilyFares) {
  Json evaluations = Json::Object();
  evaluations.Set("before/test/sampled", Measured("0.25"));
  Json without = Measured("0.125");
  without.Set("families", *ParseJson(R"({"sky": {"success": 0.5, "low": 0, "high": 1}})"));
  evaluations.Set("after/test/without-tools", without);
  const std::vector<BeforeAfterTable> tables = BeforeAndAfter(evaluations);
  const BeforeAfterRow* row = RowOf(tables.at(0), "success without tools");
  ASSERT_NE(row, nullptr);
  EXPECT_TRUE(row->main);
  EXPECT_FALSE(row->before);
  EXPECT_DOUBLE_EQ(row->after->value, 0.125);
  const BeforeAfterRow* kind = RowOf(tables[0], "family sky");
  ASSERT_NE(kind, nullptr);
  EXPECT_DOUBLE_EQ(kind->after->value, 0.5);
}

TEST(BeforeAfterTest, NothingMeasuredIsNoTable) {
  EXPECT_TRUE(BeforeAndAfter(Json::Object()).empty());
}

}  // namespace
}  // namespace hone
