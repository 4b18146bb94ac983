#include "train/stages/record_cost.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

TEST(RecordCost, CallsArePaidByTheConditionsOfTheirTool) {
  const TemporaryDirectory folder;
  ASSERT_TRUE(NoteRecordedCalls(folder.path(), {{"a", 100}, {"b", 10}, {"free", 5}}).ok());
  const std::vector<ServingConditions> conditions = {{.tool = "a", .price = 0.5, .latency_ms = 360},
                                                     {.tool = "b", .price = 1, .per_second = 0.5}};
  TrainingState state;
  state.AddTotal("spent/dollars", 1);
  AddCostOfRecord(folder.path(), conditions, &state);
  EXPECT_DOUBLE_EQ(state.TotalOf("spent/dollars"), 1 + 50 + 10);
  EXPECT_NEAR(state.TotalOf("spent/hours"), (100 * 0.36 + 10 * 2) / 3600, 1e-12);
}

TEST(RecordCost, WithoutANoteOrConditionsThereIsNothingToPay) {
  const TemporaryDirectory folder;
  TrainingState state;
  AddCostOfRecord(folder.path(), {{.price = 1}}, &state);
  ASSERT_TRUE(NoteRecordedCalls(folder.path(), {{"a", 1}}).ok());
  AddCostOfRecord(folder.path(), {}, &state);
  EXPECT_EQ(state.totals.Find("spent/dollars"), nullptr);
}

}  // namespace
}  // namespace hone
