#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "engine/kernels/panel.h"

namespace hone {

// How weights and activations enter a product: as float32, or rounded to bfloat16. Sums, the
// residual stream and the master weights are float32 in both.
enum class Precision { kF32, kBf16 };

// Room for `count` floats and a panel more, so that kernels may read whole panels at the end.
inline std::vector<float> PaddedBuffer(int64_t count) {
  return std::vector<float>(static_cast<size_t>(count) + kLanes, 0.0f);
}

// A weight matrix [outputs][inputs] laid out for the kernels. Made anew after each change of the
// weights.
class PackedLinear {
 public:
  PackedLinear(std::span<const float> weight, int64_t outputs, int64_t inputs, Precision precision);

  int64_t outputs() const { return outputs_; }
  int64_t inputs() const { return inputs_; }

  // y[r] = W x[r]; x [rows][inputs] must hold bfloat16 values in that precision. y [rows][outputs].
  void Forward(const float* x, int64_t rows, float* y, const PanelKernels& kernels,
               ThreadPool* pool) const;
  // dx[r] += W^T dy[r].
  void BackwardInput(const float* dy, int64_t rows, float* dx, const PanelKernels& kernels,
                     ThreadPool* pool) const;

 private:
  int64_t outputs_, inputs_;
  Precision precision_;
  std::vector<float> panels_;          // f32: [outputs / 16][inputs][16]
  std::vector<uint32_t> pair_panels_;  // bf16: [outputs / 16][inputs / 2][16]
  std::vector<float> rows_;            // [outputs][inputs] as it enters the product, padded
};

// dw[outputs][inputs] += sum over r of dy[r] x[r]^T, in the order of r. x must be a PaddedBuffer.
void AddWeightGradient(const float* dy, const float* x, int64_t rows, int64_t outputs,
                       int64_t inputs, float* dw, const PanelKernels& kernels, ThreadPool* pool);

}  // namespace hone
