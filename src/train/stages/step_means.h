#pragma once

#include "train/stage.h"

namespace hone {

// The numbers of some steps as one entry of the log: their means, but of "tokens" the sum. Of one
// step they are its own, to the bit.
class StepMeans {
 public:
  void Add(const StepValues& values) {
    if (steps_++ == 0) {
      sums_ = values;
      return;
    }
    for (const auto& [name, value] : values) sums_[name] += value;
  }

  // With what was measured beside them. Begins anew.
  StepValues Take(const StepValues& measured = {}) {
    StepValues means = std::move(sums_);
    for (auto& [name, value] : means) {
      if (steps_ > 1 && name != "tokens") value /= static_cast<double>(steps_);
    }
    means.insert(measured.begin(), measured.end());
    sums_.clear();
    steps_ = 0;
    return means;
  }

 private:
  StepValues sums_;
  int64_t steps_ = 0;
};

}  // namespace hone
