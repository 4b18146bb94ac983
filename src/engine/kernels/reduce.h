#pragma once

#include <bit>
#include <cstdint>

namespace hone {

// Sums and exponentials of float32 that are the same bits on every machine: written with +, -, *
// alone and compiled for the baseline, so that whatever the compiler makes of them rounds alike.

// The sum of f(0) ... f(count - 1): 16 strided partial sums, joined in one fixed tree.
template <typename F>
float StridedSum(int64_t count, F f) {
  float partial[16] = {};
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    for (int lane = 0; lane < 16; ++lane) partial[lane] += f(i + lane);
  }
  for (int lane = 0; i < count; ++i, ++lane) partial[lane] += f(i);
  for (int step = 8; step > 0; step /= 2) {
    for (int lane = 0; lane < step; ++lane) partial[lane] += partial[lane + step];
  }
  return partial[0];
}

// e^x with a relative error of about 1e-7; 0 for x below -87.3, minus infinity included.
inline float ExpF32(float x) {
  if (x != x) return x;  // not-a-number stays one
  if (!(x > -87.3f)) return 0;
  if (x > 88.0f) x = 88.0f;
  // Adding 1.5 * 2^23 leaves the nearest whole number in the low bits.
  constexpr float kRound = 12582912.0f;
  const float shifted = x * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts
  float series = 1.9875691500e-4f;
  series = series * r + 1.3981999507e-3f;
  series = series * r + 8.3334519073e-3f;
  series = series * r + 4.1665795894e-2f;
  series = series * r + 1.6666665459e-1f;
  series = series * r + 5.0000001201e-1f;
  series = series * r * r + r + 1.0f;
  const auto exponent = static_cast<uint32_t>(static_cast<int32_t>(n) + 127);
  return series * std::bit_cast<float>(exponent << 23);
}

}  // namespace hone
