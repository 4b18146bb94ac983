#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "tools/responder.h"
#include "tools/timeline.h"

namespace hone {

// Answers later, or never.
class LateResponder final : public Responder {
 public:
  using Latency = std::function<std::optional<Clock::Duration>(const CallAttempt&)>;
  LateResponder(std::shared_ptr<Responder> inner, Latency latency, Timeline* timeline)
      : inner_(std::move(inner)), latency_(std::move(latency)), timeline_(timeline) {}

  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    const std::optional<Clock::Duration> latency = latency_(*attempt);
    if (!latency) return;
    timeline_->At(timeline_->Now() + *latency, [inner = inner_, attempt, reply = std::move(reply)] {
      inner->Answer(attempt, reply);
    });
  }

 private:
  const std::shared_ptr<Responder> inner_;
  const Latency latency_;
  Timeline* const timeline_;
};

}  // namespace hone
