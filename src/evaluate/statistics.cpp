#include "evaluate/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

#include "base/check.h"

namespace hone {
namespace {

// Who had not arrived at the time that the other did is later.
bool IsBefore(const Reached& a, const Reached& b) {
  return a.at && (b.at ? *a.at < *b.at : *a.at <= b.watched);
}

// The middle share of some estimates around the one of the whole.
Interval Middle(double value, std::vector<double> resampled, double level) {
  std::sort(resampled.begin(), resampled.end());
  const double tail = (1 - level) / 2;
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(resampled.size() - 1);
    const size_t below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, resampled.size() - 1);
    const double part = place - static_cast<double>(below);
    return resampled[below] * (1 - part) + resampled[above] * part;
  };
  return {value, at(tail), at(1 - tail)};
}

// As many places as there are, drawn with putting back.
void Resample(Rng* rng, std::vector<size_t>* places) {
  for (size_t& place : *places) place = rng->Below(places->size());
}

double RowMean(const std::vector<double>& row) {
  return std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
}

// The rows of each cluster.
std::vector<std::vector<size_t>> RowsByCluster(const Clusters& clusters, size_t rows) {
  CHECK(clusters.empty() || clusters.size() == rows, "every row is of a cluster");
  std::vector<std::vector<size_t>> members(ClusterCount(clusters, rows));
  for (size_t row = 0; row < rows; ++row) {
    members[clusters.empty() ? row : clusters[row]].push_back(row);
  }
  return members;
}

// Of the clusters' means: where they could be if they are drawn from a normal distribution. A
// cluster of many rows weighs more, as it does in the mean over everything.
Interval StudentMean(const Table& values, const std::vector<std::vector<size_t>>& members,
                     double level) {
  const auto count = static_cast<double>(members.size());
  std::vector<double> means, weights;
  for (const std::vector<size_t>& rows : members) {
    double sum = 0;
    for (const size_t row : rows) sum += RowMean(values[row]);
    means.push_back(sum / static_cast<double>(rows.size()));
    weights.push_back(static_cast<double>(rows.size()) * count /
                      static_cast<double>(values.size()));
  }
  double mean = 0, squares = 0;
  for (size_t i = 0; i < means.size(); ++i) mean += weights[i] * means[i];
  mean /= count;
  for (size_t i = 0; i < means.size(); ++i) {
    const double off = weights[i] * (means[i] - mean);
    squares += off * off;
  }
  const double reach = StudentReach(level, static_cast<int64_t>(means.size()) - 1) *
                       std::sqrt(squares / (count - 1) / count);
  return {mean, mean - reach, mean + reach};
}

double MeanOf(const Table& values, const std::vector<size_t>& rows,
              const std::vector<size_t>& columns) {
  double sum = 0;
  for (const size_t row : rows) {
    for (const size_t column : columns) sum += values[row][column];
  }
  return sum / static_cast<double>(rows.size() * columns.size());
}

}  // namespace

Json IntervalJson(const std::optional<Interval>& interval) {
  if (!interval) return {};
  return Json::Of({{"value", interval->value}, {"low", interval->low}, {"high", interval->high}});
}

double StudentReach(double share, int64_t degrees) {
  CHECK(share > 0 && share < 1 && degrees > 0, "a share of Student's distribution");
  // P(|T| <= t) is a finite sum in the angle whose tangent is t / sqrt(degrees).
  const auto within = [&](double angle) {
    const double cosine = std::cos(angle);
    const bool odd = degrees % 2 == 1;
    double term = odd ? cosine : 1, sum = 0;
    for (int64_t power = odd ? 1 : 0; power <= degrees - 2; power += 2) {
      sum += term;
      term *= cosine * cosine * static_cast<double>(power + 1) / static_cast<double>(power + 2);
    }
    if (odd) return 2 / std::numbers::pi * (angle + std::sin(angle) * sum);
    return std::sin(angle) * sum;
  };
  double low = 0, high = std::numbers::pi / 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (within(middle) < share ? low : high) = middle;
  }
  return std::tan(low) * std::sqrt(static_cast<double>(degrees));
}

std::optional<Interval> BootstrapRatio(std::span<const double> above, std::span<const double> below,
                                       Rng rng, const BootstrapOptions& options) {
  const Ratio ratio{{above.begin(), above.end()}, {below.begin(), below.end()}};
  return BootstrapRatios(std::span(&ratio, 1), rng, options)[0];
}

std::vector<std::optional<Interval>> BootstrapRatios(std::span<const Ratio> ratios, Rng rng,
                                                     const BootstrapOptions& options) {
  std::vector<std::optional<Interval>> out(ratios.size());
  if (ratios.empty()) return out;
  const size_t units = ratios[0].above.size();
  for (const Ratio& ratio : ratios) {
    CHECK(ratio.above.size() == units && ratio.below.size() == units,
          "one number above and one below per unit");
  }
  std::vector<size_t> places(units);
  const auto value = [&](const Ratio& ratio) -> std::optional<double> {
    double top = 0, bottom = 0;
    for (const size_t place : places) {
      top += ratio.above[place];
      bottom += ratio.below[place];
    }
    if (bottom == 0) return std::nullopt;
    return top / bottom;
  };
  std::iota(places.begin(), places.end(), 0);
  std::vector<std::optional<double>> whole;
  for (const Ratio& ratio : ratios) whole.push_back(value(ratio));
  std::vector<std::vector<double>> resampled(ratios.size());
  for (int64_t n = 0; n < options.resamples; ++n) {
    Rng draw = rng.Split(static_cast<uint64_t>(n));
    Resample(&draw, &places);
    for (size_t i = 0; i < ratios.size(); ++i) {
      if (!whole[i]) continue;
      if (const auto drawn = value(ratios[i])) resampled[i].push_back(*drawn);
    }
  }
  for (size_t i = 0; i < ratios.size(); ++i) {
    if (!whole[i]) continue;
    if (resampled[i].empty()) resampled[i].push_back(*whole[i]);
    out[i] = Middle(*whole[i], std::move(resampled[i]), options.level);
  }
  return out;
}

