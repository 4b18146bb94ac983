#include "engine/layers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/rng.h"

namespace hone {
namespace {

std::vector<float> Random(uint64_t seed, size_t count) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.NextNormal());
  return values;
}

// The derivative of f with respect to values[i], numerically.
double Slope(std::vector<float>* values, size_t i, const std::function<double()>& f) {
  constexpr float kStep = 1e-2f;
  const float at = (*values)[i];
  (*values)[i] = at + kStep;
  const double up = f();
  (*values)[i] = at - kStep;
  const double down = f();
  (*values)[i] = at;
  return (up - down) / (2.0 * kStep);
}

double Dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

TEST(Layers, RmsNormGradientEqualsFiniteDifferences) {
  constexpr size_t kSize = 21;
  std::vector<float> x = Random(1, kSize), weight = Random(2, kSize), y(kSize), dx(kSize),
                     dweight(kSize);
  const std::vector<float> dy = Random(3, kSize);
  auto f = [&] {
    RmsNorm(x.data(), weight.data(), kSize, 1e-5f, y.data());
    return Dot(y, dy);
  };
  const float scale = RmsNorm(x.data(), weight.data(), kSize, 1e-5f, y.data());
  RmsNormBackward(x.data(), weight.data(), scale, dy.data(), kSize, dx.data(), dweight.data());
  for (size_t i = 0; i < kSize; ++i) {
    EXPECT_NEAR(dx[i], Slope(&x, i, f), 2e-3);
    EXPECT_NEAR(dweight[i], Slope(&weight, i, f), 2e-3);
  }
}

TEST(Layers, SwiGluGradientEqualsFiniteDifferences) {
  constexpr size_t kSize = 19;
  std::vector<float> gate = Random(4, kSize), up = Random(5, kSize), y(kSize), dgate(kSize),
                     dup(kSize);
  const std::vector<float> dy = Random(6, kSize);
  auto f = [&] {
    SwiGlu(gate.data(), up.data(), kSize, y.data());
    return Dot(y, dy);
  };
  SwiGluBackward(gate.data(), up.data(), dy.data(), kSize, dgate.data(), dup.data());
  for (size_t i = 0; i < kSize; ++i) {
    EXPECT_NEAR(dgate[i], Slope(&gate, i, f), 2e-3);
    EXPECT_NEAR(dup[i], Slope(&up, i, f), 2e-3);
  }
}

TEST(Layers, RotatingBackUndoesTheRotationAndAnglesAreRelative) {
  ModelConfig config;
  config.head_dim = 16;
  const RopeTable table(config, 64);
  const std::vector<float> original = Random(7, 16), other = Random(8, 16);
  std::vector<float> head = original;
  table.Rotate(37, head.data());
  table.Rotate(37, head.data(), true);
  for (size_t i = 0; i < 16; ++i) EXPECT_NEAR(head[i], original[i], 1e-6);
  // The product of two rotated vectors depends on the distance of their positions alone.
  auto product = [&](int64_t p, int64_t q) {
    std::vector<float> a = original, b = other;
    table.Rotate(p, a.data());
    table.Rotate(q, b.data());
    return Dot(a, b);
  };
  EXPECT_NEAR(product(3, 10), product(50, 57), 1e-4);
}

}  // namespace
}  // namespace hone
