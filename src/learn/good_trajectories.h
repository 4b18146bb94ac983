#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"
#include "credit/credit.h"
#include "credit/reward_values.h"
#include "record/reward_terms.h"

namespace hone {

// One trajectory of a record, with its score, as a record with one leaf.
ScoredTree TrajectoryAlone(const ScoredTree& record, int32_t leaf);

// SPEAR's memory of own good trajectories: those with positive mean credit and a call that could
// be read are kept for a while, and what they are worth is recalibrated by what groups earn now. Whoever
// takes before adding replays what is past. Not synchronised.
class GoodTrajectories {
 public:
  struct Options {
    size_t capacity = 2048;        // trajectories handed out at once, at most
    int64_t tolerated_steps = 10;  // older ones are dropped
    size_t remembered_groups = 10240;
    bool divide_by_deviation = false;
    Selection outcome = {{kOutcomeTerm}, {}};
  };
  explicit GoodTrajectories(Options options) : options_(std::move(options)) {}

  // Remembers the group's baseline, and its good trajectories, each as a record of its own. The
  // first group of a step drops what is too old beside the newest that was there.
  void Add(const ScoredTree& record, const Credit& credit, int64_t step);

  // Medians of the remembered groups' mean and deviation; absent without any group.
  struct Baseline {
    double mean = 0;
    double deviation = 0;
  };
  std::optional<Baseline> Median() const;

  size_t size() const { return entries_.size(); }
  // Whether more than one and a half times the capacity is there that is better than the median.
  bool Ready() const;

  struct Replayed {
    std::shared_ptr<const ScoredTree> record;  // its only leaf is the trajectory
    double advantage = 0;                      // above 0
  };
  // Trajectories that are still better than the median baseline, a random choice of the largest power
  // of two of them within the capacity, none where there is but one; the buffer is empty
  // afterwards, its memory of baselines is not.
  std::vector<Replayed> Take(Rng rng);

  // All it remembers. Restored into a buffer of the same options, it goes on as if nothing had
  // happened.
  Json ToJson() const;
  Result<void> Restore(const Json& state);

 private:
  struct Entry {
    std::shared_ptr<const ScoredTree> record;
    double reward = 0;
    int64_t step = 0;
  };

  Options options_;
  std::deque<Entry> entries_;
  std::deque<Baseline> baselines_;
};

}  // namespace hone
