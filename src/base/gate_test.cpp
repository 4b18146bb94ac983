#include "base/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace hone {
namespace {

TEST(Gate, NeverLetsMoreThroughThanItsLimit) {
  Gate gate(3);
  std::atomic<int> inside = 0, most = 0, done = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          Gate::Pass pass = gate.Enter();
          const int now = ++inside;
          int seen = most;
          while (now > seen && !most.compare_exchange_weak(seen, now)) {
          }
          --inside;
          ++done;
        }
      });
    }
  }
  EXPECT_LE(most, 3);
  EXPECT_EQ(done, 1600);
  EXPECT_EQ(gate.inside(), 0);
}

TEST(Gate, AStopEndsTheWaitWithoutAPass) {
  Gate gate(1);
  Gate::Pass held = gate.Enter();
  ASSERT_TRUE(held);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(gate.Enter(stop.get_token()));
  held = Gate::Pass();
  EXPECT_TRUE(gate.Enter());
}

}  // namespace
}  // namespace hone
