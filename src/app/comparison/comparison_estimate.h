#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "train/compare/comparison_file.h"

namespace hone {

// What a comparison will take, before it begins: runs that differ in nothing that takes time are
// estimated once, and what they share is counted once.
struct ComparisonEstimate {
  // Seconds are those of one core on a machine that does nothing else.
  struct Kind {
    std::string name;                                     // of the first arm that is like this
    int64_t runs = 0;                                     // of all arms and seeds that are
    int64_t imitations = 0;                               // that no other kind has made before
    int64_t simulators = 0;                               // likewise
    int64_t trajectories = 0;                             // of rl, per run
    double tokens = 0;                                    // per trajectory
    double imitation_seconds = 0, simulator_seconds = 0;  // of each of them
    double rl_seconds = 0;                                // per run, without evaluations

    double Seconds() const;  // of all of it
  };
  std::vector<Kind> kinds;

  double CoreSeconds() const;
  Json ToJson(int64_t jobs) const;
  std::string Table(int64_t jobs) const;  // for people
};

// Told before each run: its arm, how many runs were looked at, and how many there are.
using EstimateProgress = std::function<void(const std::string& arm, int64_t done, int64_t all)>;

// Tries each kind of run for some seconds (train/run_estimate.h).
Result<ComparisonEstimate> EstimateComparison(const ComparisonFile& comparison,
                                              const std::filesystem::path& out,
                                              const EstimateProgress& progress = nullptr);

}  // namespace hone
