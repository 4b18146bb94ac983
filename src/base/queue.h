#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"

namespace hone {

// A first-in first-out queue between threads that holds at most `capacity` items: a fast producer
// waits instead of filling the memory. Stop tokens end a wait; closing ends the queue.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) { CHECK(capacity > 0); }

  // Waits for room. False, with the item dropped, when stopped or closed.
  bool Push(T item, std::stop_token stop = {}) {
    MutexLock lock(mutex_);
    changed_.wait(lock, stop,
                  [&]() HONE_REQUIRES(mutex_) { return closed_ || items_.size() < capacity_; });
    if (closed_ || items_.size() >= capacity_) return false;
    items_.push_back(std::move(item));
    changed_.notify_all();
    return true;
  }

  // Waits for an item. Empty when stopped, or when closed and drained.
  std::optional<T> Pop(std::stop_token stop = {}) {
    MutexLock lock(mutex_);
    changed_.wait(lock, stop, [&]() HONE_REQUIRES(mutex_) { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    std::optional<T> item = std::move(items_.front());
    items_.pop_front();
    changed_.notify_all();
    return item;
  }

  // No further item is taken in; those inside can still be popped.
  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  size_t size() const {
    MutexLock lock(mutex_);
    return items_.size();
  }

 private:
  const size_t capacity_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<T> items_ HONE_GUARDED_BY(mutex_);
  bool closed_ HONE_GUARDED_BY(mutex_) = false;
};

}  // namespace hone
