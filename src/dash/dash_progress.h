#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "dash/dash_runs.h"

namespace hone {

// How far a run is. Steps of different stages take different times (imitation a tenth of a second,
// practice ten), so what is left is told by the steps of the stage that it is in, and a share of
// the whole only where every stage that is still to come has begun.
struct RunProgress {
  std::string stage;            // "rl"; empty: nothing is known of stages
  int64_t step = 0;             // done of this stage
  int64_t steps = 0;            // of this stage
  int64_t later = 0;            // stages behind it
  std::optional<double> left;   // seconds, of this stage
  std::optional<double> share;  // of the whole run's time, from 0 to 1

  Json ToJson() const;
};

// `done`: steps of the run. `steps` (of the run, from 1) took `seconds`.
RunProgress ProgressOf(const RecipeFacts& facts, int64_t done, const std::vector<int64_t>& steps,
                       const std::vector<double>& seconds);

}  // namespace hone
