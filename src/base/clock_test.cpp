#include "base/clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace hone {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(VirtualClock, StandsStillUntilItIsMoved) {
  VirtualClock clock;
  EXPECT_EQ(clock.Now(), Clock::Duration(0));
  clock.Advance(hours(5));
  EXPECT_EQ(clock.Now(), hours(5));
  EXPECT_TRUE(clock.SleepUntil(hours(4), {})) << "a time already past";
}

TEST(VirtualClock, WakesASleeperWhenItsTimeHasCome) {
  VirtualClock clock;
  bool woke = false;
  std::jthread sleeper([&] { woke = clock.SleepFor(hours(2)); });
  clock.WaitForSleepers(1);
  clock.Advance(hours(2));
  sleeper.join();
  EXPECT_TRUE(woke);
}

TEST(VirtualClock, AStopEndsTheSleep) {
  VirtualClock clock;
  bool woke = true;
  std::jthread sleeper([&](std::stop_token stop) { woke = clock.SleepUntil(hours(2), stop); });
  clock.WaitForSleepers(1);
  sleeper.request_stop();
  sleeper.join();
  EXPECT_FALSE(woke);
}

TEST(RealClock, SleepsAtLeastAsLongAsAsked) {
  auto clock = NewRealClock();
  const auto before = clock->Now();
  EXPECT_TRUE(clock->SleepFor(milliseconds(5)));
  EXPECT_GE(clock->Now() - before, milliseconds(5));
}

}  // namespace
}  // namespace hone