size_t ClusterCount(const Clusters& clusters, size_t rows) {
  return clusters.empty() ? rows : *std::max_element(clusters.begin(), clusters.end()) + 1;
}

Interval BootstrapMean(const Table& values, Rng rng, const BootstrapOptions& options,
                       const Clusters& clusters) {
  CHECK(!values.empty() && !values[0].empty(), "a table without values");
  for (const std::vector<double>& row : values) {
    CHECK(row.size() == values[0].size(), "all seeds have the same tasks");
  }
  const std::vector<std::vector<size_t>> members = RowsByCluster(clusters, values.size());
  std::vector<size_t> rows(values.size()), columns(values[0].size()), drawn(members.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::iota(columns.begin(), columns.end(), 0);
  const double whole = MeanOf(values, rows, columns);
  std::vector<double> resampled;
  for (int64_t n = 0; n < options.resamples; ++n) {
    Rng draw = rng.Split(static_cast<uint64_t>(n));
    Resample(&draw, &drawn);
    Resample(&draw, &columns);
    rows.clear();
    for (const size_t cluster : drawn) {
      rows.insert(rows.end(), members[cluster].begin(), members[cluster].end());
    }
    resampled.push_back(MeanOf(values, rows, columns));
  }
  Interval interval = Middle(whole, std::move(resampled), options.level);
  if (members.size() > 1) {
    const Interval of_seeds = StudentMean(values, members, options.level);
    interval.low = std::min(interval.low, of_seeds.low);
    interval.high = std::max(interval.high, of_seeds.high);
  }
  return interval;
}

Table Minus(Table a, const Table& b) {
  CHECK(a.size() == b.size(), "pairs have the same seeds");
  for (size_t row = 0; row < a.size(); ++row) {
    CHECK(a[row].size() == b[row].size(), "pairs have the same tasks");
    for (size_t column = 0; column < a[row].size(); ++column) a[row][column] -= b[row][column];
  }
  return a;
}

Interval PairedDifference(const Table& a, const Table& b, Rng rng,
                          const BootstrapOptions& options) {
  return BootstrapMean(Minus(a, b), rng, options);
}

std::string MedianReached::Text() const {
  if (!later) return fmt::format("{:g}", value);
  return fmt::format("later than {:g} ({} of {} reached it)", value, reached, runs);
}

MedianReached MedianOf(std::span<const Reached> runs) {
  CHECK(!runs.empty(), "a median of nothing");
  MedianReached median;
  std::vector<double> times, at_least;
  double shortest_watch = INFINITY;
  for (const Reached& run : runs) {
    median.reached += run.at ? 1 : 0;
    times.push_back(run.at.value_or(INFINITY));
    at_least.push_back(run.AtLeast());
    if (!run.at) shortest_watch = std::min(shortest_watch, run.watched);
  }
  median.runs = static_cast<int64_t>(runs.size());
  const auto middle_of = [](std::vector<double>* values) {
    std::sort(values->begin(), values->end());
    const size_t middle = values->size() / 2;
    return values->size() % 2 == 1 ? (*values)[middle]
                                   : ((*values)[middle - 1] + (*values)[middle]) / 2;
  };
  const double found = middle_of(&times);
  median.later = std::isinf(found);
  // A run that was given up early may have been next.
  if (!median.later && found > shortest_watch) median.later = true;
  median.value = median.later ? middle_of(&at_least) : found;
  return median;
}

PairedRace Race(std::span<const Reached> a, std::span<const Reached> b) {
  CHECK(a.size() == b.size(), "pairs have the same seeds");
  PairedRace race;
  for (size_t i = 0; i < a.size(); ++i) {
    if (IsBefore(a[i], b[i])) {
      ++race.a_first;
    } else if (IsBefore(b[i], a[i])) {
      ++race.b_first;
    } else {
      ++race.ties;
    }
  }
  race.p = SignTest(race.a_first, race.b_first);
  return race;
}

double SignTest(int64_t wins, int64_t losses) {
  const int64_t n = wins + losses, most = std::max(wins, losses);
  if (n == 0) return 1;
  double tail = 0;
  for (int64_t k = most; k <= n; ++k) {
    const double log_ways = std::lgamma(static_cast<double>(n + 1)) -
                            std::lgamma(static_cast<double>(k + 1)) -
                            std::lgamma(static_cast<double>(n - k + 1));
    tail += std::exp(log_ways - static_cast<double>(n) * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

}  // namespace hone
