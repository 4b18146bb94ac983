#include "engine/matrix.h"

#include <algorithm>

#include <xmmintrin.h>

#include "base/check.h"

namespace hone {
namespace {

constexpr int64_t kRowsAtOnce = 192;  // of the left operand: with kAtOnce of k it stays in L2

// Of k: a pair of panels this long stays in the first-level cache.
constexpr int64_t KAtOnce(Precision precision) { return precision == Precision::kF32 ? 256 : 512; }

// to[c][r] = source[r][c] for rows x columns; rows of `to` are so many floats apart.
void Transpose(const Left& source, int64_t rows, int64_t columns, float* to, int64_t to_row) {
  const float* from = source.data;
  const int64_t from_row = source.row;
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    int64_t c = 0;
    for (; c + 4 <= columns; c += 4) {
      const float* at = from + r * from_row + c;
      __m128 a = _mm_loadu_ps(at), b = _mm_loadu_ps(at + from_row),
             d = _mm_loadu_ps(at + 2 * from_row), e = _mm_loadu_ps(at + 3 * from_row);
      _MM_TRANSPOSE4_PS(a, b, d, e);
      float* out = to + c * to_row + r;
      _mm_storeu_ps(out, a);
      _mm_storeu_ps(out + to_row, b);
      _mm_storeu_ps(out + 2 * to_row, d);
      _mm_storeu_ps(out + 3 * to_row, e);
    }
    for (; c < columns; ++c) {
      for (int64_t i = r; i < r + 4; ++i) to[c * to_row + i] = from[i * from_row + c];
    }
  }
  for (; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) to[c * to_row + r] = from[r * from_row + c];
  }
}

// The left block [rows][count] by rows, when it lies by columns: in strips, so that neither side
// jumps about for long.
void TransposeBlock(const float* source, int64_t step, int64_t rows, int64_t count, float* out) {
  constexpr int64_t kStrip = 16;
  for (int64_t k = 0; k < count; k += kStrip) {
    Transpose({source + k * step, step}, std::min(kStrip, count - k), rows, out + k, count);
  }
}

}  // namespace

void Panels::Pack(const Source& source, Precision precision, const Kernels& kernels,
                  ThreadPool* pool) {
  const int64_t k_stride = source.k_stride, column_stride = source.column_stride;
  const int64_t k = source.k, columns = source.columns;
  k_ = k;
  columns_ = columns;
  precision_ = precision;
  const int64_t panels = RoundUp(columns, kLanes) / kLanes;
  const bool bf16 = precision == Precision::kBf16;
  const int64_t pairs = RoundUp(k, kBf16Block) / 2;
  if (bf16) {
    pairs_.resize(static_cast<size_t>(panels * pairs * kLanes));
  } else {
    floats_.resize(static_cast<size_t>(panels * k * kLanes));
  }
  pool->ParallelFor(static_cast<size_t>(panels), 2, [&](size_t begin, size_t end) {
    static thread_local Floats gathered;
    for (auto panel = static_cast<int64_t>(begin); panel < static_cast<int64_t>(end); ++panel) {
      const float* rows = source.data + panel * kLanes * column_stride;
      int64_t row = k_stride;
      const int64_t wide = std::min<int64_t>(kLanes, columns - panel * kLanes);
      if (column_stride != 1 || wide < kLanes) {  // as [k][kLanes] first
        float* to = ZeroRoom(&gathered, k * kLanes);
        if (column_stride == 1) {
          for (int64_t i = 0; i < k; ++i) std::copy_n(rows + i * k_stride, wide, to + i * kLanes);
        } else {
          Transpose({rows, column_stride}, wide, k, to, kLanes);
        }
        rows = to;
        row = kLanes;
      }
      if (bf16) {
        kernels.pack_panel_bf16(rows, row, k, pairs_.data() + panel * pairs * kLanes);
        continue;
      }
      float* to = floats_.data() + panel * k * kLanes;
      for (int64_t i = 0; i < k; ++i) std::copy_n(rows + i * row, kLanes, to + i * kLanes);
    }
  });
}

Product Panels::RightOperand(int64_t from, int64_t count, int64_t first_column) const {
  DCHECK(from % kBf16Block == 0 && first_column % kLanes == 0);
  Product product;
  product.k = count;
  if (precision_ == Precision::kF32) {
    product.b_panel = k_ * kLanes;
    product.b = floats_.data() + first_column / kLanes * product.b_panel + from * kLanes;
  } else {
    product.b_panel = RoundUp(k_, kBf16Block) / 2 * kLanes;
    product.b = pairs_.data() + first_column / kLanes * product.b_panel + from / 2 * kLanes;
  }
  return product;
}

int64_t Panels::bytes() const {
  return static_cast<int64_t>(floats_.size() * sizeof(float) + pairs_.size() * sizeof(uint32_t));
}

void Multiply(const Left& a, const Panels& b, const ProductOut& out, const Kernels& kernels,
              ThreadPool* pool) {
  const int64_t rows = out.rows;
  if (rows == 0 || b.columns() == 0) return;
  const bool bf16 = b.precision() == Precision::kBf16;
  auto* kernel = bf16 ? kernels.product_bf16 : kernels.product_f32;
  const int64_t k_at_once = KAtOnce(b.precision()), k = b.k();
  // Cut rows first, then columns, until every thread has a few pieces.
  const int64_t wanted = pool->threads() == 1 ? 1 : 3 * pool->threads();
  const int64_t row_piece =
      std::min(kRowsAtOnce, std::max<int64_t>(RoundUp((rows + wanted - 1) / wanted, 48), 48));
  const int64_t row_pieces = (rows + row_piece - 1) / row_piece;
  const int64_t column_cuts = std::max<int64_t>(1, (wanted + row_pieces - 1) / row_pieces);
  const int64_t column_piece = RoundUp((b.columns() + column_cuts - 1) / column_cuts, 4 * kLanes);
  const int64_t column_pieces = (b.columns() + column_piece - 1) / column_piece;
  pool->ParallelFor(
      static_cast<size_t>(row_pieces * column_pieces), 1, [&](size_t begin, size_t end) {
        const FloatMode mode;
        static thread_local Floats transposed;
        for (auto piece = static_cast<int64_t>(begin); piece < static_cast<int64_t>(end); ++piece) {
          const int64_t row = piece / column_pieces * row_piece;
          const int64_t column = piece % column_pieces * column_piece;
          const int64_t tall = std::min(row_piece, rows - row);
          const int64_t wide = std::min(column_piece, b.columns() - column);
          for (int64_t from = 0; from < k || from == 0; from += k_at_once) {
            const int64_t count = std::min(k_at_once, k - from);
            Product product = b.RightOperand(from, count, column);
            product.a = a.data + row * a.row + from * a.step;
            product.a_row = a.row;
            if (a.step != 1) {
              float* block = Room(&transposed, tall * count);
              TransposeBlock(product.a, a.step, tall, count, block);
              product.a = block;
              product.a_row = count;
            }
            product.rows = tall;
            product.columns = wide;
            product.out = out.data + row * out.row + column;
            product.out_row = out.row;
            product.accumulate = out.accumulate || from > 0;
            kernel(product);
          }
        }
      });
}

}  // namespace hone
