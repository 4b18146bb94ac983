#include "base/exact_math.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace hone {
namespace {

TEST(ExactMath, AgreesWithLibmToAFewUnitsInTheLastPlace) {
  Rng rng(5);
  for (int i = 0; i < 20000; ++i) {
    const double x = std::ldexp(1 + rng.NextDouble(), static_cast<int>(rng.Below(600)) - 300);
    EXPECT_NEAR(NaturalLog(x), std::log(x), 4e-16 * std::max(1.0, std::abs(std::log(x))));
    const double y = 1400 * (rng.NextDouble() - 0.5);
    EXPECT_NEAR(Exponential(y) / std::exp(y), 1, 1e-15);
    const double z = 40000 * (rng.NextDouble() - 0.5);
    double sine = 0, cosine = 0;
    SineCosine(z, &sine, &cosine);
    EXPECT_NEAR(sine, std::sin(z), 1e-15);
    EXPECT_NEAR(cosine, std::cos(z), 1e-15);
  }
}

TEST(ExactMath, EndsOfTheRange) {
  EXPECT_EQ(Exponential(0), 1);
  EXPECT_EQ(Exponential(-1000), 0);
  EXPECT_TRUE(std::isinf(Exponential(1000)));
  EXPECT_EQ(NaturalLog(1), 0);
}

}  // namespace
}  // namespace hone
