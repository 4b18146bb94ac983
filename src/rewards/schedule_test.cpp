#include "rewards/schedule.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Schedule, AnnealsAlongACosine) {
  const Schedule bonus{1, 0, 0, 200, Schedule::Shape::kCosine};
  const Schedule replay{0, 1, 0, 200, Schedule::Shape::kCosine};
  const int64_t steps[] = {0, 50, 100, 200, 250};
  const double bonus_at[] = {1, 0.853553, 0.5, 0, 0}, replay_at[] = {0, 0.146447, 0.5, 1, 1};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(bonus.At(steps[i]), bonus_at[i], 1e-6);
    EXPECT_NEAR(replay.At(steps[i]), replay_at[i], 1e-6);
  }
}

TEST(Schedule, LinesAndSteps) {
  const Schedule line{1, 3, 10, 20, Schedule::Shape::kLinear};
  EXPECT_EQ(line.At(0), 1);
  EXPECT_EQ(line.At(20), 2);
  EXPECT_EQ(line.At(99), 3);
  const Schedule step{1, 3, 0, 30, Schedule::Shape::kStep};
  EXPECT_EQ(step.At(29), 1);
  EXPECT_EQ(step.At(30), 3);
}

}  // namespace
}  // namespace hone
