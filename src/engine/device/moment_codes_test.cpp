#include "engine/device/moment_codes.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

constexpr float kScales[] = {1e-30f, 3e-4f, 1.0f, 7e12f};

TEST(MomentCodes, ACodeIsTheCodeOfWhatItStandsFor) {
  for (const float scale : kScales) {
    for (int code = 0; code < 256; ++code) {
      const auto bits = static_cast<uint8_t>(code);
      EXPECT_EQ(SecondMomentCode(SecondMomentOf(bits, scale), scale), bits);
      if (code == 128) continue;  // -128 stands for nothing
      EXPECT_EQ(FirstMomentCode(FirstMomentOf(bits, scale), scale), bits);
    }
    EXPECT_EQ(FirstMomentOf(127, scale), scale);
    EXPECT_EQ(FirstMomentOf(static_cast<uint8_t>(-127), scale), -scale);
    EXPECT_EQ(SecondMomentOf(255, scale), scale);
  }
}

TEST(MomentCodes, ANumberIsCodedByTheNearestRoot) {
  for (const float scale : kScales) {
    for (int i = 0; i <= 1000; ++i) {
      const float x = scale * static_cast<float>(i) / 1000;
      // Half a step of the root.
      const float first = std::sqrt(FirstMomentOf(FirstMomentCode(-x, scale), scale) / -scale);
      EXPECT_NEAR(first, std::sqrt(x / scale), 0.501 / 127);
      const float second = SecondMomentOf(SecondMomentCode(x, scale), scale) / scale;
      EXPECT_NEAR(std::sqrt(std::sqrt(second)), std::sqrt(std::sqrt(x / scale)), 0.501 / 255);
    }
  }
}

TEST(MomentCodes, APositiveSecondMomentStaysPositive) {
  EXPECT_EQ(SecondMomentCode(1e-20f, 1), 1);
  EXPECT_GT(SecondMomentOf(SecondMomentCode(1e-20f, 1), 1), 0);
  EXPECT_EQ(SecondMomentCode(0, 1), 0);
}

TEST(MomentCodes, ABlockOfZerosHasCodesOfZero) {
  EXPECT_EQ(FirstMomentCode(0, 0), 0);
  EXPECT_EQ(SecondMomentCode(0, 0), 0);
  EXPECT_EQ(FirstMomentOf(0, 0), 0);
  EXPECT_EQ(SecondMomentOf(0, 0), 0);
}

}  // namespace
}  // namespace hone
