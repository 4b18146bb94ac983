#pragma once

#include <map>
#include <stop_token>

#include "base/mutex.h"
#include "tools/executor.h"

namespace hone {

// Calls and waits: an executor for those who have nothing else to do meanwhile. Thread-safe on a
// timeline that is. The executor must outlive it and have no other user.
class Caller {
 public:
  explicit Caller(Executor* executor) : executor_(executor) {}

  // The outcome of the call. `interrupted` when stopped before.
  CallOutcome Call(CallRequest request, std::stop_token stop = {});

 private:
  Executor* const executor_;
  Mutex mutex_;
  ConditionVariable changed_;
  bool fetching_ HONE_GUARDED_BY(mutex_) = false;  // somebody waits at the executor for all
  std::map<uint64_t, CallOutcome> ended_ HONE_GUARDED_BY(mutex_);  // and nobody has taken them yet
};

}  // namespace hone
