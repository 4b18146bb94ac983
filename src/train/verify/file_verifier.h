#pragma once

#include <filesystem>
#include <vector>

#include "train/verify/step_verifier.h"

namespace hone {

// Looks at what a run keeps beside its store and its weights, for steps from `first_step` up to
// before `end_step`. Each returns what differs, by step.

// Whether metrics.jsonl, which the dashboard and reports read, says what the store says: every
// number by its bits, times as well. Of steps that a run which was killed would do again the line
// may be missing.
Result<std::vector<RunDifference>> DifferentLines(const StoredRun& run, int64_t first_step,
                                                  int64_t end_step);

// Whether the run's tokenizer and those of its checkpoints are the one in the folder `derived`.
Result<std::vector<RunDifference>> DifferentTokenizers(const StoredRun& run,
                                                       const std::filesystem::path& derived,
                                                       int64_t first_step, int64_t end_step);

}  // namespace hone
