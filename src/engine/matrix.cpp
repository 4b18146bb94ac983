#include "engine/matrix.h"

#include <algorithm>

#include "base/check.h"

namespace hone {
namespace {

// Rows of the left operand at a time: with KAtOnce of k they stay in the second-level cache, and
// the right operand, which may come from memory, is read once for all of them. Where rows are
// transposed first, floats lie beside the packed numbers.
constexpr int64_t kRowsAtOnce = 288, kTransposedRowsAtOnce = 192;

// Columns at a time where k takes several rounds: what one leaves of the product is still in the
// second-level cache when the next one adds to it.
constexpr int64_t kColumnsAtOnce = 1024;

// Of k: a pair of panels this long stays in the first-level cache.
constexpr int64_t KAtOnce(Precision precision) { return precision == Precision::kF32 ? 256 : 512; }

int64_t CeilDivide(int64_t value, int64_t by) { return (value + by - 1) / by; }

// Rows [begin, end) of a stack, where they lie in one of its parts; else null.
const float* RowsInOnePart(const Panels::Stack& stack, int64_t begin, int64_t end) {
  for (const Panels::Part& part : stack.parts) {
    if (begin < part.rows) {
      return end <= part.rows ? part.values + begin * stack.row : nullptr;
    }
    begin -= part.rows;
    end -= part.rows;
  }
  return nullptr;
}

// The same rows copied, `to_row` apart.
void CopyRows(const Panels::Stack& stack, int64_t begin, int64_t end, float* to, int64_t to_row) {
  for (const Panels::Part& part : stack.parts) {
    for (int64_t r = std::max<int64_t>(begin, 0); r < std::min(end, part.rows); ++r) {
      std::copy_n(part.values + r * stack.row, stack.width, to);
      to += to_row;
    }
    begin -= part.rows;
    end -= part.rows;
  }
}

int64_t RowsOf(const Panels::Stack& stack) {
  int64_t rows = 0;
  for (const Panels::Part& part : stack.parts) rows += part.rows;
  return rows;
}

// How a product is cut into pieces of work.
struct Cut {
  int64_t row_piece, column_piece, row_pieces, column_pieces;
};

// Few pieces of rows, so that the right operand is read few times; columns are cut until every
// thread has a few pieces, then rows again.
Cut CutOf(const Left& a, const Panels& b, int64_t rows, int threads) {
  const int64_t wanted = threads == 1 ? 1 : 3 * threads;
  const int64_t most_rows = a.step == 1 ? kRowsAtOnce : kTransposedRowsAtOnce;
  const int64_t most_columns =
      b.k() > KAtOnce(b.precision()) ? kColumnsAtOnce : std::max(b.columns(), kColumnsAtOnce);
  Cut cut;
  cut.row_pieces = CeilDivide(rows, most_rows);
  const int64_t column_cuts =
      std::max(CeilDivide(b.columns(), most_columns), CeilDivide(wanted, cut.row_pieces));
  cut.column_piece = RoundUp(CeilDivide(b.columns(), column_cuts), 4 * kLanes);
  cut.column_pieces = CeilDivide(b.columns(), cut.column_piece);
  cut.row_pieces = std::max(cut.row_pieces, CeilDivide(wanted, cut.column_pieces));
  cut.row_piece = std::min(most_rows, RoundUp(CeilDivide(rows, cut.row_pieces), 48));
  cut.row_pieces = CeilDivide(rows, cut.row_piece);
  return cut;
}

// Rows [row, row + tall) of a left operand that lies by columns, from k `from` on, as rows that are
// `to_row` apart.
struct LeftBlock {
  int64_t row, tall, from, count;
};
void TransposeBlock(const Left& a, const LeftBlock& block, const Kernels& kernels, float* to,
                    int64_t to_row) {
  for (int64_t k = 0; k < block.count; k += kBf16Block) {
    const int64_t wide = std::min<int64_t>(kBf16Block, block.count - k);
    RowSlices::Block rows{block.from + k, wide};
    if (a.slices.slice > 0) rows = a.slices.BlockAt(block.from + k);
    const int64_t present = std::min(rows.count, wide);
    const float* from = a.data + block.row * a.row + rows.first * a.step;
    kernels.transpose({from, a.step, present, block.tall}, to + k, to_row);
    for (int64_t r = 0; present < wide && r < block.tall; ++r) {
      std::fill_n(to + r * to_row + k + present, wide - present, 0.0f);
    }
  }
}

}  // namespace

int64_t RowSlices::k(Precision precision) const {
  if (slice == 0 || rows <= slice || precision == Precision::kF32) return rows;
  const int64_t before = (rows - 1) / slice;
  return before * RoundUp(slice, kBf16Block) + rows - before * slice;
}

RowSlices::Block RowSlices::BlockAt(int64_t at) const {
  if (slice == 0) return {at, std::min<int64_t>(kBf16Block, rows - at)};
  const int64_t padded = RoundUp(slice, kBf16Block), first = at / padded * slice;
  const int64_t inside = at % padded, end = std::min(slice, rows - first);
  return {first + inside, std::min<int64_t>(kBf16Block, end - inside)};
}

void Panels::Resize(int64_t k, int64_t columns, Precision precision) {
  k_ = k;
  columns_ = columns;
  precision_ = precision;
  const int64_t panels = CeilDivide(columns, kLanes);
  if (precision == Precision::kBf16) {
    pairs_.resize(static_cast<size_t>(panels * RoundUp(k, kBf16Block) / 2 * kLanes));
  } else {
    floats_.resize(static_cast<size_t>(panels * k * kLanes));
  }
}

void Panels::PackTransposed(const Stack& stack, Precision precision, const Kernels& kernels,
                            ThreadPool* pool) {
  const int64_t k = stack.width, columns = RowsOf(stack);
  Resize(k, columns, precision);
  pool->ParallelFor(
      static_cast<size_t>(CeilDivide(columns, kLanes)), 2, [&](size_t begin, size_t end) {
        static thread_local Floats gathered;
        for (auto panel = static_cast<int64_t>(begin); panel < static_cast<int64_t>(end); ++panel) {
          const int64_t first = panel * kLanes, wide = std::min<int64_t>(kLanes, columns - first);
          const float* from = RowsInOnePart(stack, first, first + wide);
          int64_t row = stack.row;
          if (from == nullptr) {
            row = k;
            from = Room(&gathered, wide * k);
            CopyRows(stack, first, first + wide, gathered.data(), k);
          }
          if (precision == Precision::kBf16) {
            uint32_t* pairs = pairs_.data() + first * (RoundUp(k, kBf16Block) / 2);
            kernels.pack_columns_bf16(from, row, wide, k, pairs);
            continue;
          }
          float* to = floats_.data() + first * k;
          if (wide < kLanes) std::fill_n(to, k * kLanes, 0.0f);
          kernels.transpose({from, row, wide, k}, to, kLanes);
        }
      });
}

// `count` rows, at most a block, become row `at` of all panels and what follows.
void Panels::PackBlock(const float* rows, int64_t row, int64_t count, int64_t at,
                       const Kernels& kernels) {
  for (int64_t first = 0; first < columns_; first += kLanes) {
    const int64_t wide = std::min<int64_t>(kLanes, columns_ - first);
    const float* from = rows + first;
    int64_t from_row = row;
    float last[kBf16Block * kLanes];
    if (wide < kLanes) {  // zeros behind the last column
      std::fill_n(last, count * kLanes, 0.0f);
      for (int64_t i = 0; i < count; ++i) std::copy_n(from + i * row, wide, last + i * kLanes);
      from = last;
      from_row = kLanes;
    }
    if (precision_ == Precision::kBf16) {
      kernels.pack_panel_bf16(
          from, from_row, count,
          pairs_.data() + first * (RoundUp(k_, kBf16Block) / 2) + at / 2 * kLanes);
      continue;
    }
    float* to = floats_.data() + first * k_ + at * kLanes;
    for (int64_t i = 0; i < count; ++i) std::copy_n(from + i * from_row, kLanes, to + i * kLanes);
  }
}

// Blocks of rows from end to end, not panel by panel: rows are read as they lie.
void Panels::PackRows(const Stack& stack, int64_t slice, Precision precision,
                      const Kernels& kernels, ThreadPool* pool) {
  const RowSlices slices{RowsOf(stack), precision == Precision::kBf16 ? slice : 0};
  Resize(slices.k(precision), stack.width, precision);
  const auto blocks = static_cast<size_t>(CeilDivide(k_, kBf16Block));
  pool->ParallelFor(blocks, 2, [&](size_t begin, size_t end) {
    static thread_local Floats gathered;
    for (auto block = static_cast<int64_t>(begin); block < static_cast<int64_t>(end); ++block) {
      const auto [first, count] = slices.BlockAt(block * kBf16Block);
      const float* from = RowsInOnePart(stack, first, first + count);
      int64_t row = stack.row;
      if (from == nullptr) {
        row = stack.width;
        from = Room(&gathered, count * row);
        CopyRows(stack, first, first + count, gathered.data(), row);
      }
      PackBlock(from, row, count, block * kBf16Block, kernels);
    }
  });
}

void Panels::Pack(const Source& source, Precision precision, const Kernels& kernels,
                  ThreadPool* pool) {
  if (source.column_stride == 1) {
    const Part part{source.data, source.k};
    PackRows({{&part, 1}, source.columns, source.k_stride}, 0, precision, kernels, pool);
  } else {
    const Part part{source.data, source.columns};
    PackTransposed({{&part, 1}, source.k, source.column_stride}, precision, kernels, pool);
  }
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
  Left left = a;
  if (!bf16) left.slices.slice = 0;
  const Cut cut = CutOf(a, b, rows, pool->threads());
  auto run = [&](size_t begin, size_t end) {
    const FloatMode mode;
    static thread_local Floats transposed;
    for (auto piece = static_cast<int64_t>(begin); piece < static_cast<int64_t>(end); ++piece) {
      // Rows one after the other: those of the same columns share what they read.
      const int64_t row = piece % cut.row_pieces * cut.row_piece;
      const int64_t column = piece / cut.row_pieces * cut.column_piece;
      const int64_t tall = std::min(cut.row_piece, rows - row);
      for (int64_t from = 0; from < k || from == 0; from += k_at_once) {
        const int64_t count = std::min(k_at_once, k - from);
        Product product = b.RightOperand(from, count, column);
        product.a = a.data + row * a.row + from * a.step;
        product.a_row = a.row;
        if (a.step != 1) {
          // Rows that are a power of two apart would share their places in the cache.
          product.a_row = count + kLanes;
          float* block = Room(&transposed, tall * product.a_row);
          TransposeBlock(left, {row, tall, from, count}, kernels, block, product.a_row);
          product.a = block;
        }
        product.rows = tall;
        product.columns = std::min(cut.column_piece, b.columns() - column);
        product.out = out.data + row * out.row + column;
        product.out_row = out.row;
        product.accumulate = out.accumulate || from > 0;
        kernel(product);
      }
    }
  };
  pool->ParallelFor(static_cast<size_t>(cut.row_pieces * cut.column_pieces), 1, run);
}

}  // namespace hone
