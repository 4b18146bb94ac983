#include "evaluate/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "base/check.h"

namespace hone {
namespace {

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

double MeanOf(const Table& values, const std::vector<size_t>& rows,
              const std::vector<size_t>& columns) {
  double sum = 0;
  for (const size_t row : rows) {
    for (const size_t column : columns) sum += values[row][column];
  }
  return sum / static_cast<double>(rows.size() * columns.size());
}

}  // namespace

std::optional<Interval> BootstrapRatio(std::span<const double> above, std::span<const double> below,
                                       Rng rng, const BootstrapOptions& options) {
  CHECK(above.size() == below.size(), "one number above and one below per unit");
  const auto ratio = [&](const auto& place_of) -> std::optional<double> {
    double top = 0, bottom = 0;
    for (size_t i = 0; i < above.size(); ++i) {
      const size_t place = place_of(i);
      top += above[place];
      bottom += below[place];
    }
    if (bottom == 0) return std::nullopt;
    return top / bottom;
  };
  const std::optional<double> whole = ratio([](size_t i) { return i; });
  if (!whole) return std::nullopt;
  std::vector<double> resampled;
  std::vector<size_t> places(above.size());
  for (int64_t n = 0; n < options.resamples; ++n) {
    Rng draw = rng.Split(static_cast<uint64_t>(n));
    Resample(&draw, &places);
    if (const auto value = ratio([&](size_t i) { return places[i]; })) resampled.push_back(*value);
  }
  if (resampled.empty()) resampled.push_back(*whole);
  return Middle(*whole, std::move(resampled), options.level);
}

Interval BootstrapMean(const Table& values, Rng rng, const BootstrapOptions& options) {
  CHECK(!values.empty() && !values[0].empty(), "a table without values");
  for (const std::vector<double>& row : values) {
    CHECK(row.size() == values[0].size(), "all seeds have the same tasks");
  }
  std::vector<size_t> rows(values.size()), columns(values[0].size());
  std::iota(rows.begin(), rows.end(), 0);
  std::iota(columns.begin(), columns.end(), 0);
  const double whole = MeanOf(values, rows, columns);
  std::vector<double> resampled;
  for (int64_t n = 0; n < options.resamples; ++n) {
    Rng draw = rng.Split(static_cast<uint64_t>(n));
    Resample(&draw, &rows);
    Resample(&draw, &columns);
    resampled.push_back(MeanOf(values, rows, columns));
  }
  return Middle(whole, std::move(resampled), options.level);
}

Interval PairedDifference(const Table& a, const Table& b, Rng rng,
                          const BootstrapOptions& options) {
  CHECK(a.size() == b.size(), "pairs have the same seeds");
  Table difference = a;
  for (size_t row = 0; row < a.size(); ++row) {
    CHECK(a[row].size() == b[row].size(), "pairs have the same tasks");
    for (size_t column = 0; column < a[row].size(); ++column) {
      difference[row][column] -= b[row][column];
    }
  }
  return BootstrapMean(difference, rng, options);
}

std::string MedianReached::Text() const {
  if (!later) return fmt::format("{:g}", value);
  return fmt::format("later than {:g} ({} of {} reached it)", value, reached, runs);
}

MedianReached MedianOf(std::span<const Reached> runs) {
  CHECK(!runs.empty(), "a median of nothing");
  MedianReached median;
  std::vector<double> times;
  double shortest_watch = INFINITY;
  for (const Reached& run : runs) {
    median.reached += run.at ? 1 : 0;
    times.push_back(run.at.value_or(INFINITY));
    if (!run.at) shortest_watch = std::min(shortest_watch, run.watched);
  }
  median.runs = static_cast<int64_t>(runs.size());
  std::sort(times.begin(), times.end());
  const size_t middle = times.size() / 2;
  const double found =
      times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
  median.later = std::isinf(found);
  // A run that was given up early may have been next.
  if (!median.later && found > shortest_watch) median.later = true;
  median.value = median.later ? shortest_watch : found;
  return median;
}

PairedRace Race(std::span<const Reached> a, std::span<const Reached> b) {
  CHECK(a.size() == b.size(), "pairs have the same seeds");
  PairedRace race;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].at && *a[i].at < b[i].AtLeast()) {
      ++race.a_first;
    } else if (b[i].at && *b[i].at < a[i].AtLeast()) {
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
