#include "app/views/step_pace.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace hone {
namespace {

constexpr size_t kPaceSteps = 20;
constexpr size_t kFewestPaceSteps = 2;  // the first one may have made what the others use

}  // namespace

std::string DurationText(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole >= 3600) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  if (whole >= 60) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

void StepPace::Add(double seconds) {
  last_.push_back(seconds);
  if (last_.size() > kPaceSteps) last_.pop_front();
}

std::optional<double> StepPace::Seconds(int64_t steps) const {
  if (last_.size() < kFewestPaceSteps) return std::nullopt;
  const double sum = std::accumulate(last_.begin(), last_.end(), 0.0);
  return sum / static_cast<double>(last_.size()) * static_cast<double>(steps);
}

}  // namespace hone
