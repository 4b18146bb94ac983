#include "base/clock.h"

namespace hone {
namespace {

class RealClock final : public Clock {
 public:
  Duration Now() const override {
    return std::chrono::duration_cast<Duration>(
        std::chrono::steady_clock::now().time_since_epoch());
  }

  bool SleepUntil(Duration time, std::stop_token stop) override {
    Mutex mutex;
    ConditionVariable woken;
    MutexLock lock(mutex);
    const auto when = std::chrono::steady_clock::time_point(time);
    woken.wait_until(lock, stop, when, [&] { return Now() >= time; });
    return Now() >= time;
  }
};

}  // namespace

std::unique_ptr<Clock> NewRealClock() { return std::make_unique<RealClock>(); }

Clock::Duration VirtualClock::Now() const {
  MutexLock lock(mutex_);
  return now_;
}

bool VirtualClock::SleepUntil(Duration time, std::stop_token stop) {
  MutexLock lock(mutex_);
  ++sleepers_;
  slept_.notify_all();
  moved_.wait(lock, stop, [&]() HONE_REQUIRES(mutex_) { return now_ >= time; });
  --sleepers_;
  return now_ >= time;
}

void VirtualClock::Advance(Duration by) {
  MutexLock lock(mutex_);
  now_ += by;
  moved_.notify_all();
}

void VirtualClock::WaitForSleepers(int count) {
  MutexLock lock(mutex_);
  slept_.wait(lock, [&]() HONE_REQUIRES(mutex_) { return sleepers_ >= count; });
}

}  // namespace hone
