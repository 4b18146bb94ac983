#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <stop_token>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "serve/training/training_outcomes.h"

namespace hone {

// Outcomes that clients come back for, by id. What was never fetched, and what was, is kept until
// newer outcomes need the room. Thread-safe.
class Futures {
 public:
  struct Options {
    std::string prefix = "request-";          // of ids
    size_t outcome_bytes = size_t{64} << 20;  // of outcomes kept, about
    size_t call_bytes = size_t{256} << 20;    // of calls that wait
    size_t calls = 16'384;                    // that wait
  };
  explicit Futures(Options options) : options_(std::move(options)) {}

  // A call of so many bytes begins to wait. kFull when too many do.
  Result<std::string> Begin(size_t bytes);
  // Its outcome; the id must wait (CHECK). Does not throw.
  void Finish(const std::string& id, TrainingOutcome outcome) {
    FinishWith(id, [&] { return std::move(outcome); });
  }
  // The outcome that `make` gives; where memory runs out for it, one that says so. Throws what else
  // `make` throws.
  template <typename Make>
  void FinishWith(const std::string& id, const Make& make) {
    std::shared_ptr<const TrainingOutcome> outcome = no_memory_;
    try {
      outcome = std::make_shared<const TrainingOutcome>(make());
    } catch (const std::bad_alloc&) {
    }
    Put(id, std::move(outcome));
  }
  // It will have none: nobody knows its id.
  void Drop(const std::string& id);

  enum class State { kUnknown, kWaiting, kDone };
  struct Found {
    State state = State::kUnknown;
    std::shared_ptr<const TrainingOutcome> outcome;  // where it is done
  };
  // Waits for the outcome, at most so long and until stopped.
  Found Wait(const std::string& id, std::chrono::milliseconds most, std::stop_token stop);

  size_t waiting() const;

 private:
  struct Entry {
    size_t bytes = 0;                        // of the call, then of the outcome
    std::list<std::string>::iterator place;  // in one of the lists
    std::shared_ptr<const TrainingOutcome> outcome;
  };

  void Put(const std::string& id, std::shared_ptr<const TrainingOutcome> outcome);

  const Options options_;
  const std::shared_ptr<const TrainingOutcome> no_memory_ = std::make_shared<const TrainingOutcome>(
      FailedOutcome{"the server has no memory left for this", false});
  mutable Mutex mutex_;
  ConditionVariable changed_;
  uint64_t begun_ HONE_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Entry, std::less<>> entries_ HONE_GUARDED_BY(mutex_);
  // Ids; an outcome moves its own from one to the other, which takes no memory.
  std::list<std::string> waiting_ HONE_GUARDED_BY(mutex_);
  std::list<std::string> done_ HONE_GUARDED_BY(mutex_);  // the oldest first
  size_t call_bytes_ HONE_GUARDED_BY(mutex_) = 0, outcome_bytes_ HONE_GUARDED_BY(mutex_) = 0;
};

// A future that was begun: dropped, unless somebody who will finish it has accepted it.
class BegunFuture {
 public:
  BegunFuture(Futures* futures, const std::string& id) : futures_(futures), id_(id) {}
  ~BegunFuture() {
    if (!accepted_) futures_->Drop(id_);
  }
  BegunFuture(const BegunFuture&) = delete;
  BegunFuture& operator=(const BegunFuture&) = delete;

  void Accept() { accepted_ = true; }

 private:
  Futures* const futures_;
  const std::string& id_;
  bool accepted_ = false;
};

}  // namespace hone
