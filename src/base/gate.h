#pragma once

#include <stop_token>

#include "base/mutex.h"

namespace hone {

// Lets at most `limit` holders through at a time: calls to a rate-limited tool, requests to a
// server. Holders are counted, not ordered.
class Gate {
 public:
  explicit Gate(int limit);

  // A place inside, given back when it goes out of scope. Empty when the wait was stopped.
  class Pass {
   public:
    Pass() = default;
    explicit Pass(Gate* gate) : gate_(gate) {}
    ~Pass();
    Pass(Pass&& other) noexcept;
    Pass& operator=(Pass&& other) noexcept;
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    Gate* gate_ = nullptr;
  };

  // Waits for a place.
  Pass Enter(std::stop_token stop = {});

  int inside() const;

 private:
  void Leave();

  const int limit_;
  mutable Mutex mutex_;
  ConditionVariable left_;
  int inside_ HONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hone
