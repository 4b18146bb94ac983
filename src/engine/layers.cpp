#include "engine/layers.h"

#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/exact_math.h"
#include "engine/reduce.h"

namespace hone {
namespace {

float Sigmoid(float x) { return 1.0f / (1.0f + ExpF32(-x)); }

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

float RmsNorm(const float* x, const float* weight, int64_t size, float eps, float* y) {
  const float squares = StridedSum(size, [&](int64_t i) { return x[i] * x[i]; });
  const float scale = 1.0f / std::sqrt(squares / static_cast<float>(size) + eps);
  for (int64_t i = 0; i < size; ++i) y[i] = weight[i] * (x[i] * scale);
  return scale;
}

void RmsNormBackward(const float* x, const float* weight, float scale, const float* dy,
                     int64_t size, float* dx, float* dweight) {
  const float inner = StridedSum(size, [&](int64_t i) { return dy[i] * weight[i] * x[i]; });
  const float common = inner * scale * scale * scale / static_cast<float>(size);
  for (int64_t i = 0; i < size; ++i) {
    dx[i] += dy[i] * weight[i] * scale - x[i] * common;
    dweight[i] += dy[i] * (x[i] * scale);
  }
}

void SwiGlu(const float* gate, const float* up, int64_t size, float* y) {
  for (int64_t i = 0; i < size; ++i) y[i] = gate[i] * Sigmoid(gate[i]) * up[i];
}

void SwiGluBackward(const float* gate, const float* up, const float* dy, int64_t size, float* dgate,
                    float* dup) {
  for (int64_t i = 0; i < size; ++i) {
    const float sigmoid = Sigmoid(gate[i]);
    dup[i] = dy[i] * (gate[i] * sigmoid);
    dgate[i] = dy[i] * up[i] * (sigmoid * (1.0f + gate[i] * (1.0f - sigmoid)));
  }
}

RopeTable::RopeTable(const ModelConfig& config, int64_t positions)
    : half_(config.head_dim / 2), positions_(positions) {
  const std::vector<float> frequencies = Frequencies(config);
  cosines_.resize(static_cast<size_t>(positions * half_));
  sines_.resize(cosines_.size());
  for (int64_t p = 0; p < positions; ++p) {
    for (int64_t i = 0; i < half_; ++i) {
      // The angle in float32, as the models were trained with.
      const float angle = static_cast<float>(p) * frequencies[static_cast<size_t>(i)];
      double sine = 0, cosine = 0;
      SineCosine(angle, &sine, &cosine);
      cosines_[static_cast<size_t>(p * half_ + i)] = static_cast<float>(cosine);
      sines_[static_cast<size_t>(p * half_ + i)] = static_cast<float>(sine);
    }
  }
}

void RopeTable::Rotate(int64_t position, float* head, bool backward) const {
  DCHECK(position >= 0 && position < positions_);
  const float* cosines = cosines_.data() + position * half_;
  const float* sines = sines_.data() + position * half_;
  for (int64_t i = 0; i < half_; ++i) {
    const float sine = backward ? -sines[i] : sines[i];
    const float first = head[i], second = head[half_ + i];
    head[i] = first * cosines[i] - second * sine;
    head[half_ + i] = second * cosines[i] + first * sine;
  }
}

}  // namespace hone
