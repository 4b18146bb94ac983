#include "credit/normaliser.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace hone {
namespace {

void Centred(const Normaliser& normaliser, std::span<const double> lengths, const Deviation& group,
             std::span<double> values) {
  const auto n = static_cast<double>(values.size());
  switch (normaliser.centre) {
    case Centre::kNone: return;
    case Centre::kMean:
      for (double& value : values) value -= group.mean;
      return;
    case Centre::kLeaveOneOut:
      for (double& value : values) value = (value - group.mean) * n / (n - 1);
      return;
    case Centre::kLengthMean: {
      CHECK(lengths.size() == values.size());
      double weighted = 0, length = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        weighted += lengths[i] * values[i];
        length += lengths[i];
      }
      const double baseline = length > 0 ? weighted / length : group.mean;
      for (double& value : values) value -= baseline;
      return;
    }
    case Centre::kBestOverNext: {
      const auto best = std::max_element(values.begin(), values.end());
      double next = -std::numeric_limits<double>::infinity();
      for (auto at = values.begin(); at != values.end(); ++at) {
        if (at != best) next = std::max(next, *at);
      }
      const double above = *best - next;
      for (auto at = values.begin(); at != values.end(); ++at) *at = at == best ? above : 0;
      return;
    }
  }
}

}  // namespace

Deviation DeviationOf(std::span<const double> values) {
  Deviation result;
  if (values.empty()) return result;
  double sum = 0;
  for (const double value : values) sum += value;
  const auto n = static_cast<double>(values.size());
  result.mean = sum / n;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  result.equal = *high - *low < 1e-9;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.deviation = std::sqrt(squares / (n - 1));
  return result;
}

void Normalise(const Normaliser& normaliser, std::span<const double> lengths, double divisor,
               Alone alone, std::span<double> values) {
  const bool compares = normaliser.centre != Centre::kNone;
  if (static_cast<int>(values.size()) < normaliser.least) {
    std::fill(values.begin(), values.end(), 0.0);
    return;
  }
  if (values.size() == 1 && compares) {
    if (alone == Alone::kZero) values[0] = 0;
    return;
  }
  const Deviation group = DeviationOf(values);
  if (compares && group.equal) {  // rounding must not become ±1e-7 / 1e-6
    std::fill(values.begin(), values.end(), 0.0);
    return;
  }
  Centred(normaliser, lengths, group, values);
  double scale = 1;
  switch (normaliser.scale) {
    case Scale::kNone: break;
    case Scale::kGroupDeviation: scale = group.deviation + normaliser.epsilon; break;
    case Scale::kBatchDeviation: scale = divisor + normaliser.epsilon; break;
    case Scale::kNonzeroShare: scale = divisor; break;
  }
  for (double& value : values) value /= scale;
}

}  // namespace hone
