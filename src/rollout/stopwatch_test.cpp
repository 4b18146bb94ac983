#include "rollout/stopwatch.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(StopwatchTest, AddsTheTimeOfItsLife) {
  VirtualClock clock;
  double seconds = 1;
  {
    const Stopwatch watch(clock, &seconds);
    clock.Advance(std::chrono::milliseconds(1500));
    EXPECT_EQ(seconds, 1);
  }
  clock.Advance(std::chrono::seconds(9));
  EXPECT_DOUBLE_EQ(seconds, 2.5);
}

}  // namespace
}  // namespace hone
