#include "evaluate/log_rank.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace hone {
namespace {

constexpr size_t kMostExactClusters = 16;
constexpr int64_t kDrawnSwaps = 20'000;

struct Arrival {
  double time = 0;
  bool arrived = false;
  bool of_a = false;
  size_t pair = 0;
};

// The earliest first.
std::vector<Arrival> ArrivalsOf(std::span<const Reached> a, std::span<const Reached> b) {
  std::vector<Arrival> arrivals;
  for (size_t i = 0; i < a.size(); ++i) {
    arrivals.push_back({a[i].AtLeast(), a[i].at.has_value(), true, i});
    arrivals.push_back({b[i].AtLeast(), b[i].at.has_value(), false, i});
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Arrival& x, const Arrival& y) { return x.time < y.time; });
  return arrivals;
}

// Fills in everything but p. Returns what each pair adds to 2 (observed - expected) of a: a run
// counts its arrival minus the hazard of all runs until its end, whichever arm it is of, so that
// swapping the runs of a pair changes its sign and nothing else.
std::vector<double> Count(const std::vector<Arrival>& arrivals, LogRank* test) {
  std::vector<double> by_pair(arrivals.size() / 2);
  auto at_risk = static_cast<double>(arrivals.size()), of_a = at_risk / 2;
  double hazard = 0;
  for (size_t begin = 0, end = 0; begin < arrivals.size(); begin = end) {
    double arrived = 0, leaving_a = 0;
    for (; end < arrivals.size() && arrivals[end].time == arrivals[begin].time; ++end) {
      arrived += arrivals[end].arrived ? 1 : 0;
      leaving_a += arrivals[end].of_a ? 1 : 0;
      test->observed += arrivals[end].arrived && arrivals[end].of_a ? 1 : 0;
    }
    hazard += arrived / at_risk;
    test->expected += arrived * of_a / at_risk;
    if (at_risk > 1) {
      const double share = of_a / at_risk;
      test->variance += arrived * share * (1 - share) * (at_risk - arrived) / (at_risk - 1);
    }
    for (size_t i = begin; i < end; ++i) {
      const double score = (arrivals[i].arrived ? 1 : 0) - hazard;
      by_pair[arrivals[i].pair] += arrivals[i].of_a ? score : -score;
    }
    at_risk -= static_cast<double>(end - begin);
    of_a -= leaving_a;
  }
  return by_pair;
}

// The share of swaps after which the sum is as far from 0.
void Swap(const std::vector<double>& by_cluster, LogRank* test) {
  double whole = 0;
  for (const double one : by_cluster) whole += one;
  const double far = std::abs(whole) - 1e-9;  // rounding must not tell equal sums apart
  test->exact = by_cluster.size() <= kMostExactClusters;
  test->swaps = test->exact ? int64_t{1} << by_cluster.size() : kDrawnSwaps;
  Rng rng = Rng(0).Split("log-rank");
  int64_t as_far = 0;
  for (int64_t n = 0; n < test->swaps; ++n) {
    double sum = 0;
    for (size_t i = 0; i < by_cluster.size(); ++i) {
      const bool swapped = test->exact ? (n >> i & 1) != 0 : rng.Below(2) == 1;
      sum += swapped ? -by_cluster[i] : by_cluster[i];
    }
    as_far += std::abs(sum) >= far ? 1 : 0;
  }
  // Of drawn ones the one that was observed is one more.
  const int64_t more = test->exact ? 0 : 1;
  test->p = static_cast<double>(as_far + more) / static_cast<double>(test->swaps + more);
}

}  // namespace

LogRank LogRankTest(std::span<const Reached> a, std::span<const Reached> b,
                    const Clusters& clusters) {
  CHECK(a.size() == b.size(), "pairs have the same seeds");
  CHECK(clusters.empty() || clusters.size() == a.size(), "every pair is of a cluster");
  LogRank test;
  if (a.empty()) return test;
  const std::vector<double> by_pair = Count(ArrivalsOf(a, b), &test);
  if (test.variance > 0) {
    test.chi_square = std::pow(test.observed - test.expected, 2) / test.variance;
  }
  std::vector<double> by_cluster(ClusterCount(clusters, a.size()));
  for (size_t i = 0; i < by_pair.size(); ++i) {
    by_cluster[clusters.empty() ? i : clusters[i]] += by_pair[i];
  }
  Swap(by_cluster, &test);
  return test;
}

}  // namespace hone
