#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace hone {

// Where the time of a run goes. Every pass of the data path runs through Run; what is not in any
// pass is what the sum of all falls short of the whole.
class PassTimes {
 public:
  explicit PassTimes(const Clock* clock) : clock_(clock), since_(clock->Now()) {}

  // Runs a pass and adds what it took to its name. A pass has no passes inside it (CHECK): time
  // would count twice.
  template <typename Pass>
  auto Run(std::string_view name, Pass&& pass) {
    const Running running(this, name);
    return std::forward<Pass>(pass)();
  }

  // A part of what was counted under one name belongs to another.
  void Move(std::string_view from, std::string_view to, double seconds);

  // Since it was made or Restart.
  std::map<std::string, double> seconds() const;
  double wall() const;  // all that passed
  void Restart();

 private:
  class Running {
   public:
    Running(PassTimes* times, std::string_view name);
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    PassTimes* times_;
    std::string name_;
    Clock::Duration begin_;
  };

  const Clock* clock_;
  Clock::Duration since_;
  std::map<std::string, double, std::less<>> seconds_;
  bool running_ = false;
};

}  // namespace hone
