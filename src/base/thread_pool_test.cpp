#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace hone {
namespace {

TEST(ThreadPool, VisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (const size_t count : {0, 1, 7, 1000}) {
      std::vector<std::atomic<int>> visits(count);
      pool.ParallelFor(count, 3, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) ++visits[i];
      });
      for (const auto& visit : visits) EXPECT_EQ(visit, 1);
    }
  }
}

TEST(ThreadPool, TheCutsDoNotDependOnTheNumberOfThreads) {
  auto cuts = [](int threads) {
    ThreadPool pool(threads);
    std::mutex mutex;
    std::set<std::pair<size_t, size_t>> seen;
    pool.ParallelFor(103, 10, [&](size_t begin, size_t end) {
      std::lock_guard lock(mutex);
      seen.insert({begin, end});
    });
    return seen;
  };
  EXPECT_EQ(cuts(1), cuts(4));
  EXPECT_EQ(cuts(1).size(), 11u);
}

TEST(ThreadPool, ABodyMayUseThePoolItself) {
  ThreadPool pool(3);
  std::atomic<int> total = 0;
  pool.ParallelFor(8, 1, [&](size_t, size_t) {
    pool.ParallelFor(16, 2,
                     [&](size_t begin, size_t end) { total += static_cast<int>(end - begin); });
  });
  EXPECT_EQ(total, 128);
}

TEST(ThreadPool, ManySmallJobsInARowAllFinish) {
  ThreadPool pool(4);
  std::vector<int> values(64);
  for (int round = 0; round < 2000; ++round) {
    pool.ParallelFor(values.size(), 8, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) ++values[i];
    });
  }
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0), 64 * 2000);
}

TEST(ThreadPool, ForEachDoesAllAndThrowsWhatTheFirstOfThemThrew) {
  ThreadPool pool(4);
  for (ThreadPool* by : {static_cast<ThreadPool*>(nullptr), &pool}) {
    std::vector<int> values(100);
    ForEach(by, values.size(), 3, [&](size_t i) { values[i] = static_cast<int>(i); });
    EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0), 4950);
    try {
      ForEach(by, values.size(), 3, [&](size_t i) {
        if (i == 41 || i == 97) throw std::runtime_error(std::to_string(i));
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "41");
    }
  }
}

}  // namespace
}  // namespace hone
