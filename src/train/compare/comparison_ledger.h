#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "evaluate/compare/comparison.h"
#include "train/compare/comparison_file.h"

namespace hone {

// The finished runs of a comparison in one small file, one JSON object per line: what a report
// needs of a run, without its weights, trajectories and log. With it a report can be made again,
// checked and added to where the runs' folders are no longer (docs/compare.md).
//
// A run is known by its arm and seed, and counts only for the recipe and the settings of
// [evaluation] that it was made with: of a recipe that changed since, nothing is there.
class ComparisonLedger {
 public:
  // A file that is not there is a ledger without runs. The error names file and line.
  static Result<ComparisonLedger> Open(std::filesystem::path file);

  size_t size() const { return entries_.size(); }
  // The run, if it was kept and is still what is planned.
  const ComparedRun* Find(const ComparisonFile& comparison, const PlannedRun& run) const;
  // Whether it has a run of this arm and seed that is not what is planned: of another recipe, of
  // other files, or measured otherwise.
  bool HasAnother(const ComparisonFile& comparison, const PlannedRun& run) const;

  // Writes it down (finished ones only) in place of what was kept under its arm and seed. Another
  // process may keep runs in the same file: theirs are left as they are.
  Result<void> Keep(const ComparisonFile& comparison, const PlannedRun& run,
                    const ComparedRun& record);

 private:
  struct Entry {
    std::string recipe;      // hash of what reaches the weights
    std::string evaluation;  // hash of how it is measured
    ComparedRun run;
  };
  using Entries = std::map<std::pair<std::string, uint64_t>, Entry>;  // by arm and seed

  explicit ComparisonLedger(std::filesystem::path file) : file_(std::move(file)) {}
  static Result<Entries> Read(const std::filesystem::path& file);

  std::filesystem::path file_;
  Entries entries_;
};

}  // namespace hone
