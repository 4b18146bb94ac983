#include "tools/conditions.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/strings.h"

namespace hone {
namespace {

// The turns of one set of conditions: when the next call may begin.
class Turns {
 public:
  explicit Turns(double per_second)
      : gap_(per_second > 0 ? std::chrono::duration_cast<Clock::Duration>(
                                  std::chrono::duration<double>(1 / per_second))
                            : Clock::Duration(0)) {}

  Clock::Duration Take(Clock::Duration now) {
    MutexLock lock(mutex_);
    const Clock::Duration begin = std::max(now, next_);
    next_ = begin + gap_;
    return begin;
  }

 private:
  const Clock::Duration gap_;
  Mutex mutex_;
  Clock::Duration next_ HONE_GUARDED_BY(mutex_){0};
};

class ServedResponder final : public Responder {
 public:
  ServedResponder(std::shared_ptr<Responder> inner, std::vector<ServingConditions> conditions,
                  Timeline* timeline, std::shared_ptr<Bill> bill)
      : inner_(std::move(inner)),
        conditions_(std::move(conditions)),
        timeline_(timeline),
        bill_(std::move(bill)) {
    for (const ServingConditions& one : conditions_) {
      turns_.push_back(std::make_unique<Turns>(one.per_second));
    }
  }

  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    for (size_t i = 0; i < conditions_.size(); ++i) {
      if (!FitsPattern(conditions_[i].tool, attempt->content.tool)) continue;
      return Serve(i, std::move(attempt), std::move(reply));
    }
    inner_->Answer(std::move(attempt), std::move(reply));
  }

 private:
  void Serve(size_t place, std::shared_ptr<const CallAttempt> attempt, Reply reply) {
    const Clock::Duration end = turns_[place]->Take(timeline_->Now()) +
                                std::chrono::milliseconds(conditions_[place].latency_ms);
    // What is handed on holds no part of this object: it may outlive it.
    auto carry_out = [inner = inner_, bill = bill_,
                      price = std::llround(conditions_[place].price * 1e9),
                      attempt = std::move(attempt), reply = std::move(reply)] {
      if (attempt->stop.stop_requested()) return;
      bill->Add(price);
      inner->Answer(attempt, reply);
    };
    if (end <= timeline_->Now()) return carry_out();
    timeline_->At(end, std::move(carry_out));
  }

  const std::shared_ptr<Responder> inner_;
  const std::vector<ServingConditions> conditions_;
  Timeline* const timeline_;
  const std::shared_ptr<Bill> bill_;
  std::vector<std::unique_ptr<Turns>> turns_;
};

}  // namespace

std::vector<ServingConditions> ReadServingConditions(RecipeTable table) {
  std::vector<ServingConditions> conditions;
  for (RecipeTable& entry : table.Tables("conditions")) {
    ServingConditions& one = conditions.emplace_back();
    entry.Read("tool", &one.tool, "of which tool; * stands for any characters");
    entry.Read("price", &one.price, "of a call, in dollars", AtLeast(0));
    entry.Read("latency_ms", &one.latency_ms, "from a call's beginning to its answer", AtLeast(0));
    entry.Read("per_second", &one.per_second, "calls that may begin; 0: any number", AtLeast(0));
  }
  return conditions;
}

std::unique_ptr<Responder> NewServedResponder(std::shared_ptr<Responder> inner,
                                              std::vector<ServingConditions> conditions,
                                              Timeline* timeline, std::shared_ptr<Bill> bill) {
  return std::make_unique<ServedResponder>(std::move(inner), std::move(conditions), timeline,
                                           std::move(bill));
}

}  // namespace hone
