#pragma once

#include <cstdint>
#include <span>

#include "evaluate/statistics.h"

namespace hone {

// Whether runs of one arm arrive at a goal sooner or more often than those of another, where some
// never arrive: the log-rank test of times with censoring.
struct LogRank {
  double observed = 0;    // arrivals of a
  double expected = 0;    // if both arms arrived alike
  double variance = 0;    // of observed - expected, hypergeometric
  double chi_square = 0;  // (observed - expected)² / variance; 0 where nothing can differ
  double p = 1;           // two-sided, by swapping the arms' names within pairs
  int64_t swaps = 1;      // ways of swapping that were looked at
  bool exact = true;      // all of them; false: some, drawn
};

// a[i] and b[i] are a pair: runs of one seed. Nobody knows how times are distributed, and few runs
// have no chi-square: p is the share of all ways of swapping the two runs of pairs in which
// observed - expected is as far from 0 (docs/decisions/0032). Pairs of a cluster, which share their
// start, are swapped together.
LogRank LogRankTest(std::span<const Reached> a, std::span<const Reached> b,
                    const Clusters& clusters = {});

}  // namespace hone
