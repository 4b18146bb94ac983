#include "engine/kernels/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone {
namespace {

TEST(Reduce, TheExponentialIsAccurateAndEndsInZero) {
  for (double x = -87; x < 88; x += 0.00371) {
    EXPECT_NEAR(
        ExpF32(static_cast<float>(x)) / std::exp(static_cast<double>(static_cast<float>(x))), 1,
        3e-7);
  }
  EXPECT_EQ(ExpF32(-std::numeric_limits<float>::infinity()), 0.0f);
  EXPECT_EQ(ExpF32(0), 1.0f);
}

TEST(Reduce, SumsEveryElementOnce) {
  for (int64_t count = 0; count < 70; ++count) {
    EXPECT_EQ(StridedSum(count, [](int64_t i) { return static_cast<float>(i); }),
              static_cast<float>(count * (count - 1) / 2));
  }
}

}  // namespace
}  // namespace hone
