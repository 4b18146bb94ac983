#include "tools/builtin/python_pool.h"

#include <utility>

namespace hone {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kBeforeTheNextAttempt{100};
constexpr milliseconds kFirstStart{60000};

}  // namespace

PythonPool::PythonPool(const Sandbox& sandbox, const PythonWorkerOptions& options, int workers)
    : sandbox_(sandbox), options_(options), workers_(static_cast<size_t>(workers)) {}

Result<std::shared_ptr<PythonPool>> PythonPool::New(const Sandbox& sandbox,
                                                    const PythonWorkerOptions& options,
                                                    int workers) {
  CHECK(workers > 0);
  std::shared_ptr<PythonPool> pool(new PythonPool(sandbox, options, workers));
  pool->keeper_ =
      std::jthread([raw = pool.get()](const std::stop_token& stop) { raw->Keep(stop); });
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<PythonWorker> first, pool->Take(kFirstStart, {}));
  pool->GiveBack(std::move(first), true);
  return pool;
}

bool PythonPool::WantsWorker() const {
  return idle_.size() + (options_.keep_state ? 0 : taken_) < workers_;
}

void PythonPool::Keep(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  while (true) {
    // After a failure only for somebody who waits, and not at once.
    const bool failed = failure_.has_value();
    if (failed) {
      changed_.wait_for(lock, stop, kBeforeTheNextAttempt, [] { return false; });
    }
    changed_.wait(lock, stop, [&]() HONE_REQUIRES(mutex_) {
      return WantsWorker() && (!failed || waiting_ > 0);
    });
    if (stop.stop_requested()) return;
    lock.unlock();
    Result<std::unique_ptr<PythonWorker>> worker = PythonWorker::Start(sandbox_, options_);
    lock.lock();
    if (worker.ok()) {
      failure_.reset();
      idle_.push_back(std::move(worker).value());
    } else {
      failure_ = worker.error();
      ++failures_;
    }
    changed_.notify_all();
  }
}

Result<std::unique_ptr<PythonWorker>> PythonPool::Take(milliseconds time, std::stop_token stop) {
  MutexLock lock(mutex_);
  const uint64_t failures = failures_;
  ++waiting_;
  changed_.notify_all();
  const bool there = changed_.wait_for(lock, stop, time, [&]() HONE_REQUIRES(mutex_) {
    return !idle_.empty() || failures_ != failures;
  });
  --waiting_;
  if (!idle_.empty()) {
    // The one that has had the longest time to make its fresh interpreter.
    std::unique_ptr<PythonWorker> worker = std::move(idle_.front());
    idle_.pop_front();
    ++taken_;
    changed_.notify_all();
    return worker;
  }
  if (there && failure_) return *failure_;
  if (there) return Error(ErrorCode::kUnavailable, "python: a worker could not be started");
  if (stop.stop_requested()) return Error(ErrorCode::kStopped, "python: stopped");
  return Error(ErrorCode::kDeadline, "python: no worker was free in time");
}

void PythonPool::GiveBack(std::unique_ptr<PythonWorker> worker, bool usable) {
  // A fresh interpreter is made while nobody waits for it.
  usable = usable && worker->reusable() && worker->Renew().ok();
  if (!usable) worker.reset();
  MutexLock lock(mutex_);
  --taken_;
  if (worker != nullptr && idle_.size() < workers_) idle_.push_back(std::move(worker));
  changed_.notify_all();
}

}  // namespace hone
