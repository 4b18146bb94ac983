#include "engine/rope.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace hone {
namespace {

std::vector<float> Random(uint64_t seed, size_t count) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.NextNormal());
  return values;
}

double Dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

TEST(Rope, RotatingBackUndoesTheRotationAndAnglesAreRelative) {
  ModelConfig config;
  config.head_dim = 16;
  RopeTable table(config);
  table.Reach(20);
  table.Reach(64);
  const Kernels& k = BestKernels();
  const std::vector<float> original = Random(7, 16), other = Random(8, 16);
  std::vector<float> head = original;
  table.Rotate(37, head.data(), k);
  table.Rotate(37, head.data(), k, true);
  for (size_t i = 0; i < 16; ++i) EXPECT_NEAR(head[i], original[i], 1e-6);
  // The product of two rotated vectors depends on the distance of their positions alone.
  auto product = [&](int64_t p, int64_t q) {
    std::vector<float> a = original, b = other;
    table.Rotate(p, a.data(), k);
    table.Rotate(q, b.data(), k);
    return Dot(a, b);
  };
  EXPECT_NEAR(product(3, 10), product(50, 57), 1e-4);
}

}  // namespace
}  // namespace hone
