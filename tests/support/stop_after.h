#pragma once

#include "train/trainer.h"

namespace hone {

// Ends a run after so many steps, as Ctrl-C would. What comes before its first step does not count.
class StopAfter final : public TrainObserver {
 public:
  explicit StopAfter(int64_t steps) : left_(steps) {}
  void OnTrained(const TrainedStep&) override { --left_; }
  TrainOptions options() {
    return {.observer = this, .stop = [this] { return left_ <= 0; }};
  }

 private:
  int64_t left_;
};

}  // namespace hone
