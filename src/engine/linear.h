#pragma once

#include <cstdint>
#include <span>

#include "engine/matrix.h"

namespace hone {

// A weight matrix [outputs][inputs], or several under each other that multiply the same input, laid
// out for the kernels. Packed anew after each change of the weights.
class PackedLinear {
 public:
  using Weight = Panels::Part;  // [outputs][inputs]
  void Pack(std::span<const Weight> weights, int64_t inputs, Precision precision,
            const Kernels& kernels, ThreadPool* pool);
  // The other direction, which training needs.
  void PackBackward(std::span<const Weight> weights, const Kernels& kernels, ThreadPool* pool);

  int64_t outputs() const { return forward_.columns(); }
  int64_t inputs() const { return forward_.k(); }
  int64_t bytes() const { return forward_.bytes() + backward_.bytes(); }

  // y[r] = W x[r]; x [rows][inputs] must hold bfloat16 values in that precision.
  void Forward(const float* x, int64_t rows, float* y, const Kernels& kernels,
               ThreadPool* pool) const;
  // dx[r] += W^T dy[r]; dy [rows][outputs] must hold bfloat16 values in that precision.
  void BackwardInput(const Left& dy, int64_t rows, float* dx, const Kernels& kernels,
                     ThreadPool* pool) const;

 private:
  Panels forward_, backward_;
};

}  // namespace hone
