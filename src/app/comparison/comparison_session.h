#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "evaluate/compare/comparison_text.h"
#include "train/compare/comparison_runs.h"
#include "train/compare/tuning.h"

namespace hone {

// What the commands that compare (`hone compare`, `hone prove`) have in common: runs are made or
// looked at, reported on, and written down.

// A word as a shell takes it.
std::string QuotedForShell(const std::string& word);

struct SessionOptions {
  std::filesystem::path out;  // folder of runs and report
  int64_t jobs = 1;           // runs at a time
  bool report_only = false;   // make none
  std::string ledger;   // file of finished runs (train/compare/comparison_ledger.h); empty: none
  bool json = false;    // progress for programs
  bool fair = true;     // with the start's controls and the arm for the outcome; false: as it is
  std::string command;  // that this is, to be named when it is stopped
};

// A comparison with its runs, as far as they are there.
struct CarriedOut {
  ComparisonFile comparison;         // with the settings that were chosen, and its controls
  std::vector<ComparedRun> records;  // of its runs
  std::vector<ComparedRun> tuning;   // of the runs that only choose settings
  std::vector<TunedArm> tuned;       // what was chosen by them
  std::vector<std::string> notes;    // what the ledger has of these arms and is not of them
};

// All runs of the comparison that are not finished are made, those that choose settings first; a
// signal lets them save and end (kStopped). Folders that belong to other recipes are refused before
// anything is done. With report_only none is made, models need not be there, and it is an error
// (kNotFound) when none was ever begun; runs that would measure controls are then left out unless
// they are there.
Result<CarriedOut> CarryOutComparison(const ComparisonFile& comparison,
                                      const SessionOptions& options);

// What they show. Points into the records, which must outlive it.
struct ComparisonFindings {
  std::vector<ComparedSection> sections;
  std::vector<SectionReport> reports;
  std::vector<std::string> problems;  // starts that differ and should not
  std::vector<ReportTable> claims;    // what was expected and what came of it
  std::vector<ReportTable> tables;    // that are of no section
  int64_t failed = 0;                 // runs
  Json json;                          // all of it, as an event "end"
};
ComparisonFindings FindingsOf(const CarriedOut& carried_out, const std::string& command);

// Where a report goes: NAME.md, NAME.html and NAME.json in the folder.
struct FindingFiles {
  std::filesystem::path folder;
  std::string name;
  std::string copy;  // of the Markdown; empty: none
};
// Writes them and returns the Markdown.
Result<std::string> WriteFindings(ComparisonText head, const ComparisonFindings& findings,
                                  const std::vector<ComparedRun>& records,
                                  const FindingFiles& files);

}  // namespace hone
