#include "engine/matrix.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "engine/bfloat16.h"
#include "engine/linear.h"

namespace hone {
namespace {

std::vector<float> Random(uint64_t seed, int64_t count) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[i] = RoundToBf16(static_cast<float>(rng.NextNormal()));
  return values;
}

// Shapes that are no multiples of anything, and some larger than the blocks, against sums in
// double.
TEST(Matrix, ForwardAndBothGradientsAreTheSumsTheyClaimToBe) {
  ThreadPool pool(2);
  const Kernels& kernels = BestKernels();
  for (const auto& [rows, outputs, inputs] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                                              {3, 17, 5},
                                              {9, 40, 33},
                                              {5, 16, 64},
                                              {210, 70, 530}}) {
    const auto w = Random(1, outputs * inputs), x = Random(2, rows * inputs),
               dy = Random(3, rows * outputs);
    for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
      // As two matrices under each other.
      const int64_t upper = (outputs + 1) / 2;
      const PackedLinear::Weight weights[] = {{w.data(), upper},
                                              {w.data() + upper * inputs, outputs - upper}};
      PackedLinear linear;
      linear.Pack(weights, inputs, precision, kernels, &pool);
      linear.PackBackward(weights, kernels, &pool);
      std::vector<float> y(static_cast<size_t>(rows * outputs)),
          dx(static_cast<size_t>(rows * inputs), 1.0f), dw(static_cast<size_t>(outputs * inputs));
      linear.Forward(x.data(), rows, y.data(), kernels, &pool);
      linear.BackwardInput({dy.data(), outputs}, rows, dx.data(), kernels, &pool);
      Panels x_panels;
      x_panels.Pack({x.data(), inputs, 1, rows, inputs}, precision, kernels, &pool);
      Multiply({dy.data(), 1, outputs}, x_panels, {dw.data(), outputs, inputs, true}, kernels,
               &pool);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t n = 0; n < outputs; ++n) {
          double sum = 0;
          for (int64_t k = 0; k < inputs; ++k)
            sum += static_cast<double>(x[r * inputs + k]) * w[n * inputs + k];
          ASSERT_NEAR(y[r * outputs + n], sum, 1e-3);
        }
        for (int64_t k = 0; k < inputs; ++k) {
          double sum = 1;  // what was there
          for (int64_t n = 0; n < outputs; ++n)
            sum += static_cast<double>(dy[r * outputs + n]) * w[n * inputs + k];
          ASSERT_NEAR(dx[r * inputs + k], sum, 1e-3);
        }
      }
      for (int64_t n = 0; n < outputs; ++n) {
        for (int64_t k = 0; k < inputs; ++k) {
          double sum = 0;
          for (int64_t r = 0; r < rows; ++r)
            sum += static_cast<double>(dy[r * outputs + n]) * x[r * inputs + k];
          ASSERT_NEAR(dw[n * inputs + k], sum, 1e-3);
        }
      }
    }
  }
}

// However the work is cut, every output is the same chain.
TEST(Matrix, ThreadsAndCompanyChangeNoBit) {
  constexpr int64_t kRows = 400, kColumns = 150, kInner = 700;
  const auto a = Random(1, kRows * kInner), b = Random(2, kColumns * kInner);
  for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
    ThreadPool one(1), three(3);
    Panels panels;
    panels.Pack({b.data(), 1, kInner, kInner, kColumns}, precision, BestKernels(), &three);
    std::vector<float> alone(kRows * kColumns), threaded(kRows * kColumns), row(kColumns);
    Multiply({a.data(), kInner}, panels, {alone.data(), kRows, kColumns}, BestKernels(), &one);
    Multiply({a.data(), kInner}, panels, {threaded.data(), kRows, kColumns}, BestKernels(), &three);
    EXPECT_EQ(alone, threaded);
    for (const int64_t r : {0, 17, 399}) {
      Multiply({a.data() + r * kInner, kInner}, panels, {row.data(), 1, kColumns}, BestKernels(),
               &three);
      EXPECT_TRUE(std::equal(row.begin(), row.end(), alone.begin() + r * kColumns));
    }
  }
}

// The gradient of a head with a large vocabulary: slices of rows are summed together, and give the
// bits that they give one after the other.
TEST(Matrix, SlicesOfRowsGiveTheBitsOfOneProductAfterTheOther) {
  constexpr int64_t kOutputs = 210, kInputs = 70;
  ThreadPool pool(2);
  for (const Kernels* kernels : AvailableKernels()) {
    for (const auto& [rows, slice] :
         {std::pair<int64_t, int64_t>{700, 55}, {640, 64}, {129, 43}, {40, 55}, {33, 32}}) {
      const auto x = Random(1, rows * kInputs), dy = Random(2, rows * kOutputs);
      for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
        std::vector<float> apart = Random(3, kOutputs * kInputs), together = apart;
        Panels panels;
        for (int64_t at = 0; at < rows; at += slice) {
          const int64_t count = std::min(slice, rows - at);
          panels.Pack({x.data() + at * kInputs, kInputs, 1, count, kInputs}, precision, *kernels,
                      &pool);
          Multiply({dy.data() + at * kOutputs, 1, kOutputs}, panels,
                   {apart.data(), kOutputs, kInputs, true}, *kernels, &pool);
        }
        const Panels::Part part{x.data(), rows};
        panels.PackRows({{&part, 1}, kInputs, kInputs}, slice, precision, *kernels, &pool);
        Multiply({dy.data(), 1, kOutputs, {rows, slice}}, panels,
                 {together.data(), kOutputs, kInputs, true}, *kernels, &pool);
        EXPECT_EQ(apart, together) << kernels->name << " " << rows << " in slices of " << slice;
      }
    }
  }
}

}  // namespace
}  // namespace hone
