#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "evaluate/log_rank.h"
#include "evaluate/statistics.h"

// What runs of several recipes show, as numbers: means over seeds with intervals, differences that
// are paired by seed and task, and who was first at a goal. Pure functions of what runs wrote down.

namespace hone {

// How success on dev went.
struct DevPoint {
  double trajectories = 0;  // sampled until then
  double sampled = 0;
  double greedy = 0;
  double dollars = 0, hours = 0;  // that the real tools took until then, on their conditions
};
// What it takes to get somewhere.
enum class Effort { kTrajectories, kDollars, kHours };
double EffortOf(const DevPoint& point, Effort effort);

// That an alarm went off for the first time in a run.
struct FirstAlarm {
  std::string name;
  double trajectories = 0;  // that had been drawn

  bool operator==(const FirstAlarm&) const = default;
};

// One training run, as far as it has come.
struct ComparedRun {
  enum class Status { kFinished, kUnfinished, kFailed, kMissing };

  std::string arm;
  uint64_t seed = 0;
  Status status = Status::kMissing;
  std::string why;            // it failed, in a line
  int64_t steps = 0;          // done
  Json evaluations;           // by name ("after/test/sampled"), as Evaluation::ToJson writes them
  std::vector<DevPoint> dev;  // ascending
  std::vector<FirstAlarm> alarms;    // ascending
  double trajectories = 0;           // all of rl
  double sampled_tokens = 0;         // of them
  std::optional<double> real_calls;  // made during rl; absent: it was not counted
  // What real tools took, recordings for a simulator included; absent: no conditions are said.
  std::optional<double> dollars, hours;
  double recorded_dollars = 0, recorded_hours = 0;  // of these, before rl: for records
  double ratio_tokens = 0;                          // whose ratio was exactly 1
  double seconds = 0;     // of wall time that the steps of rl took, evaluation on dev included
  std::string start;      // SHA-256 of the weights that rl began with; empty: unknown
  std::string start_key;  // of what they depend on: equal ones must begin alike
  std::string weights;    // SHA-256 at the end; empty: unknown
  std::string folder;
};
std::string_view StatusName(ComparedRun::Status status);

// One arm of a section, with its finished runs in the order of the seeds.
struct ComparedArm {
  std::string name, label;
  std::vector<const ComparedRun*> runs;  // finished ones

  // Null: that one has not finished.
  const ComparedRun* OfSeed(uint64_t seed) const;
};

// What the arms began with, measured without rl: a row beside theirs.
struct ComparedControl {
  std::string name, label;               // "start@0.3"
  std::string evaluation;                // of its runs: "after/test/sampled"
  bool greedy = false;                   // compared with what arms do greedily
  std::vector<const ComparedRun*> runs;  // finished ones; empty: not measured
};

struct ComparedSection {
  std::string title, question, text;
  std::vector<ComparedArm> arms;
  std::vector<ComparedControl> controls;
  size_t baseline = 0;  // place among arms
  std::vector<uint64_t> seeds;
  double goal = 0.8;
  // The policy that rl begins with is given, not drawn: runs that share it are no cluster, and what
  // is found holds for that policy.
  bool given_start = false;
};

// A quantity that is measured of every run.
struct QuantityKind {
  enum class Unit { kShare, kNumber, kCount, kSeconds };

  std::string name;   // "test/sampled", "family/pipelines"
  std::string label;  // for tables
  Unit unit = Unit::kShare;
  bool paired = true;  // a difference of it says something about the arms
};

// A quantity of one arm.
struct Quantity {
  // Over seeds and, where every task was written down, over tasks. Absent: no run has it.
  std::optional<Interval> mean;
  bool has_interval = false;  // false: one value, one seed without tasks, or two seeds
  std::vector<std::optional<double>> by_seed;  // in the order of the section's seeds
  std::optional<double> lowest;
};

// An arm against the baseline.
struct Difference {
  std::optional<Interval> mean;  // absent: no seed that both have finished
  bool has_interval = false;
  std::vector<std::optional<double>> by_seed;
  Table cells;        // of the seeds that have a value: by task, or one where tasks are not known
  Clusters clusters;  // of the rows of `cells`, by the policy they began with
  int64_t more = 0, less = 0, equal = 0;  // seeds
  // What two seeds, or any number that began with two policies, agree in is no finding.
  bool TooFewSeeds() const {
    const auto seeds = static_cast<size_t>(more + less + equal);
    return ClusterCount(clusters, seeds) < 3;
  }
  // The interval has 0 in it, or there is none that says something.
  bool NoEffectShown() const {
    return !mean || !has_interval || TooFewSeeds() || (mean->low <= 0 && mean->high >= 0);
  }
};

// When the runs of an arm reached the goal on dev.
struct GoalTimes {
  std::vector<std::optional<Reached>> by_seed;  // in trajectories
  std::optional<MedianReached> median;
  std::optional<double> ratio;      // of medians, to the baseline's, where both are known
  std::optional<PairedRace> race;   // against the baseline
  std::optional<LogRank> log_rank;  // against it, with how far apart and who never arrived
};

// All that is said about a section. Rows are arms, columns the kinds.
struct SectionReport {
  std::vector<QuantityKind> kinds;
  std::vector<std::vector<Quantity>> quantities;       // [arm][kind]
  std::vector<std::vector<Difference>> differences;    // [arm][kind]; empty for the baseline
  std::vector<GoalTimes> goals;                        // [arm]
  std::vector<Quantity> controls;                      // [control]: success on test
  std::vector<std::vector<Difference>> over_controls;  // [arm][control]: success on test
  std::optional<double> gold_calls;                    // per task of test
  std::vector<std::string> warnings;  // starts that differ and should not, seeds that are missing
};

// Whether it is about one of several environments: "environment/NAME" (success on test, sampled)
// or "forgotten/NAME" (evaluate/forgetting.h).
bool IsOfEnvironment(std::string_view quantity);

// Names of the kinds whose differences say something about arms, whatever the section.
std::vector<std::string> PairedQuantities();

// The interval of a quantity depends on the values alone: the same runs give the same report.
SectionReport ReportSection(const ComparedSection& section, const BootstrapOptions& options = {});

// Success on dev, sampled, as a mean over all trajectories: the quantity dev/mean. Absent where dev
// was not measured.
std::optional<double> DevOverRun(const ComparedRun& run);

// Rows that have a start (the hash of a policy) in common, also by way of other rows, are one
// cluster. Empty: none has one in common with another. Starts that are not known are nobody's.
Clusters ClustersByStart(std::span<const std::vector<std::string>> starts_by_row);

// When the run reached this success on dev (sampled), in trajectories or what else it took: between
// the last look below it and the first that is not, along a straight line from what was measured
// before rl on.
std::optional<Reached> ReachedOn(const ComparedRun& run, double goal,
                                 Effort effort = Effort::kTrajectories);

// Runs that should have begun with the same weights and did not: one sentence each. A run without
// rl ends with what rl would have begun with.
std::vector<std::string> CheckStarts(std::span<const ComparedRun> runs);

Json ToJson(const ComparedSection& section, const SectionReport& report);
Json ToJson(const ComparedRun& run);
// What ToJson wrote. The error names the key.
Result<ComparedRun> ComparedRunFromJson(const Json& json);

}  // namespace hone
