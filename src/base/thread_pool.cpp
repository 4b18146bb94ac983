#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>

#include "base/check.h"

namespace hone {

struct ThreadPool::Job {
  size_t count, grain, slices;
  const std::function<void(size_t, size_t)>* body;
  std::atomic<size_t> next = 0;  // the first slice nobody has taken
  size_t helpers = 0;            // workers inside Help, guarded by the pool's mutex
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

void ThreadPool::Help(Job* job) {
  while (true) {
    const size_t slice = job->next.fetch_add(1, std::memory_order_relaxed);
    if (slice >= job->slices) return;
    const size_t begin = slice * job->grain;
    (*job->body)(begin, std::min(begin + job->grain, job->count));
  }
}

void ThreadPool::ParallelFor(size_t count, size_t grain,
                             const std::function<void(size_t, size_t)>& body) {
  CHECK(grain > 0);
  if (count == 0) return;
  Job job{count, grain, (count + grain - 1) / grain, &body};
  if (job.slices == 1 || workers_.empty()) return Help(&job);
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
    changed_.notify_all();
  }
  Help(&job);
  // Every slice is taken; those still running are in the hands of helpers.
  std::unique_lock lock(mutex_);
  std::erase(jobs_, &job);
  changed_.wait(lock, [&] { return job.helpers == 0; });
}

void ThreadPool::Work(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    // The newest job first: it is the innermost one, which others wait for.
    if (!changed_.wait(lock, stop, [&] { return !jobs_.empty(); })) return;
    Job* job = jobs_.back();
    ++job->helpers;
    lock.unlock();
    Help(job);
    lock.lock();
    --job->helpers;
    std::erase(jobs_, job);  // no slice is left to take
    changed_.notify_all();
  }
}

}  // namespace hone
