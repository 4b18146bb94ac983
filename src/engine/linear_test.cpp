#include "engine/linear.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "engine/bfloat16.h"

namespace hone {
namespace {

std::vector<float> Random(uint64_t seed, int64_t count) {
  Rng rng(seed);
  std::vector<float> values = PaddedBuffer(count);
  for (int64_t i = 0; i < count; ++i) values[i] = RoundToBf16(static_cast<float>(rng.NextNormal()));
  return values;
}

// Shapes that are no multiples of anything, against sums in double.
TEST(Linear, ForwardAndBothGradientsAreTheSumsTheyClaimToBe) {
  ThreadPool pool(2);
  for (const auto& [rows, outputs, inputs] :
       {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1}, {3, 17, 5}, {9, 40, 33}, {5, 16, 64}}) {
    const auto w = Random(1, outputs * inputs), x = Random(2, rows * inputs),
               dy = Random(3, rows * outputs);
    for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
      const PackedLinear linear({w.data(), static_cast<size_t>(outputs * inputs)}, outputs, inputs,
                                precision);
      std::vector<float> y = PaddedBuffer(rows * outputs), dx = PaddedBuffer(rows * inputs),
                         dw = PaddedBuffer(outputs * inputs);
      linear.Forward(x.data(), rows, y.data(), BestKernels(), &pool);
      linear.BackwardInput(dy.data(), rows, dx.data(), BestKernels(), &pool);
      AddWeightGradient(dy.data(), x.data(), rows, outputs, inputs, dw.data(), BestKernels(),
                        &pool);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t n = 0; n < outputs; ++n) {
          double sum = 0;
          for (int64_t k = 0; k < inputs; ++k)
            sum += static_cast<double>(x[r * inputs + k]) * w[n * inputs + k];
          EXPECT_NEAR(y[r * outputs + n], sum, 1e-4);
        }
        for (int64_t k = 0; k < inputs; ++k) {
          double sum = 0;
          for (int64_t n = 0; n < outputs; ++n)
            sum += static_cast<double>(dy[r * outputs + n]) * w[n * inputs + k];
          EXPECT_NEAR(dx[r * inputs + k], sum, 1e-4);
        }
      }
      for (int64_t n = 0; n < outputs; ++n) {
        for (int64_t k = 0; k < inputs; ++k) {
          double sum = 0;
          for (int64_t r = 0; r < rows; ++r)
            sum += static_cast<double>(dy[r * outputs + n]) * x[r * inputs + k];
          EXPECT_NEAR(dw[n * inputs + k], sum, 1e-4);
        }
      }
    }
  }
}

TEST(Linear, GradientsAreAddedToWhatIsThere) {
  ThreadPool pool(1);
  const std::vector<float> w = {2};
  const PackedLinear linear(w, 1, 1, Precision::kF32);
  std::vector<float> dy = PaddedBuffer(1), dx = PaddedBuffer(1);
  dy[0] = 3;
  dx[0] = 100;
  linear.BackwardInput(dy.data(), 1, dx.data(), BestKernels(), &pool);
  EXPECT_EQ(dx[0], 106);
}

}  // namespace
}  // namespace hone
