#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/rng.h"

namespace hone {

// An estimate with an interval that holds the truth in 95 of 100 cases, unless said otherwise.
struct Interval {
  double value = 0;
  double low = 0;
  double high = 0;

  bool operator==(const Interval&) const = default;
};

// {"value", "low", "high"}, or null.
Json IntervalJson(const std::optional<Interval>& interval);

struct BootstrapOptions {
  int64_t resamples = 2000;
  double level = 0.95;
};

// A sum over units (tasks) divided by another: a mean where `below` is all ones, calls per success
// where it counts successes. Resampled by unit; resamples in which the sum below is 0 say nothing
// and are passed over. Nothing when it is 0 for the whole.
std::optional<Interval> BootstrapRatio(std::span<const double> above, std::span<const double> below,
                                       Rng rng, const BootstrapOptions& options = {});

// Many ratios over the same units, all resampled together: the draws are made once.
struct Ratio {
  std::vector<double> above, below;  // one of each per unit
};
std::vector<std::optional<Interval>> BootstrapRatios(std::span<const Ratio> ratios, Rng rng,
                                                     const BootstrapOptions& options = {});

// Values of runs: one row per seed, one column per task; all rows are about the same tasks.
using Table = std::vector<std::vector<double>>;

// How far a Student variable strays in this share of all cases: 4.303 for 0.95 and 2 degrees of
// freedom.
double StudentReach(double share, int64_t degrees);

// Which rows of a table have something in common beside what is measured, such as the policy they
// began with: rows with the same number are one cluster. Numbers are 0, 1, ... by first occurrence.
// Empty: every row is a cluster of its own.
using Clusters = std::vector<size_t>;
// How many clusters so many rows are.
size_t ClusterCount(const Clusters& clusters, size_t rows);

// The mean over everything. Resampled in both directions, seeds and tasks, because neither the
// seeds nor the tasks are all there are. Few seeds resample to an interval that is far too narrow
// (of 3 it misses the truth in 1 of 4 cases), so where Student's interval of the seeds' means
// reaches further, it is that. With one seed only tasks are resampled, and the interval says
// nothing about other seeds. Seeds of one cluster are drawn together and count as one.
Interval BootstrapMean(const Table& values, Rng rng, const BootstrapOptions& options = {},
                       const Clusters& clusters = {});

// a - b, cell by cell: same seeds, same tasks, same starts. Shapes are equal (CHECK).
Table Minus(Table a, const Table& b);
// The mean of it.
Interval PairedDifference(const Table& a, const Table& b, Rng rng,
                          const BootstrapOptions& options = {});

// When a run reached a goal; absent: it was watched until `watched` and had not.
struct Reached {
  std::optional<double> at;
  double watched = 0;

  // The earliest it can have been.
  double AtLeast() const { return at.value_or(watched); }
};

// The median over runs of when they reached it. "Never" is no number: when half of the runs or more
// did not reach it, the median is only known to be later than `value`.
struct MedianReached {
  double value = 0;
  bool later = false;
  int64_t reached = 0, runs = 0;

  std::string Text() const;  // "12800", "later than 38400 (2 of 5 reached it)"
};
MedianReached MedianOf(std::span<const Reached> runs);

// How often a was earlier than b in pairs of the same seed, and whether chance alone would do that:
// the two-sided sign test. Pairs of which nothing is known (both never, or one never before the
// other's time) are ties and left out.
struct PairedRace {
  int64_t a_first = 0, b_first = 0, ties = 0;
  double p = 1;
};
PairedRace Race(std::span<const Reached> a, std::span<const Reached> b);

// The probability that of n fair coins at least this many more-common ones fall the same way.
double SignTest(int64_t wins, int64_t losses);

}  // namespace hone
