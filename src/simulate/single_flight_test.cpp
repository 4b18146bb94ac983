#include "simulate/single_flight.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace hone {
namespace {

TEST(SingleFlight, TwoWhoAskAtOnceGetOneAnswer) {
  SingleFlight<int> values;
  std::atomic<int> made = 0;
  std::latch begun(1);
  std::vector<std::jthread> threads;
  std::atomic<int> sum = 0;
  threads.emplace_back([&] {
    sum += values.Get("k", [&] {
      begun.count_down();
      // Until the others have had every chance to ask too.
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      return SingleFlight<int>::Made{.value = ++made};
    });
  });
  begun.wait();
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back(
        [&] { sum += values.Get("k", [&] { return SingleFlight<int>::Made{.value = ++made}; }); });
  }
  threads.clear();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(sum, 4);
}

TEST(SingleFlight, WhatIsNotKeptIsMadeAgain) {
  SingleFlight<int> values;
  int made = 0;
  auto make = [&] { return SingleFlight<int>::Made{.value = ++made, .keep = made == 2}; };
  EXPECT_EQ(values.Get("k", make), 1);
  EXPECT_EQ(values.Get("k", make), 2);
  EXPECT_EQ(values.Get("k", make), 2);
  EXPECT_EQ(values.size(), 1u);
}

}  // namespace
}  // namespace hone
