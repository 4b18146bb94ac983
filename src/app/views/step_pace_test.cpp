#include "app/views/step_pace.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(StepPaceTest, TellsWhatIsLeftByTheLastSteps) {
  StepPace pace;
  EXPECT_EQ(pace.Seconds(10), std::nullopt);
  pace.Add(0.5);
  EXPECT_EQ(pace.Seconds(10), std::nullopt) << "one step is no pace";
  pace.Add(1.5);
  EXPECT_DOUBLE_EQ(*pace.Seconds(10), 10);
  for (int i = 0; i < 20; ++i) pace.Add(3);
  EXPECT_DOUBLE_EQ(*pace.Seconds(2), 6) << "the first ones are forgotten";
  EXPECT_DOUBLE_EQ(*pace.Seconds(0), 0);
}

TEST(StepPaceTest, DurationsArePutInWords) {
  EXPECT_EQ(DurationText(9.4), "9 s");
  EXPECT_EQ(DurationText(245), "4 min 5 s");
  EXPECT_EQ(DurationText(3 * 3600 + 12 * 60 + 40), "3 h 12 min");
}

}  // namespace
}  // namespace hone
