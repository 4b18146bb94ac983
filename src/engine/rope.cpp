#include "engine/rope.h"

#include <algorithm>
#include <numbers>

#include "base/check.h"
#include "base/exact_math.h"

namespace hone {
namespace {

// The frequency of each pair of a head, stretched as Llama 3 does where asked.
std::vector<float> Frequencies(const ModelConfig& config) {
  std::vector<float> frequencies;
  const double log_theta = NaturalLog(config.rope_theta);
  for (int64_t i = 0; i < config.head_dim / 2; ++i) {
    const double exponent = -static_cast<double>(2 * i) / static_cast<double>(config.head_dim);
    double frequency = Exponential(exponent * log_theta);
    if (const auto& scaling = config.rope_scaling) {
      const double wavelength = 2 * std::numbers::pi / frequency;
      const auto original = static_cast<double>(scaling->original_positions);
      if (wavelength > original / scaling->low_freq_factor) {
        frequency /= scaling->factor;
      } else if (wavelength >= original / scaling->high_freq_factor) {
        const double smooth = (original / wavelength - scaling->low_freq_factor) /
                              (scaling->high_freq_factor - scaling->low_freq_factor);
        frequency = (1 - smooth) * frequency / scaling->factor + smooth * frequency;
      }
    }
    frequencies.push_back(static_cast<float>(frequency));
  }
  return frequencies;
}

}  // namespace

RopeTable::RopeTable(const ModelConfig& config)
    : half_(config.head_dim / 2), frequencies_(Frequencies(config)) {}

void RopeTable::Reach(int64_t positions) {
  if (positions <= positions_) return;
  positions = std::max(positions, 2 * positions_);
  cosines_.resize(static_cast<size_t>(positions * half_));
  sines_.resize(cosines_.size());
  for (int64_t p = positions_; p < positions; ++p) {
    for (int64_t i = 0; i < half_; ++i) {
      // The angle in float32, as the models were trained with.
      const float angle = static_cast<float>(p) * frequencies_[static_cast<size_t>(i)];
      double sine = 0, cosine = 0;
      SineCosine(angle, &sine, &cosine);
      cosines_[static_cast<size_t>(p * half_ + i)] = static_cast<float>(cosine);
      sines_[static_cast<size_t>(p * half_ + i)] = static_cast<float>(sine);
    }
  }
  positions_ = positions;
}

void RopeTable::Rotate(int64_t position, float* head, const Kernels& kernels, bool backward) const {
  DCHECK(position >= 0 && position < positions_);
  kernels.rotate(cosines_.data() + position * half_, sines_.data() + position * half_,
                 backward ? -1.0f : 1.0f, half_, head);
}

}  // namespace hone
