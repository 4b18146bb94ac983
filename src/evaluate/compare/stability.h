#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluate/compare/comparison.h"
#include "evaluate/compare/comparison_text.h"

// Who survives which setting: runs that reach the goal, runs that fall from what they had reached,
// and the alarms that went off before they fell.

namespace hone {

// A run has collapsed if at the end it has less than half of the best it had on dev, and that best
// was worth something.
inline constexpr double kWorthLosing = 0.1, kCollapsedShare = 0.5;

// What became of a run on dev, sampled.
struct RunFate {
  double best = 0, end = 0;
  // Trajectories drawn when it was first below half of its best, for good; absent: it did not
  // collapse.
  std::optional<double> fell_at;
  bool warned = false;             // an alarm went off before that
  std::vector<FirstAlarm> alarms;  // all of them
};
// Absent where it did not finish or dev was not measured.
std::optional<RunFate> FateOf(const ComparedRun& run);

// Runs of an arm with one setting.
struct FateGroup {
  std::string label, setting;
  std::vector<const ComparedRun*> runs;
};

// For every group how many of its runs reach the goal, end at it and collapse, how many of those
// that collapse were warned of before, and which alarms went off. Groups without finished runs are
// left out; without any there are no rows.
ReportTable StabilityTable(const std::vector<FateGroup>& groups, double goal);

}  // namespace hone
