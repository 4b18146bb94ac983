#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "engine/buffer.h"
#include "engine/kernels/kernels.h"

namespace hone {

// Rows over which a product sums, in slices of `slice` of them (0: one slice). In bf16 a slice
// begins a block of the inner product, as if it were a product of its own that is added to the
// earlier ones. So the sum over many slices has the bits of one product after the other, at the
// cost of one.
struct RowSlices {
  int64_t rows, slice = 0;

  // The k of such a product: all rows, with zeros behind each slice but the last.
  int64_t k(Precision precision) const;
  // The rows of the block that begins at k `at`: the first, and how many there are (at most 32).
  struct Block {
    int64_t first, count;
  };
  Block BlockAt(int64_t at) const;
};

// The right operand of products, laid out in panels for the kernels.
class Panels {
 public:
  // Matrices under each other: rows of `width` numbers, `row` apart.
  struct Part {
    const float* values;
    int64_t rows;
  };
  struct Stack {
    std::span<const Part> parts;
    int64_t width, row;
  };
  // Column c of the operand is row c of the stack. In bf16 the values are rounded, here and below.
  void PackTransposed(const Stack& stack, Precision precision, const Kernels& kernels,
                      ThreadPool* pool);
  // Row k of the operand is row k of the stack, in slices of so many.
  void PackRows(const Stack& stack, int64_t slice, Precision precision, const Kernels& kernels,
                ThreadPool* pool);
  // Element (k, column) is data[k * k_stride + column * column_stride]; one of the strides is 1.
  struct Source {
    const float* data;
    int64_t k_stride, column_stride;
    int64_t k, columns;
  };
  void Pack(const Source& source, Precision precision, const Kernels& kernels, ThreadPool* pool);

  int64_t k() const { return k_; }
  int64_t columns() const { return columns_; }
  Precision precision() const { return precision_; }
  // The product whose right operand this is, from row `from` on; a multiple of 32.
  Product RightOperand(int64_t from, int64_t count, int64_t first_column) const;
  int64_t bytes() const;

 private:
  void Resize(int64_t k, int64_t columns, Precision precision);
  void PackBlock(const float* rows, int64_t row, int64_t count, int64_t at, const Kernels& kernels);

  int64_t k_ = 0, columns_ = 0;
  Precision precision_ = Precision::kF32;
  Floats floats_;                                                  // f32
  std::vector<uint32_t, UninitializedAllocator<uint32_t>> pairs_;  // bf16
};

// The left operand: element (r, k) is data[r * row + k * step]; one of the two is 1. In bf16 it
// must hold bfloat16 values. Where the right operand's rows are in slices, `slices` says the same.
struct Left {
  const float* data;
  int64_t row, step = 1;
  RowSlices slices = {0, 0};
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
