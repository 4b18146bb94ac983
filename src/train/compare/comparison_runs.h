#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "evaluate/compare/comparison.h"
#include "train/compare/comparison_file.h"
#include "train/compare/comparison_ledger.h"

// The runs of a comparison: what is there of them, and making the others.

namespace hone {

// An error when the folder of the run belongs to another recipe, or to the same one measured
// otherwise: what is there is never mixed with what was asked for.
Result<void> CheckRunFolder(const PlannedRun& run);

// What the run has written down until now. Nothing in it is an error: a folder that is not there,
// or that is being written, is a run that is not finished.
ComparedRun ReadComparedRun(const ComparisonFile& comparison, const PlannedRun& run);

// All of them, in their order: what the ledger (null: none) has kept, else what the folder says.
std::vector<ComparedRun> ReadRuns(const ComparisonFile& comparison,
                                  const std::vector<PlannedRun>& runs,
                                  const ComparisonLedger* ledger = nullptr);

// Puts those that have finished since into the ledger.
Result<void> KeepFinished(const ComparisonFile& comparison, const std::vector<PlannedRun>& runs,
                          ComparisonLedger* ledger);

// The comparison's sections with the finished ones of these runs, which must outlive them.
std::vector<ComparedSection> SectionsOf(const ComparisonFile& comparison,
                                        const std::vector<ComparedRun>& runs);

// What is told while runs are made; one call at a time.
class ComparisonObserver {
 public:
  virtual ~ComparisonObserver() = default;
  // `there`: those that were finished before.
  virtual void OnBegin(int64_t /*runs*/, int64_t /*there*/) {}
  virtual void OnRunBegin(const ComparedRun&) {}
  // An event of a run's `hone train --json`.
  virtual void OnRunEvent(const ComparedRun&, const Json&) {}
  // `done`: runs, in parts, of all that are to be made now; `wanted`: all of them.
  virtual void OnProgress(double /*done*/, double /*wanted*/) {}
  virtual void OnRunEnd(const ComparedRun&) {}
};

struct ComparisonOptions {
  std::string program;                   // hone
  int64_t jobs = 1;                      // runs at a time
  int64_t threads = 1;                   // of each
  std::function<bool()> stop = nullptr;  // asked often; then the runs save and end
  ComparisonObserver* observer = nullptr;
  ComparisonLedger* ledger =
      nullptr;  // runs that it has are not made; finished ones are kept there
  // How long a run that was left over from before (its parent was killed) may take to end.
  std::chrono::seconds leftover{120};
};

// Makes all runs that are not finished, each by `hone train` in a process of its own. One that
// fails does not keep the others from being made. kStopped after `stop`: what was done is saved,
// and the same call goes on. kUnavailable when another one is at work in the folder. The records
// are those of all runs, in their order.
Result<std::vector<ComparedRun>> MakeRuns(const ComparisonFile& comparison,
                                          const std::vector<PlannedRun>& runs,
                                          const std::filesystem::path& folder,
                                          const ComparisonOptions& options);

}  // namespace hone
