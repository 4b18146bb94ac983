#pragma once

#include <chrono>
#include <memory>
#include <stop_token>

#include "base/mutex.h"

namespace hone {

// Time as something that is passed in. Now() counts from an arbitrary origin and never goes back.
// Thread-safe.
class Clock {
 public:
  using Duration = std::chrono::nanoseconds;

  virtual ~Clock() = default;
  virtual Duration Now() const = 0;
  // Returns when Now() >= time, or earlier when `stop` is requested. True when the time was
  // reached.
  virtual bool SleepUntil(Duration time, std::stop_token stop) = 0;

  bool SleepFor(Duration duration, std::stop_token stop = {}) {
    return SleepUntil(Now() + duration, stop);
  }
};

// The machine's monotonic clock.
std::unique_ptr<Clock> NewRealClock();

// A clock that stands still until it is told to move: tests of deadlines take no time and cannot
// be late.
class VirtualClock final : public Clock {
 public:
  Duration Now() const override;
  bool SleepUntil(Duration time, std::stop_token stop) override;

  void Advance(Duration by);
  // Blocks until `count` threads sleep on this clock.
  void WaitForSleepers(int count);

 private:
  mutable Mutex mutex_;
  ConditionVariable moved_;
  ConditionVariable slept_;
  Duration now_ HONE_GUARDED_BY(mutex_){0};
  int sleepers_ HONE_GUARDED_BY(mutex_) = 0;
};

}  // namespace hone
