#include "base/gate.h"

#include <utility>

#include "base/check.h"

namespace hone {

Gate::Gate(int limit) : limit_(limit) { CHECK(limit > 0); }

Gate::Pass::~Pass() {
  if (gate_ != nullptr) gate_->Leave();
}

Gate::Pass::Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}

Gate::Pass& Gate::Pass::operator=(Pass&& other) noexcept {
  std::swap(gate_, other.gate_);
  return *this;
}

Gate::Pass Gate::Enter(std::stop_token stop) {
  MutexLock lock(mutex_);
  const bool room =
      left_.wait(lock, stop, [&]() HONE_REQUIRES(mutex_) { return inside_ < limit_; });
  if (!room) return Pass();
  ++inside_;
  return Pass(this);
}

int Gate::inside() const {
  MutexLock lock(mutex_);
  return inside_;
}

void Gate::Leave() {
  MutexLock lock(mutex_);
  --inside_;
  left_.notify_one();
}

}  // namespace hone
