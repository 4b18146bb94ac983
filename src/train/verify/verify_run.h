#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "train/verify/step_verifier.h"

namespace hone {

// `hone replay RUN --verify`: a run is derived again from its recipe, its seed, a checkpoint or its
// beginning, and the journal of what tools said; and compared, bit by bit, with what it stored.

struct VerifyOptions {
  // Begins at the newest checkpoint that is not behind this step (from 0, of all stages); absent:
  // at the beginning of the run.
  std::optional<int64_t> from;
  std::optional<int64_t> to;         // ends before this step; absent: with the last that was stored
  bool fresh = false;                // imitation, simulators and records are made again, too
  bool keep_going = false;           // look on behind the first difference
  std::optional<int64_t> threads;    // absent: as the recipe says
  std::optional<DeviceKind> device;  // likewise
  std::filesystem::path scratch;     // to work in; empty: a temporary folder
  std::function<void(std::string_view stage, int64_t step, int64_t steps)> progress = nullptr;
  std::function<bool()> stop = nullptr;  // asked after each step
};

struct Verification {
  VerifiedCounts stored;  // in the steps that were to be derived
  VerifiedCounts equal;
  int64_t first_step = 0, end_step = 0;    // derived: from, and up to before
  std::string begun_with;                  // where the derivation begins, in words
  std::vector<std::string> notes;          // what was not verified, and why
  std::vector<RunDifference> differences;  // by step; empty: everything is the same
  bool ended = true;                       // false: it was stopped

  bool passed() const { return differences.empty() && ended; }
  Json ToJson() const;
};

// What would be derived, from where, and what is stored of it. Nothing is computed.
Result<Verification> PlanVerification(const std::filesystem::path& run,
                                      const VerifyOptions& options);

// The run's folder is left as it is. Nobody outside this program is asked: where tools are not part
// of it, the journal answers alone.
Result<Verification> VerifyRun(const std::filesystem::path& run, const VerifyOptions& options);

}  // namespace hone
