#include "base/queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace hone {
namespace {

TEST(BoundedQueue, KeepsTheOrderOfOneProducer) {
  BoundedQueue<std::unique_ptr<int>> queue(4);
  std::jthread producer([&] {
    for (int i = 0; i < 1000; ++i) queue.Push(std::make_unique<int>(i));
    queue.Close();
  });
  int expected = 0;
  while (auto item = queue.Pop()) {
    EXPECT_EQ(**item, expected++);
    EXPECT_LE(queue.size(), 4u);
  }
  EXPECT_EQ(expected, 1000);
}

TEST(BoundedQueue, ManyProducersAndConsumersLoseNothing) {
  BoundedQueue<int> queue(3);
  std::vector<long> sums(4, 0);
  {
    std::vector<std::jthread> consumers;
    for (auto& sum : sums) {
      consumers.emplace_back([&] {
        while (auto item = queue.Pop()) sum += *item;
      });
    }
    {
      std::vector<std::jthread> producers;
      for (int p = 0; p < 4; ++p) {
        producers.emplace_back([&] {
          for (int i = 1; i <= 500; ++i) EXPECT_TRUE(queue.Push(i));
        });
      }
    }
    queue.Close();
  }
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0L), 4 * 500 * 501 / 2);
}

TEST(BoundedQueue, AStopEndsAWaitOnEitherSide) {
  BoundedQueue<int> queue(1);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(queue.Pop(stop.get_token()), std::nullopt);
  EXPECT_TRUE(queue.Push(1, stop.get_token())) << "there is room: nothing to wait for";
  EXPECT_FALSE(queue.Push(2, stop.get_token()));
}

TEST(BoundedQueue, AClosedQueueIsDrainedAndTakesNothing) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.Push(1));
  queue.Close();
  EXPECT_FALSE(queue.Push(2));
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

}  // namespace
}  // namespace hone
