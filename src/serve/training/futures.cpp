#include "serve/training/futures.h"

#include <fmt/format.h>

#include "base/check.h"

namespace hone {

Result<std::string> Futures::Begin(size_t bytes) {
  MutexLock lock(mutex_);
  const size_t waiting = waiting_.size();
  // The only one may be of any size.
  const bool full = waiting > 0 && call_bytes_ + bytes > options_.call_bytes;
  if (full || waiting >= options_.calls) {
    return Error(ErrorCode::kFull, "too many calls are waiting; try again");
  }
  std::string id = fmt::format("{}{}", options_.prefix, begun_++);
  std::list<std::string> place = {id};
  entries_[id] = {.bytes = bytes, .place = place.begin(), .outcome = nullptr};
  waiting_.splice(waiting_.end(), place);
  call_bytes_ += bytes;
  return id;
}

void Futures::Put(const std::string& id, std::shared_ptr<const TrainingOutcome> outcome) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  CHECK(found != entries_.end() && found->second.outcome == nullptr, "an outcome for nothing");
  Entry& entry = found->second;
  call_bytes_ -= entry.bytes;
  entry.bytes = OutcomeBytes(*outcome);
  entry.outcome = std::move(outcome);
  outcome_bytes_ += entry.bytes;
  done_.splice(done_.end(), waiting_, entry.place);
  while (outcome_bytes_ > options_.outcome_bytes && done_.size() > 1) {
    const auto oldest = entries_.find(done_.front());
    outcome_bytes_ -= oldest->second.bytes;
    entries_.erase(oldest);
    done_.pop_front();
  }
  changed_.notify_all();
}

void Futures::Drop(const std::string& id) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  CHECK(found != entries_.end() && found->second.outcome == nullptr, "an outcome for nothing");
  call_bytes_ -= found->second.bytes;
  waiting_.erase(found->second.place);
  entries_.erase(found);
}

Futures::Found Futures::Wait(const std::string& id, std::chrono::milliseconds most,
                             std::stop_token stop) {
  MutexLock lock(mutex_);
  Found found;
  changed_.wait_for(lock, stop, most, [&]() HONE_REQUIRES(mutex_) {
    const auto entry = entries_.find(id);
    found = {};
    if (entry == entries_.end()) return true;
    found.state = entry->second.outcome == nullptr ? State::kWaiting : State::kDone;
    found.outcome = entry->second.outcome;
    return found.state == State::kDone;
  });
  return found;
}

size_t Futures::waiting() const {
  MutexLock lock(mutex_);
  return waiting_.size();
}

}  // namespace hone
