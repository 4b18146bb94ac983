#pragma once

#include <optional>
#include <span>
#include <string>

#include "evaluate/statistics.h"

namespace hone {

// How many times as long (in trajectories) the runs of one arm took to a goal as those of another,
// median by median. Where runs never got there only one side of it is known.
struct ReachedRatio {
  double value = 0;
  bool at_least = false;  // the true one is larger: those above are later than all that was seen
  bool at_most = false;   // the true one is smaller: those below are
  // Of the resampled ones the middle 95 %, or Student's of the seeds' own ratios where that reaches
  // further; high may be infinite.
  double low = 0, high = 0;

  // Chance alone would do that, too.
  bool NoEffectShown() const { return low <= 1 && high >= 1; }
  // "2.1 [1.6, 3.0]", "more than 2.1 [1.4, unknown]".
  std::string Text() const;
};

// Runs of the same place have the same seed and are resampled together. Nothing without runs, or
// where both medians are later than all that was seen.
std::optional<ReachedRatio> MedianRatio(std::span<const Reached> above,
                                        std::span<const Reached> below, Rng rng,
                                        const BootstrapOptions& options = {});

}  // namespace hone
