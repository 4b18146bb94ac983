#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"

namespace hone {

// Values that are made once: whoever asks first makes it, whoever asks meanwhile waits for it, and
// whoever asks later gets the same. Thread-safe. A value must not need itself.
template <typename Value>
class SingleFlight {
 public:
  struct Made {
    Value value;
    bool keep = true;  // false: those who wait get it, and the next one tries again
  };

  // `make` runs without a lock held, on the thread of the asker.
  Value Get(const std::string& key, const std::function<Made()>& make) {
    std::shared_ptr<Flight> flight;
    {
      MutexLock lock(mutex_);
      std::shared_ptr<Flight>& known = flights_[key];
      if (known != nullptr) {
        flight = known;
        landed_.wait(lock, [&] { return flight->landed; });
        return flight->value;
      }
      known = flight = std::make_shared<Flight>();
    }
    Made made = make();
    MutexLock lock(mutex_);
    flight->value = std::move(made.value);
    flight->landed = true;
    if (!made.keep) flights_.erase(key);
    landed_.notify_all();
    return flight->value;
  }

  // How many values are kept or being made.
  size_t size() const {
    MutexLock lock(mutex_);
    return flights_.size();
  }

 private:
  struct Flight {
    Value value{};
    bool landed = false;
  };

  mutable Mutex mutex_;
  ConditionVariable landed_;
  std::map<std::string, std::shared_ptr<Flight>> flights_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
