#pragma once

#include <span>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// Mean and deviation of everything seen so far. A function of the values in their order.
class RunningMoments {
 public:
  // Finite ones count. The moments of the values are joined with those from before (Chan et al.),
  // as TRL does (trl/experimental/bco/bco_trainer.py, RunningMoments.update).
  void Add(std::span<const double> values);

  double count() const { return count_; }
  double mean() const { return mean_; }
  // By count - 1; of what does not vary, or of fewer than two values, 1: a divisor.
  double Deviation() const;
  // By count: at most half of the distance between the smallest and the largest. 0 without values.
  double Spread() const;

  Json ToJson() const;
  // `path` is for errors.
  Result<void> Restore(const Json& state, const std::string& path);

 private:
  double count_ = 0, mean_ = 0;
  double squares_ = 0;  // sum of squared distances from the mean
};

}  // namespace hone
