#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluate/compare/comparison_text.h"
#include "evaluate/compare/stability.h"
#include "train/compare/comparison_file.h"

// Which of the settings in its grid an arm gets: every one is tried with seeds that are thrown
// away, and the one with the most success on dev is taken. A function of what was measured: nobody
// writes the choice down.

namespace hone {

// The folder of a setting's runs, by what it is and not by its place: a grid may grow.
std::string SettingFolder(const std::string& prefix, const std::vector<std::string>& changes);

// What settings are judged by, "dev/over-run" or "dev/end"; nothing of a run that has not finished
// or did not measure dev.
std::optional<double> DevMeasure(const std::string& choose, const ComparedRun& run);

// A comparison of its own with a run of every setting and tuning seed; nothing of it measures test.
// Without a grid it has no arms.
ComparisonFile TuningOf(const ComparisonFile& comparison);

struct TriedRun {
  uint64_t seed = 0;
  ComparedRun::Status status = ComparedRun::Status::kMissing;
  std::string why;            // it failed
  std::optional<double> dev;  // what settings are chosen by
};
struct TriedSetting {
  std::vector<std::string> changes;  // key=value
  std::vector<TriedRun> runs;
  std::optional<double> mean;  // of dev over seeds; absent: a run failed, or did not measure dev
  std::string Text() const;    // "stage.1.learning_rate=0.0003"
};
struct TunedArm {
  size_t arm = 0;  // place in the comparison
  std::vector<TriedSetting> tried;
  std::optional<size_t> chosen;
  std::string why;  // nothing is chosen; empty: something is
};

// Chosen is the highest mean; of equal ones the first in the grid. Where runs are missing nothing
// is chosen: the missing one may be the best. A setting with a run that failed is not taken.
std::vector<TunedArm> ChooseSettings(const ComparisonFile& comparison,
                                     const std::vector<ComparedRun>& tuning);

// As if of every grid the first setting had been chosen.
ComparisonFile WithFirstSettings(ComparisonFile comparison);

// The comparison with what was chosen. Arms without a choice keep their grid and have no runs;
// those that are like them have none either.
ComparisonFile WithChosen(ComparisonFile comparison, const std::vector<TunedArm>& tuned);

// Every run that was made to choose. Without any there are no rows.
ReportTable TuningTable(const ComparisonFile& comparison, const std::vector<TunedArm>& tuned);
// Of every setting that was tried, the runs: those that were made to choose, and where it was
// chosen the arm's own. The records must outlive what is given back.
std::vector<FateGroup> RunsBySetting(const ComparisonFile& comparison,
                                     const std::vector<TunedArm>& tuned,
                                     const std::vector<ComparedRun>& tuning,
                                     const std::vector<ComparedRun>& records);
// What must be known of a section: arms that could not be chosen, and who was tried more often.
std::vector<std::string> TuningNotes(const ComparisonFile& comparison,
                                     const ComparisonSection& section,
                                     const std::vector<TunedArm>& tuned);
Json TuningJson(const ComparisonFile& comparison, const std::vector<TunedArm>& tuned);

}  // namespace hone
