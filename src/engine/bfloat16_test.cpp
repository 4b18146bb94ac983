#include "engine/bfloat16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"

namespace hone {
namespace {

TEST(Bfloat16, RoundsToNearestTiesToEven) {
  EXPECT_EQ(RoundToBf16(1.0f), 1.0f);
  EXPECT_EQ(RoundToBf16(1.0f + 0x1p-8f), 1.0f) << "a tie goes to the even neighbour";
  EXPECT_EQ(RoundToBf16(1.0f + 0x1.8p-7f), 1.0f + 0x1p-6f) << "a tie goes to the even neighbour";
  EXPECT_EQ(RoundToBf16(1.0f + 0x1.1p-8f), 1.0f + 0x1p-7f);
  EXPECT_EQ(RoundToBf16(std::numeric_limits<float>::max()), INFINITY);
  EXPECT_EQ(RoundToBf16(-0.0f), 0.0f);
  EXPECT_TRUE(std::signbit(RoundToBf16(-0.0f)));
  EXPECT_TRUE(std::isnan(RoundToBf16(NAN)));
  EXPECT_EQ(RoundToBf16(-INFINITY), -INFINITY);
}

TEST(Bfloat16, IsNeverFartherThanHalfAStep) {
  Rng rng(1);
  for (int i = 0; i < 100000; ++i) {
    const auto value = static_cast<float>(rng.NextNormal());
    EXPECT_LE(std::abs(RoundToBf16(value) - value), std::abs(value) * 0x1p-8f);
  }
}

// Every finite half-precision number, by its definition.
TEST(Float16, WidensExactly) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = static_cast<int>(bits >> 10 & 0x1F),
              fraction = static_cast<int>(bits & 0x3FF);
    const float widened = FloatOfF16(static_cast<uint16_t>(bits));
    if (exponent == 0x1F) {
      EXPECT_EQ(std::isnan(widened), fraction != 0);
      continue;
    }
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    EXPECT_EQ(widened, (bits & 0x8000) != 0 ? -magnitude : magnitude);
  }
}

}  // namespace
}  // namespace hone
