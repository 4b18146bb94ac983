#include "tools/timeline.h"

#include <algorithm>
#include <deque>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace hone {
namespace {

// Timers by time, then by the order they were set.
class Timers {
 public:
  Timeline::Timer Add(Clock::Duration time, std::function<void()> then) {
    const Timeline::Timer timer{time, ++last_};
    timers_.emplace(timer, std::move(then));
    return timer;
  }
  void Remove(const Timeline::Timer& timer) { timers_.erase(timer); }
  bool empty() const { return timers_.empty(); }
  Clock::Duration first() const { return timers_.begin()->first.time; }
  std::function<void()> TakeFirst() {
    std::function<void()> then = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    return then;
  }

 private:
  std::map<Timeline::Timer, std::function<void()>> timers_;
  uint64_t last_ = 0;
};

class RealTimeline final : public Timeline {
 public:
  RealTimeline() : ticker_([this](std::stop_token stop) { Tick(stop); }) {}

  ~RealTimeline() override {
    ticker_.request_stop();
    ticker_.join();
    {
      MutexLock lock(mutex_);
      closing_ = true;
      wanted_.notify_all();
    }
    for (std::jthread& worker : workers_) worker.join();
  }

  Clock::Duration Now() const override { return clock_->Now(); }

  Timer At(Clock::Duration time, std::function<void()> then) override {
    MutexLock lock(mutex_);
    const bool sooner = timers_.empty() || time < timers_.first();
    const Timer timer = timers_.Add(time, std::move(then));
    if (sooner) changed_.notify_all();
    return timer;
  }

  void Cancel(const Timer& timer) override {
    MutexLock lock(mutex_);
    timers_.Remove(timer);
  }

  // A thread that has nothing to do takes the work, else a new one: work that hangs delays nobody.
  void Run(std::function<void()> work) override {
    MutexLock lock(mutex_);
    if (closing_) return;
    work_.push_back(std::move(work));
    if (idle_ < work_.size()) {
      workers_.emplace_back([this] { Work(); });
      ++idle_;  // counted from its birth on, or a burst would start too many
    }
    wanted_.notify_one();
  }

  void Notify() override {
    MutexLock lock(mutex_);
    ++news_;
    news_came_.notify_all();
  }

  uint64_t news() const override {
    MutexLock lock(mutex_);
    return news_;
  }

  bool Wait(uint64_t seen, std::stop_token stop) override {
    MutexLock lock(mutex_);
    return news_came_.wait(lock, stop, [&]() HONE_REQUIRES(mutex_) { return news_ != seen; });
  }

 private:
  void Tick(std::stop_token stop) {
    MutexLock lock(mutex_);
    while (!stop.stop_requested()) {
      if (timers_.empty()) {
        changed_.wait(lock, stop, [&]() HONE_REQUIRES(mutex_) { return !timers_.empty(); });
        continue;
      }
      const Clock::Duration next = timers_.first();
      if (const Clock::Duration left = next - clock_->Now(); left.count() > 0) {
        changed_.wait_for(lock, stop, left, [&]() HONE_REQUIRES(mutex_) {
          return timers_.empty() || timers_.first() != next;
        });
        continue;
      }
      std::function<void()> then = timers_.TakeFirst();
      lock.unlock();
      then();
      then = nullptr;  // what it held on to goes while nobody waits for the lock
      lock.lock();
    }
  }

  void Work() {
    MutexLock lock(mutex_);
    while (true) {
      wanted_.wait(lock, [&]() HONE_REQUIRES(mutex_) { return closing_ || !work_.empty(); });
      if (work_.empty()) return;
      std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      --idle_;
      lock.unlock();
      work();
      work = nullptr;  // what it held on to goes before the thread counts as free
      lock.lock();
      ++idle_;
    }
  }

  const std::unique_ptr<Clock> clock_ = NewRealClock();
  mutable Mutex mutex_;
  ConditionVariable changed_;  // timers
  ConditionVariable wanted_;   // work, or the end
  ConditionVariable news_came_;
  Timers timers_ HONE_GUARDED_BY(mutex_);
  std::deque<std::function<void()>> work_ HONE_GUARDED_BY(mutex_);
  size_t idle_ HONE_GUARDED_BY(mutex_) = 0;
  bool closing_ HONE_GUARDED_BY(mutex_) = false;
  uint64_t news_ HONE_GUARDED_BY(mutex_) = 0;
  std::vector<std::jthread> workers_ HONE_GUARDED_BY(mutex_);
  std::jthread ticker_;  // last: it uses the others
};

class VirtualTimeline final : public Timeline {
 public:
  Clock::Duration Now() const override { return now_; }

  Timer At(Clock::Duration time, std::function<void()> then) override {
    return timers_.Add(std::max(time, now_), std::move(then));
  }
  void Cancel(const Timer& timer) override { timers_.Remove(timer); }
  // Work takes no time here; it has its turn like a timer, so that nothing runs inside its caller.
  void Run(std::function<void()> work) override { At(now_, std::move(work)); }

  void Notify() override { ++news_; }
  uint64_t news() const override { return news_; }

  bool Wait(uint64_t seen, std::stop_token stop) override {
    while (news_ == seen) {
      if (timers_.empty() || stop.stop_requested()) return false;
      now_ = timers_.first();
      timers_.TakeFirst()();
    }
    return true;
  }
  void CatchUp() override {
    while (!timers_.empty() && timers_.first() <= now_) timers_.TakeFirst()();
  }

 private:
  Clock::Duration now_{0};
  Timers timers_;
  uint64_t news_ = 0;
};

}  // namespace

std::unique_ptr<Timeline> NewRealTimeline() { return std::make_unique<RealTimeline>(); }
std::unique_ptr<Timeline> NewVirtualTimeline() { return std::make_unique<VirtualTimeline>(); }

}  // namespace hone
