#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "base/clock.h"

namespace hone {

// When things happen: timers, work that may block, and waiting for news of either.
//
// On the real timeline work runs on threads. On the virtual one everything happens one after the
// other inside Wait(), and time jumps from one event to the next: a day of timeouts takes no time,
// and the same events come in the same order every time. Thread-safe.
class Timeline {
 public:
  virtual ~Timeline() = default;

  virtual Clock::Duration Now() const = 0;
  // Runs `then` at `time` or soon after. It must not block. Timers of one time run in the order
  // they were set.
  struct Timer {
    Clock::Duration time{0};
    uint64_t number = 0;
    auto operator<=>(const Timer&) const = default;  // NOLINT: no null is meant
  };
  virtual Timer At(Clock::Duration time, std::function<void()> then) = 0;
  // Forgets a timer that has not begun to run.
  virtual void Cancel(const Timer& timer) = 0;
  // Runs `work`, which may block, without delaying anything else.
  virtual void Run(std::function<void()> work) = 0;

  // There is news. Every Notify ends the waits for an earlier `news`.
  virtual void Notify() = 0;
  virtual uint64_t news() const = 0;
  // Lets time pass until there is more news than `seen`. False when stopped, or when nothing that
  // is under way could bring any.
  virtual bool Wait(uint64_t seen, std::stop_token stop) = 0;
  // Does what is due by now and waits for its turn; lets no time pass. Threads need no such
  // reminder.
  virtual void CatchUp() {}
};

// Threads and the machine's clock. The destructor drops timers and waits for work that runs.
std::unique_ptr<Timeline> NewRealTimeline();

// No threads: not to be used from more than one.
std::unique_ptr<Timeline> NewVirtualTimeline();

}  // namespace hone
