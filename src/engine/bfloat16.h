#pragma once

#include <bit>
#include <cstdint>

namespace hone {

// bfloat16: the upper half of a float32. Kept as its bits; arithmetic is done in float32.
using Bf16 = uint16_t;

inline float FloatOfBf16(Bf16 bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Rounds to nearest, ties to even. Not-a-number stays one.
inline Bf16 Bf16OfFloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<Bf16>(bits >> 16 | 0x40);
  return static_cast<Bf16>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// The nearest value that bfloat16 can hold.
inline float RoundToBf16(float value) { return FloatOfBf16(Bf16OfFloat(value)); }

// IEEE half precision, for reading and writing checkpoints only.
inline float FloatOfF16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1F, fraction = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  // Subnormal: fraction times 2^-24, exact in float32.
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

// Rounds to nearest, ties to even; what is too large becomes infinite. Not-a-number stays one.
inline uint16_t F16OfFloat(float value) {
  const auto all = std::bit_cast<uint32_t>(value);
  const uint32_t sign = all >> 16 & 0x8000, bits = all & 0x7FFFFFFF;
  if (bits > 0x7F800000) return static_cast<uint16_t>(sign | 0x7E00);
  if (bits >= 0x477FF000) return static_cast<uint16_t>(sign | 0x7C00);  // 65520 and more
  if (bits < 0x38800000) {
    // Below 2^-14 halves are multiples of 2^-24, as floats from a half to one are.
    const float shifted = std::bit_cast<float>(bits) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000));
  }
  const uint32_t rounded = bits + 0xFFF + (bits >> 13 & 1);
  return static_cast<uint16_t>(sign | ((rounded >> 13) - (112 << 10)));
}

}  // namespace hone
