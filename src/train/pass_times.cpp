#include "train/pass_times.h"

#include <algorithm>

namespace hone {
namespace {

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

PassTimes::Running::Running(PassTimes* times, std::string_view name)
    : times_(times), name_(name), begin_(times->clock_->Now()) {
  CHECK(!times->running_, "a pass inside a pass");
  times->running_ = true;
}

PassTimes::Running::~Running() {
  times_->running_ = false;
  times_->seconds_[name_] += Seconds(times_->clock_->Now() - begin_);
}

void PassTimes::Move(std::string_view from, std::string_view to, double seconds) {
  double& source = seconds_[std::string(from)];
  const double moved = std::clamp(seconds, 0.0, source);
  source -= moved;
  seconds_[std::string(to)] += moved;
}

std::map<std::string, double> PassTimes::seconds() const {
  return {seconds_.begin(), seconds_.end()};
}

double PassTimes::wall() const { return Seconds(clock_->Now() - since_); }

void PassTimes::Restart() {
  seconds_.clear();
  since_ = clock_->Now();
}

}  // namespace hone
