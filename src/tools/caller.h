#pragma once

#include <map>
#include <stop_token>
#include <vector>

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
  // The outcomes of calls that are under way at the same time, in their order.
  std::vector<CallOutcome> CallAll(std::vector<CallRequest> requests, std::stop_token stop = {});

 private:
  // Of the call that has this number in its turn.
  CallOutcome Await(uint64_t ticket, int32_t number, std::stop_token stop);

  Executor* const executor_;
  Mutex mutex_;
  ConditionVariable changed_;
  bool fetching_ HONE_GUARDED_BY(mutex_) = false;  // somebody waits at the executor for all
  std::map<uint64_t, CallOutcome> ended_ HONE_GUARDED_BY(mutex_);  // and nobody has taken them yet
};

}  // namespace hone
