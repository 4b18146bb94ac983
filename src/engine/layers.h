#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/model_config.h"

// The small steps between the matrix products, forward and backward, one row at a time: what a row
// becomes depends on that row alone. All by +, -, *, / and square roots in float32, in a fixed
// order.

namespace hone {

// y = x * scale * weight with scale = 1 / sqrt(mean(x²) + eps), which is returned.
float RmsNorm(const float* x, const float* weight, int64_t size, float eps, float* y);
// dx += the gradient of RmsNorm; dweight += dy * x * scale.
void RmsNormBackward(const float* x, const float* weight, float scale, const float* dy,
                     int64_t size, float* dx, float* dweight);

// y = silu(gate) * up.
void SwiGlu(const float* gate, const float* up, int64_t size, float* y);
// dgate and dup are set.
void SwiGluBackward(const float* gate, const float* up, const float* dy, int64_t size, float* dgate,
                    float* dup);

// Cosines and sines of the rotary angles, by absolute position.
class RopeTable {
 public:
  RopeTable(const ModelConfig& config, int64_t positions);

  int64_t positions() const { return positions_; }
  // Rotates one head's vector for a position, in place; `backward` turns it the other way.
  void Rotate(int64_t position, float* head, bool backward = false) const;

 private:
  int64_t half_;
  int64_t positions_;
  std::vector<float> cosines_, sines_;  // [positions][half]
};

}  // namespace hone
