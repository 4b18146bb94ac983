#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/compare/comparison_text.h"

// What was expected before anything was run, and what came of it: a comparison file says which arm
// should be better than which, by what measure and by how much; the report has the measurement
// beside it.

namespace hone {

// One arm against another. The measures "trajectories", "dollars" and "hours" are how many times as
// many of them the other takes to the section's goal; any other is a quantity of the report
// ("test/sampled"), arm minus other.
struct Claim {
  std::string title;         // a sentence
  size_t section = 0;        // place
  std::string arm, against;  // names of arms of that section
  std::string measure;
  bool primary = false;
  // In times or, of shares, in points. Absent: nothing was predicted.
  std::optional<double> predicted;
  std::optional<double> large;  // from here on an effect is called large

  // What is counted to the goal; absent: the measure is a difference.
  std::optional<Effort> effort() const;
};

struct ClaimFinding {
  // A ratio (of what it takes to the goal) or a difference. Absent: no pair of runs is finished.
  std::optional<Interval> value;
  QuantityKind kind;  // of a difference
  int64_t pairs = 0;
  size_t clusters = 0;  // pairs that begin with policies of their own
  // Of ratios: who arrived at the goal, and the test that counts who never does.
  int64_t arrived = 0, arrived_against = 0;
  std::optional<LogRank> log_rank;

  // Where nothing differs: 1 of ratios, 0 of differences.
  double neutral = 0;
};

// The ratio is the geometric mean over pairs of runs of one seed. A run that did not arrive counts
// as arriving when it ended, and a pair in which that leaves open who was first counts as 1.
// Intervals are over seeds, clustered by the policy they began with. `claim.section` must be there;
// unknown arms and measures find nothing.
ClaimFinding FindingOf(const Claim& claim, const std::vector<ComparedSection>& sections,
                       const BootstrapOptions& options = {});

// "shown", "shown, large", "the other way", "no effect shown", "too few seeds", "not measured".
// What is shown is what was predicted: more, unless the prediction is less.
std::string ClaimVerdict(const Claim& claim, const ClaimFinding& finding);

// Two tables: the primary claims and the others; those without rows are left out.
std::vector<ReportTable> ClaimTables(const std::vector<Claim>& claims,
                                     const std::vector<ClaimFinding>& findings,
                                     const std::vector<ComparedSection>& sections);

Json ToJson(const Claim& claim, const ClaimFinding& finding);

}  // namespace hone
