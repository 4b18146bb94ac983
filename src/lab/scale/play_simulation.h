#pragma once

#include <span>
#include <vector>

#include "base/rng.h"
#include "lab/scale/device_costs.h"

// One process plays its groups, event by event: turns that end, answers that come, trajectories
// that begin where there is room.

namespace hone::lab {

struct PlayedTurn {
  int64_t tokens = 1;
  double tool_seconds = 0;  // until it is answered; of the last turn: nobody asks
};

// What is drawn for a task. It does not depend on who plays it.
struct PlayedGroup {
  std::vector<std::vector<PlayedTurn>> trajectories;

  int64_t drawn_tokens() const;
  int64_t turns() const;
  double tree_tokens(const ScaleWorkloadOptions& workload) const;  // the prompt counts once
};

// The groups of one step.
std::vector<PlayedGroup> DrawLengths(const ScaleWorkloadOptions& workload, const Rng& rng);

struct PlayTimes {
  double span = 0;  // from the first prompt to the end of the last turn
  double busy = 0;  // of it, in which the process computes
  int64_t drawn_tokens = 0;
  double most_tokens = 0;  // whose keys and values are held at a time
};

PlayTimes SimulatePlay(const DeviceCosts& costs, const ScaleWorkloadOptions& workload,
                       std::span<const PlayedGroup* const> groups);

}  // namespace hone::lab
