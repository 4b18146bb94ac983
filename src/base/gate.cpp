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
  std::unique_lock lock(mutex_);
  if (!left_.wait(lock, stop, [&] { return inside_ < limit_; })) return Pass();
  ++inside_;
  return Pass(this);
}

Gate::Pass Gate::TryEnter() {
  std::lock_guard lock(mutex_);
  if (inside_ == limit_) return Pass();
  ++inside_;
  return Pass(this);
}

int Gate::inside() const {
  std::lock_guard lock(mutex_);
  return inside_;
}

void Gate::Leave() {
  std::lock_guard lock(mutex_);
  --inside_;
  left_.notify_one();
}

}  // namespace hone
