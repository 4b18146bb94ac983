#include "engine/update/orthogonal.h"

#include <cmath>

#include "engine/buffer.h"
#include "engine/matrix.h"

namespace hone {
namespace {

// x -> a x + b x^3 + c x^5 takes what lies in (0, 1] towards 1 from both sides: chosen by others
// for the steepest rise at 0 (Jordan et al., Muon, 2024), so that five steps are enough.
constexpr float kLinear = 3.4445f, kCubic = -4.7750f, kQuintic = 2.0315f;
constexpr int kSteps = 5;

}  // namespace

void Orthogonalize(int64_t rows, int64_t columns, float* matrix, const Kernels& kernels,
                   ThreadPool* pool) {
  const FloatMode mode;
  const size_t size = static_cast<size_t>(rows * columns);
  double squares = 0;
  for (size_t i = 0; i < size; ++i) squares += static_cast<double>(matrix[i]) * matrix[i];
  if (squares == 0) return;
  const float shrink = static_cast<float>(1 / (std::sqrt(squares) + 1e-7));
  for (size_t i = 0; i < size; ++i) matrix[i] *= shrink;

  // The Gram matrix of the shorter side: x x^T of rows, or x^T x of columns.
  const bool wide = rows <= columns;
  const int64_t side = wide ? rows : columns, length = wide ? columns : rows;
  const auto count = static_cast<size_t>(side * side);
  Floats gram(count), polynomial(count), result(size);
  Panels panels;
  for (int step = 0; step < kSteps; ++step) {
    const Left left{matrix, wide ? columns : 1, wide ? 1 : columns};  // [side][length]
    panels.Pack({matrix, wide ? 1 : columns, wide ? columns : 1, length, side}, Precision::kF32,
                kernels, pool);
    Multiply(left, panels, {gram.data(), side, side}, kernels, pool);
    panels.Pack({gram.data(), side, 1, side, side}, Precision::kF32, kernels, pool);
    Multiply({gram.data(), side}, panels, {polynomial.data(), side, side}, kernels, pool);
    for (size_t i = 0; i < count; ++i) polynomial[i] = kCubic * gram[i] + kQuintic * polynomial[i];
    for (int64_t i = 0; i < side; ++i) polynomial[static_cast<size_t>(i * side + i)] += kLinear;
    // The polynomial is symmetric: it stands on the side of the shorter dimension.
    if (wide) {
      panels.Pack({matrix, columns, 1, rows, columns}, Precision::kF32, kernels, pool);
      Multiply({polynomial.data(), side}, panels, {result.data(), rows, columns}, kernels, pool);
    } else {
      panels.Pack({polynomial.data(), side, 1, side, side}, Precision::kF32, kernels, pool);
      Multiply({matrix, columns}, panels, {result.data(), rows, columns}, kernels, pool);
    }
    std::copy(result.begin(), result.end(), matrix);
  }
}

}  // namespace hone
