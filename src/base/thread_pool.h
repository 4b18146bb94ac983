#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hone {

// Worker threads for compute. Thread-safe; destroyed only when nothing is being run on it.
class ThreadPool {
 public:
  // `threads` counts the calling thread, which works too: 1 means no extra threads.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(begin, end) for [0, count) cut into slices of `grain` (the last may be shorter) and
  // returns when all are done. Where the cuts lie depends on count and grain alone, never on the
  // number of threads, so a body that writes per slice gives the same bits on any machine.
  // May be called from inside a body: the calling thread does its share, so nothing can deadlock.
  void ParallelFor(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body);

 private:
  struct Job;
  void Work(std::stop_token stop);
  static void Help(Job* job);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job*> jobs_;
  std::vector<std::jthread> workers_;
};

}  // namespace hone
