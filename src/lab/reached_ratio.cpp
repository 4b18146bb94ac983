#include "lab/reached_ratio.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"

namespace hone {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// What is known of a ratio: it lies between the two.
struct Known {
  double least = 0, most = kInfinite;
};

Known RatioOf(const MedianReached& above, const MedianReached& below) {
  Known known;
  if (!below.later) known.least = above.value / below.value;
  if (!above.later) known.most = above.value / below.value;
  return known;
}

// The value below which this share of them lies.
double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  return values[static_cast<size_t>(std::llround(place))];
}

std::string Number(double value) {
  return std::isfinite(value) ? fmt::format("{:.2f}", value) : "unknown";
}

// Medians of few seeds resample to intervals that are too narrow. Where every run got there, the
// mean of the seeds' own ratios (of their logarithms) has Student's: the wider counts.
void WidenBySeeds(std::span<const Reached> above, std::span<const Reached> below, Rng rng,
                  const BootstrapOptions& options, ReachedRatio* ratio) {
  Table logarithms;
  for (size_t seed = 0; seed < above.size(); ++seed) {
    if (above[seed].at.value_or(0) <= 0 || below[seed].at.value_or(0) <= 0) return;
    logarithms.push_back({std::log(*above[seed].at / *below[seed].at)});
  }
  if (logarithms.size() < 3) return;
  const Interval mean = BootstrapMean(logarithms, rng, options);
  ratio->low = std::min(ratio->low, std::exp(mean.low));
  ratio->high = std::max(ratio->high, std::exp(mean.high));
}

}  // namespace

std::string ReachedRatio::Text() const {
  return fmt::format("{}{} [{}, {}]",
                     at_least  ? "more than "
                     : at_most ? "less than "
                               : "",
                     Number(value), Number(low), Number(high));
}

std::optional<ReachedRatio> MedianRatio(std::span<const Reached> above,
                                        std::span<const Reached> below, Rng rng,
                                        const BootstrapOptions& options) {
  CHECK(above.size() == below.size(), "pairs of runs");
  if (above.empty()) return std::nullopt;
  const MedianReached a = MedianOf(above), b = MedianOf(below);
  if ((a.later && b.later) || b.value <= 0) return std::nullopt;
  ReachedRatio ratio{.value = a.value / b.value, .at_least = a.later, .at_most = b.later};
  std::vector<double> least, most;
  std::vector<Reached> drawn_above(above.size()), drawn_below(below.size());
  for (int64_t i = 0; i < options.resamples; ++i) {
    for (size_t seed = 0; seed < above.size(); ++seed) {
      const uint64_t drawn = rng.Below(above.size());
      drawn_above[seed] = above[drawn];
      drawn_below[seed] = below[drawn];
    }
    const Known known = RatioOf(MedianOf(drawn_above), MedianOf(drawn_below));
    least.push_back(known.least);
    most.push_back(known.most);
  }
  ratio.low = Quantile(std::move(least), (1 - options.level) / 2);
  ratio.high = Quantile(std::move(most), (1 + options.level) / 2);
  WidenBySeeds(above, below, rng.Split("seeds"), options, &ratio);
  return ratio;
}

}  // namespace hone
