#include "learn/dynamic_sampling.h"

#include <algorithm>
#include <cmath>

#include "credit/normaliser.h"

namespace hone {

DynamicSamplingOptions ReadDynamicSampling(RecipeTable table) {
  using Pad = DynamicSamplingOptions::Pad;
  DynamicSamplingOptions options;
  std::string pad = "shrink";
  table.Read("on", &options.on, "draw again for groups that say nothing");
  table.Read("metric", &options.metric,
             "what is looked at: total, success, or the name of a reward term");
  table.Read("least_deviation", &options.least_deviation,
             "groups whose values deviate by at most this say nothing", AtLeast(0));
  table.Read("rounds", &options.rounds, "of drawing in one step, at most", AtLeast(1));
  table.ReadChoice("pad", &pad, {"shrink", "unfiltered", "duplicate"},
                   "what fills the step where groups are missing then");
  options.pad = pad == "shrink"       ? Pad::kShrink
                : pad == "unfiltered" ? Pad::kUnfiltered
                                      : Pad::kDuplicate;
  return options;
}

DynamicSampler::DynamicSampler(const DynamicSamplingOptions& options, size_t wanted)
    : options_(options), wanted_(wanted) {}

size_t DynamicSampler::kept() const {
  return static_cast<size_t>(std::count(kept_.begin(), kept_.end(), true));
}

size_t DynamicSampler::Missing() const {
  if (rounds_ == 0) return wanted_;
  if (!options_.on || rounds_ >= options_.rounds || kept() >= wanted_) return 0;
  const size_t missing = wanted_ - kept();
  const double rate =
      std::max(static_cast<double>(kept()) / static_cast<double>(kept_.size()), 0.25);
  return static_cast<size_t>(std::ceil(static_cast<double>(missing) / rate));
}

void DynamicSampler::Add(std::span<const std::vector<double>> round) {
  ++rounds_;
  for (const std::vector<double>& values : round) {
    scored_.push_back(values.size() >= 2);
    const Deviation deviation = DeviationOf(values);
    kept_.push_back(values.size() >= 2 && !deviation.equal &&
                    deviation.deviation > options_.least_deviation);
  }
}

std::vector<size_t> DynamicSampler::Chosen() const {
  std::vector<size_t> chosen;
  if (!options_.on) {
    for (size_t i = 0; i < kept_.size() && chosen.size() < wanted_; ++i) chosen.push_back(i);
    return chosen;
  }
  for (size_t i = 0; i < kept_.size() && chosen.size() < wanted_; ++i) {
    if (kept_[i]) chosen.push_back(i);
  }
  const size_t own = chosen.size();
  switch (options_.pad) {
    case DynamicSamplingOptions::Pad::kShrink: break;
    case DynamicSamplingOptions::Pad::kUnfiltered:
      for (size_t i = 0; i < kept_.size() && chosen.size() < wanted_; ++i) {
        if (!kept_[i] && scored_[i]) chosen.push_back(i);
      }
      break;
    case DynamicSamplingOptions::Pad::kDuplicate:
      for (size_t i = 0; own > 0 && chosen.size() < wanted_; ++i) chosen.push_back(chosen[i % own]);
      break;
  }
  return chosen;
}

}  // namespace hone
