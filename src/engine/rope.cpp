#include "engine/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/check.h"
#include "base/exact_math.h"

namespace hone {
namespace {

// Llama 3's: long wavelengths are stretched, short ones are not, those between in part.
double StretchedAsLlama3(double frequency, const RopeScaling& scaling) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  const auto original = static_cast<double>(scaling.original_positions);
  if (wavelength > original / scaling.low_freq_factor) return frequency / scaling.factor;
  if (wavelength < original / scaling.high_freq_factor) return frequency;
  const double smooth = (original / wavelength - scaling.low_freq_factor) /
                        (scaling.high_freq_factor - scaling.low_freq_factor);
  return (1 - smooth) * frequency / scaling.factor + smooth * frequency;
}

// YaRN's: pairs that turn often over the original positions stay, those that turn seldom are
// stretched, those between in part.
class YarnStretch {
 public:
  YarnStretch(const RopeScaling& scaling, int64_t dim, double log_theta) : scaling_(scaling) {
    // The pair that turns so often.
    auto pair_of = [&](double turns) {
      const auto original = static_cast<double>(scaling.original_positions);
      return static_cast<double>(dim) * NaturalLog(original / (turns * 2 * std::numbers::pi)) /
             (2 * log_theta);
    };
    low_ = pair_of(scaling.beta_fast);
    high_ = pair_of(scaling.beta_slow);
    if (scaling.truncate) low_ = std::floor(low_), high_ = std::ceil(high_);
    low_ = std::max(low_, 0.0);
    high_ = std::min(high_, static_cast<double>(dim - 1));
    if (low_ == high_) high_ += 0.001;
  }

  double Of(double frequency, int64_t pair) const {
    const double ramp = std::clamp((static_cast<double>(pair) - low_) / (high_ - low_), 0.0, 1.0);
    return frequency / scaling_.factor * ramp + frequency * (1 - ramp);
  }

 private:
  const RopeScaling& scaling_;
  double low_, high_;
};

// The frequency of each pair of a head; 0 where nothing turns.
std::vector<float> Frequencies(const ModelConfig& config, LayerTraits::Rope rope) {
  const int64_t dim = config.RotaryDim();
  if (rope == LayerTraits::Rope::kNone) return std::vector<float>(static_cast<size_t>(dim / 2), 0);
  const bool local = rope == LayerTraits::Rope::kLocal;
  const double log_theta = NaturalLog(local ? config.local_rope_theta : config.rope_theta);
  const RopeScaling* scaling = config.rope_scaling && !local ? &*config.rope_scaling : nullptr;
  std::optional<YarnStretch> yarn;
  if (scaling != nullptr && scaling->kind == RopeScaling::Kind::kYarn) {
    yarn.emplace(*scaling, dim, log_theta);
  }
  std::vector<float> frequencies;
  for (int64_t i = 0; i < dim / 2; ++i) {
    const double exponent = -static_cast<double>(2 * i) / static_cast<double>(dim);
    double frequency = Exponential(exponent * log_theta);
    if (scaling != nullptr) {
      switch (scaling->kind) {
        case RopeScaling::Kind::kLlama3: frequency = StretchedAsLlama3(frequency, *scaling); break;
        case RopeScaling::Kind::kLinear: frequency /= scaling->factor; break;
        case RopeScaling::Kind::kYarn: frequency = yarn->Of(frequency, i); break;
        case RopeScaling::Kind::kLong:
          frequency /= scaling->divisors[static_cast<size_t>(i)];
          break;
      }
    }
    frequencies.push_back(static_cast<float>(frequency));
  }
  return frequencies;
}

double LengthOf(const ModelConfig& config, LayerTraits::Rope rope) {
  const bool scaled = config.rope_scaling && rope == LayerTraits::Rope::kGlobal;
  return scaled ? config.rope_scaling->attention_factor : 1;
}

}  // namespace

RopeTable::RopeTable(const ModelConfig& config, LayerTraits::Rope rope)
    : half_(config.RotaryDim() / 2),
      length_(LengthOf(config, rope)),
      frequencies_(Frequencies(config, rope)) {}

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
      cosines_[static_cast<size_t>(p * half_ + i)] = static_cast<float>(length_ * cosine);
      sines_[static_cast<size_t>(p * half_ + i)] = static_cast<float>(length_ * sine);
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
