#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace hone {

// Worker threads for compute. Thread-safe; destroyed only when nothing is being run on it. Workers
// look out for more work for some microseconds before they sleep: the pieces of a small model come
// faster than a sleeping thread wakes.
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
  static void Help(Job* job) noexcept;  // a job must not leave while others work on it
  void Withdraw(Job* job) HONE_REQUIRES(mutex_);

  Mutex mutex_;
  ConditionVariable published_;
  std::deque<Job*> jobs_ HONE_GUARDED_BY(mutex_);
  std::atomic<size_t> waiting_ = 0;  // jobs_.size(), to look at without the mutex
  int sleepers_ HONE_GUARDED_BY(mutex_) = 0;
  std::vector<std::jthread> workers_;
};

// Calls body(i) for every i of [0, count): by the threads of a pool, `grain` of them at a time, or
// one after the other where there is no pool. Returns when all are done. What a body throws is
// thrown here, of several that of the smallest i.
inline void ForEach(ThreadPool* pool, size_t count, size_t grain,
                    const std::function<void(size_t)>& body) {
  if (pool == nullptr) {
    for (size_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::vector<std::exception_ptr> thrown(count);
  pool->ParallelFor(count, grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      try {
        body(i);
      } catch (...) {
        thrown[i] = std::current_exception();  // nobody could catch it on this thread
      }
    }
  });
  for (const std::exception_ptr& one : thrown) {
    if (one) std::rethrow_exception(one);
  }
}

}  // namespace hone
