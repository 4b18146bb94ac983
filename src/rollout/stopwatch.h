#pragma once

#include <chrono>

#include "base/clock.h"

namespace hone {

// Adds the time of its life to a sum of seconds.
class Stopwatch {
 public:
  Stopwatch(const Clock& clock, double* seconds)
      : clock_(clock), seconds_(seconds), began_(clock.Now()) {}
  ~Stopwatch() { *seconds_ += std::chrono::duration<double>(clock_.Now() - began_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  const Clock& clock_;
  double* seconds_;
  Clock::Duration began_;
};

}  // namespace hone
