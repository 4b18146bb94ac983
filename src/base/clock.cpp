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
    std::mutex mutex;
    std::condition_variable_any woken;
    std::unique_lock lock(mutex);
    const auto when = std::chrono::steady_clock::time_point(time);
    woken.wait_until(lock, stop, when, [&] { return Now() >= time; });
    return Now() >= time;
  }
};

}  // namespace

std::unique_ptr<Clock> NewRealClock() { return std::make_unique<RealClock>(); }

Clock::Duration VirtualClock::Now() const {
  std::lock_guard lock(mutex_);
  return now_;
}

bool VirtualClock::SleepUntil(Duration time, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  ++sleepers_;
  slept_.notify_all();
  moved_.wait(lock, stop, [&] { return now_ >= time; });
  --sleepers_;
  return now_ >= time;
}

void VirtualClock::Advance(Duration by) {
  std::lock_guard lock(mutex_);
  now_ += by;
  moved_.notify_all();
}

void VirtualClock::WaitForSleepers(int count) {
  std::unique_lock lock(mutex_);
  slept_.wait(lock, [&] { return sleepers_ >= count; });
}

}  // namespace hone
