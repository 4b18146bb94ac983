#include "engine/update/orthogonal.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"

namespace hone {
namespace {

std::vector<float> Random(uint64_t seed, int64_t count) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(rng.NextNormal());
  return values;
}

// For every vector x, |M x| / |x| lies between the least and the largest singular value.
TEST(Orthogonal, SingularValuesComeCloseToOne) {
  ThreadPool pool(2);
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>{1, 1}, {7, 7}, {64, 192}, {192, 64}, {33, 100}}) {
    std::vector<float> matrix = Random(1, rows * columns);
    Orthogonalize(rows, columns, matrix.data(), BestKernels(), &pool);
    // Of the side that has full rank.
    const bool wide = rows <= columns;
    const int64_t side = wide ? rows : columns, length = wide ? columns : rows;
    for (uint64_t seed = 2; seed < 6; ++seed) {
      const std::vector<float> x = Random(seed, side);
      double before = 0, after = 0;
      for (int64_t j = 0; j < length; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < side; ++i) {
          sum +=
              x[i] * static_cast<double>(wide ? matrix[i * columns + j] : matrix[j * columns + i]);
        }
        after += sum * sum;
      }
      for (const float value : x) before += static_cast<double>(value) * value;
      EXPECT_GT(after / before, 0.6 * 0.6) << rows << " x " << columns;
      EXPECT_LT(after / before, 1.3 * 1.3) << rows << " x " << columns;
    }
  }
}

TEST(Orthogonal, AScaleOrATransposeChangesNothingElse) {
  ThreadPool pool(1);
  const int64_t rows = 24, columns = 40;
  std::vector<float> matrix = Random(1, rows * columns), large = matrix, turned(matrix.size());
  for (float& value : large) value *= 1024;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) turned[j * rows + i] = matrix[i * columns + j];
  }
  Orthogonalize(rows, columns, matrix.data(), BestKernels(), &pool);
  Orthogonalize(rows, columns, large.data(), BestKernels(), &pool);
  Orthogonalize(columns, rows, turned.data(), BestKernels(), &pool);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      EXPECT_NEAR(large[i * columns + j], matrix[i * columns + j], 1e-4);
      EXPECT_NEAR(turned[j * rows + i], matrix[i * columns + j], 1e-4);
    }
  }
}

TEST(Orthogonal, ZerosStay) {
  ThreadPool pool(1);
  std::vector<float> matrix(12, 0.0f);
  Orthogonalize(3, 4, matrix.data(), BestKernels(), &pool);
  EXPECT_EQ(matrix, std::vector<float>(12, 0.0f));
}

TEST(Orthogonal, ThreadsAndInstructionSetsChangeNoBit) {
  ThreadPool one(1), three(3);
  const std::vector<float> matrix = Random(1, 96 * 50);
  std::vector<float> expected = matrix;
  Orthogonalize(96, 50, expected.data(), *PlainKernels(), &one);
  for (const Kernels* kernels : AvailableKernels()) {
    for (ThreadPool* pool : {&one, &three}) {
      std::vector<float> values = matrix;
      Orthogonalize(96, 50, values.data(), *kernels, pool);
      EXPECT_EQ(values, expected);
    }
  }
}

}  // namespace
}  // namespace hone
