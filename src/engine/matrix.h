#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "engine/buffer.h"
#include "engine/kernels/kernels.h"

namespace hone {

// The right operand of products, laid out in panels for the kernels.
class Panels {
 public:
  // Element (k, column) is data[k * k_stride + column * column_stride]; one of the strides is 1.
  struct Source {
    const float* data;
    int64_t k_stride, column_stride;
    int64_t k, columns;
  };
  // In bf16 the values are rounded.
  void Pack(const Source& source, Precision precision, const Kernels& kernels, ThreadPool* pool);

  int64_t k() const { return k_; }
  int64_t columns() const { return columns_; }
  Precision precision() const { return precision_; }
  // The product whose right operand this is, from row `from` on; a multiple of 32.
  Product RightOperand(int64_t from, int64_t count, int64_t first_column) const;
  int64_t bytes() const;

 private:
  int64_t k_ = 0, columns_ = 0;
  Precision precision_ = Precision::kF32;
  Floats floats_;                                                  // f32
  std::vector<uint32_t, UninitializedAllocator<uint32_t>> pairs_;  // bf16
};

// The left operand: element (r, k) is data[r * row + k * step]; one of the two is 1. In bf16 it
// must hold bfloat16 values.
struct Left {
  const float* data;
  int64_t row, step = 1;
};

// Where a product goes: as many rows as it has, so far apart.
struct ProductOut {
  float* data;
  int64_t rows, row;
  bool accumulate = false;  // the product is added to what is there
};

// out [out.rows][b.columns()] = a b. Every output is one chain over k, so how
// the work is cut, and over how many threads, changes no bit.
void Multiply(const Left& a, const Panels& b, const ProductOut& out, const Kernels& kernels,
              ThreadPool* pool);

}  // namespace hone
