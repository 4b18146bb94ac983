#include "tools/conditions.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>

#include "base/exact_math.h"
#include "base/rng.h"
#include "base/strings.h"

namespace hone {
namespace {

constexpr double kP99 = 2.3263478740408408;  // of the standard normal distribution

// Serves the calls of one set of conditions, each when its turn has come. A call that nobody waits
// for any more gives its turn to the next.
class Counter : public std::enable_shared_from_this<Counter> {
 public:
  Counter(const ServingConditions& conditions, uint64_t seed, Timeline* timeline)
      : rng_(Rng(seed).Split("latency")),
        gap_(conditions.per_second > 0
                 ? std::chrono::duration_cast<Clock::Duration>(std::chrono::duration<double>(
                       std::min(1 / conditions.per_second, kLongestGap)))
                 : Clock::Duration(0)),
        latency_(std::chrono::milliseconds(conditions.latency_ms)),
        spread_(conditions.latency_p99_ms > conditions.latency_ms
                    ? NaturalLog(static_cast<double>(conditions.latency_p99_ms) /
                                 static_cast<double>(conditions.latency_ms)) /
                          kP99
                    : 0),
        timeline_(timeline) {}

  void Queue(std::shared_ptr<const CallAttempt> attempt, std::function<void()> carry_out) {
    {
      MutexLock lock(mutex_);
      waiting_.push_back({std::move(attempt), std::move(carry_out)});
    }
    Serve();
  }

 private:
  static constexpr double kLongestGap = 86'400;  // seconds
  struct Waiting {
    std::shared_ptr<const CallAttempt> attempt;
    std::function<void()> carry_out;
  };

  void Serve() {
    MutexLock lock(mutex_);
    const Clock::Duration now = timeline_->Now();
    while (!waiting_.empty()) {
      if (waiting_.front().attempt->stop.stop_requested()) {
        waiting_.pop_front();
        continue;
      }
      if (now < next_) return WakeAt(next_);
      next_ = now + gap_;
      timeline_->At(now + LatencyOf(*waiting_.front().attempt),
                    std::move(waiting_.front().carry_out));
      waiting_.pop_front();
    }
  }

  Clock::Duration LatencyOf(const CallAttempt& attempt) const {
    if (spread_ == 0) return latency_;
    const CallIdentity& call = attempt.identity;
    Rng rng = rng_.Split(call.task)
                  .Split(call.path)
                  .Split(static_cast<uint64_t>(call.turn))
                  .Split(static_cast<uint64_t>(call.call))
                  .Split(static_cast<uint64_t>(attempt.attempt));
    const double times = Exponential(spread_ * rng.NextNormal());
    return std::chrono::duration_cast<Clock::Duration>(
        std::chrono::duration<double, Clock::Duration::period>(
            static_cast<double>(latency_.count()) * times));
  }

  void WakeAt(Clock::Duration time) HONE_REQUIRES(mutex_) {
    if (wake_set_) return;
    wake_set_ = true;
    timeline_->At(time, [weak = weak_from_this()] {
      if (const std::shared_ptr<Counter> counter = weak.lock()) {
        {
          MutexLock lock(counter->mutex_);
          counter->wake_set_ = false;
        }
        counter->Serve();
      }
    });
  }

  const Rng rng_;
  const Clock::Duration gap_, latency_;
  const double spread_;  // of the logarithm
  Timeline* const timeline_;
  Mutex mutex_;
  std::deque<Waiting> waiting_ HONE_GUARDED_BY(mutex_);
  Clock::Duration next_ HONE_GUARDED_BY(mutex_){0};
  bool wake_set_ HONE_GUARDED_BY(mutex_) = false;
};

class ServedResponder final : public Responder {
 public:
  ServedResponder(std::shared_ptr<Responder> inner, std::vector<ServingConditions> conditions,
                  uint64_t seed, Timeline* timeline, std::shared_ptr<Bill> bill)
      : inner_(std::move(inner)), conditions_(std::move(conditions)), bill_(std::move(bill)) {
    for (const ServingConditions& one : conditions_) {
      counters_.push_back(std::make_shared<Counter>(one, seed, timeline));
    }
  }

  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    for (size_t i = 0; i < conditions_.size(); ++i) {
      if (!FitsPattern(conditions_[i].tool, attempt->content.tool)) continue;
      // What is handed on holds no part of this object: it may outlive it.
      auto carry_out = [inner = inner_, bill = bill_, attempt, reply = std::move(reply),
                        price = std::llround(conditions_[i].price * 1e9)] {
        if (attempt->stop.stop_requested()) return;
        bill->Add(price);
        inner->Answer(attempt, reply);
      };
      return counters_[i]->Queue(attempt, std::move(carry_out));
    }
    inner_->Answer(std::move(attempt), std::move(reply));
  }

 private:
  const std::shared_ptr<Responder> inner_;
  const std::vector<ServingConditions> conditions_;
  const std::shared_ptr<Bill> bill_;
  std::vector<std::shared_ptr<Counter>> counters_;
};

}  // namespace

std::vector<ServingConditions> ReadServingConditions(RecipeTable table) {
  std::vector<ServingConditions> conditions;
  for (RecipeTable& entry : table.Tables("conditions")) {
    ServingConditions& one = conditions.emplace_back();
    entry.Read("tool", &one.tool, "of which tool; * stands for any characters");
    entry.Read("price", &one.price, "of a call, in dollars", Between(0, 1e6));
    entry.Read("latency_ms", &one.latency_ms, "from a call's beginning to its answer",
               Between(0, 86'400'000));
    entry.Read("latency_p99_ms", &one.latency_p99_ms,
               "99th percentile of log-normal latencies, whose median latency_ms is then; 0: all "
               "are alike",
               Between(0, 86'400'000));
    if (one.latency_p99_ms != 0 && one.latency_p99_ms <= one.latency_ms) {
      entry.Problem("latency_p99_ms", "must be above latency_ms, the median");
    } else if (one.latency_p99_ms != 0 && one.latency_ms == 0) {
      entry.Problem("latency_ms", "must be above 0 where latency_p99_ms is: it is the median");
    }
    entry.Read("per_second", &one.per_second, "calls that may begin; 0: any number",
               Between(0, 1e6));
  }
  return conditions;
}

std::unique_ptr<Responder> NewServedResponder(std::shared_ptr<Responder> inner,
                                              std::vector<ServingConditions> conditions,
                                              uint64_t seed, Timeline* timeline,
                                              std::shared_ptr<Bill> bill) {
  return std::make_unique<ServedResponder>(std::move(inner), std::move(conditions), seed, timeline,
                                           std::move(bill));
}

}  // namespace hone
