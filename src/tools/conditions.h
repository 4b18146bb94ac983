#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/recipe.h"
#include "tools/responder.h"
#include "tools/timeline.h"

namespace hone {

// On what conditions a tool serves. Tools that are part of this program answer at once and for
// nothing; with conditions they cost and take what those of others do. The time is the timeline's:
// on the virtual one an hour of waiting takes none.
struct ServingConditions {
  std::string tool = "*";  // a name, or with '*' for any characters
  double price = 0;        // of a call that is carried out, in dollars
  int64_t latency_ms = 0;  // from its beginning to its answer
  // Above latency_ms: latencies are log-normal, with that as their median and this as their 99th
  // percentile. What a call takes follows from what it is and whose, not from when it is made.
  int64_t latency_p99_ms = 0;
  double per_second = 0;  // calls that may begin; more wait for their turn; 0: any number
};

// `[[conditions]]` of the table; what is wrong is a problem of the recipe's.
std::vector<ServingConditions> ReadServingConditions(RecipeTable table);

// What calls have cost so far. Thread-safe.
class Bill {
 public:
  void Add(int64_t nanodollars) {
    MutexLock lock(mutex_);
    nanodollars_ += nanodollars;
  }
  // Whole ones, so that what a step cost does not hang on what came before it.
  int64_t nanodollars() const {
    MutexLock lock(mutex_);
    return nanodollars_;
  }

 private:
  mutable Mutex mutex_;
  int64_t nanodollars_ HONE_GUARDED_BY(mutex_) = 0;
};

// Lets `inner` answer on these conditions; of several for a tool the first holds. A call that
// nobody waits for any more when its turn comes is not carried out and costs nothing. `seed` is of
// latencies that differ. The timeline must outlive it.
std::unique_ptr<Responder> NewServedResponder(std::shared_ptr<Responder> inner,
                                              std::vector<ServingConditions> conditions,
                                              uint64_t seed, Timeline* timeline,
                                              std::shared_ptr<Bill> bill);

}  // namespace hone
