#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "tools/builtin/python_worker.h"
#include "tools/sandbox/sandbox.h"

namespace hone {

// Python workers that stand ready. A thread of its own starts them and replaces those that were
// lost. Thread-safe; outlives every worker taken from it.
class PythonPool {
 public:
  // With state, `workers` stand ready besides those that sessions hold; without, there are never
  // more than `workers`. Returns when the first is ready, or says why none can be.
  static Result<std::shared_ptr<PythonPool>> New(const Sandbox& sandbox,
                                                 const PythonWorkerOptions& options, int workers);
  PythonPool(const PythonPool&) = delete;
  PythonPool& operator=(const PythonPool&) = delete;

  // A worker with a fresh interpreter, for the caller alone until it is given back. kDeadline and
  // kStopped when none was free in time; anything else is why none could be started.
  Result<std::unique_ptr<PythonWorker>> Take(std::chrono::milliseconds time, std::stop_token stop);

  // Hands a worker back; its interpreter is replaced. One that is of no more use is replaced whole.
  void GiveBack(std::unique_ptr<PythonWorker> worker, bool usable);

 private:
  PythonPool(const Sandbox& sandbox, const PythonWorkerOptions& options, int workers);
  void Keep(const std::stop_token& stop);
  bool WantsWorker() const HONE_REQUIRES(mutex_);

  const Sandbox sandbox_;
  const PythonWorkerOptions options_;
  const size_t workers_;

  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<std::unique_ptr<PythonWorker>> idle_ HONE_GUARDED_BY(mutex_);
  size_t taken_ HONE_GUARDED_BY(mutex_) = 0;
  size_t waiting_ HONE_GUARDED_BY(mutex_) = 0;
  std::optional<Error> failure_ HONE_GUARDED_BY(mutex_);  // of the last start
  uint64_t failures_ HONE_GUARDED_BY(mutex_) = 0;
  // Last, so that it ends first. Workers die with the thread that started them.
  std::jthread keeper_;
};

}  // namespace hone
