#include "base/thread_pool.h"

#include <algorithm>
#include <thread>

#include "base/check.h"

namespace hone {

namespace {

constexpr int kLooks = 4000;  // some tens of microseconds

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

struct ThreadPool::Job {
  size_t count, grain, slices;
  const std::function<void(size_t, size_t)>* body;
  std::atomic<size_t> next = 0;  // the first slice nobody has taken
  // Workers inside Help. Raised under the pool's mutex while the job is published; lowering it is
  // the last a worker does with the job, which lives on the caller's stack.
  std::atomic<int> helpers = 0;
};

ThreadPool::ThreadPool(int threads) {
  CHECK(threads >= 1);
  for (int i = 1; i < threads; ++i) {
    workers_.emplace_back([this](std::stop_token stop) { Work(stop); });
  }
}

ThreadPool::~ThreadPool() {
  for (std::jthread& worker : workers_) worker.request_stop();
}

void ThreadPool::Help(Job* job) noexcept {
  while (true) {
    const size_t slice = job->next.fetch_add(1, std::memory_order_relaxed);
    if (slice >= job->slices) return;
    const size_t begin = slice * job->grain;
    (*job->body)(begin, std::min(begin + job->grain, job->count));
  }
}

void ThreadPool::Withdraw(Job* job) {
  std::erase(jobs_, job);
  waiting_.store(jobs_.size(), std::memory_order_relaxed);
}

void ThreadPool::ParallelFor(size_t count, size_t grain,
                             const std::function<void(size_t, size_t)>& body) {
  CHECK(grain > 0);
  if (count == 0) return;
  Job job{count, grain, (count + grain - 1) / grain, &body};
  if (job.slices == 1 || workers_.empty()) return Help(&job);
  bool wake = false;
  {
    MutexLock lock(mutex_);
    jobs_.push_back(&job);
    waiting_.store(jobs_.size(), std::memory_order_relaxed);
    wake = sleepers_ > 0;
  }
  if (wake) published_.notify_all();
  Help(&job);
  {
    MutexLock lock(mutex_);
    Withdraw(&job);
  }
  // Every slice is taken; those still running are in the hands of helpers.
  for (int look = 0; job.helpers.load(std::memory_order_acquire) > 0; ++look) {
    if (look < kLooks) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
}

void ThreadPool::Work(std::stop_token stop) {
  while (true) {
    for (int look = 0; look < kLooks && waiting_.load(std::memory_order_relaxed) == 0; ++look) {
      Pause();
    }
    Job* job = nullptr;
    {
      MutexLock lock(mutex_);
      ++sleepers_;
      const bool found =
          published_.wait(lock, stop, [&]() HONE_REQUIRES(mutex_) { return !jobs_.empty(); });
      --sleepers_;
      if (!found) return;
      job = jobs_.back();  // the newest first: it is the innermost one, which others wait for
      job->helpers.fetch_add(1, std::memory_order_relaxed);
    }
    Help(job);
    {
      MutexLock lock(mutex_);
      Withdraw(job);  // no slice is left to take
    }
    job->helpers.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace hone
