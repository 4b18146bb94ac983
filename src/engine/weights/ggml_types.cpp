#include "engine/weights/ggml_types.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "base/check.h"
#include "engine/bfloat16.h"
#include "engine/weights/iq2xxs_grid.h"

// Every product below is of a half with 11 bits and of two small integers, so it is exact in
// float32: the results have the same bits as ggml's, whatever the order and with or without fused
// instructions.

namespace hone {
namespace {

constexpr int kSmall = 32;   // numbers of a plain block
constexpr int kSuper = 256;  // and of one with scales of its own parts

float HalfAt(const uint8_t* bytes) {
  uint16_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return FloatOfF16(bits);
}

float Scaled(float scale, int number) { return scale * static_cast<float>(number); }

void DecodeF32(const uint8_t* block, float* numbers) { std::memcpy(numbers, block, sizeof(float)); }
void DecodeF16(const uint8_t* block, float* numbers) { *numbers = HalfAt(block); }
void DecodeBf16(const uint8_t* block, float* numbers) {
  uint16_t bits;
  std::memcpy(&bits, block, sizeof bits);
  *numbers = FloatOfBf16(bits);
}

// --- blocks of 32: a scale, then integers --------------------------------------------------------

// Of two numbers that share a byte, the second is half a block further on.
int Nibble(const uint8_t* nibbles, int i) {
  return i < kSmall / 2 ? nibbles[i] & 15 : nibbles[i - kSmall / 2] >> 4;
}

void DecodeQ4_0(const uint8_t* block, float* numbers) {
  const float scale = HalfAt(block);
  for (int i = 0; i < kSmall; ++i) numbers[i] = Scaled(scale, Nibble(block + 2, i) - 8);
}

// The fifth bits come first, one after the other.
void DecodeQ5_0(const uint8_t* block, float* numbers) {
  const float scale = HalfAt(block);
  const uint8_t* fifth = block + 2;
  for (int i = 0; i < kSmall; ++i) {
    const int high = (fifth[i / 8] >> i % 8 & 1) << 4;
    numbers[i] = Scaled(scale, (Nibble(block + 6, i) | high) - 16);
  }
}

void DecodeQ8_0(const uint8_t* block, float* numbers) {
  const float scale = HalfAt(block);
  for (int i = 0; i < kSmall; ++i) {
    numbers[i] = Scaled(scale, static_cast<int8_t>(block[2 + i]));
  }
}

// --- blocks of 256: parts of 16 or 32 with scales of their own -----------------------------------

// Where the two low bits of number i lie in Q2_K and Q3_K: halves of 128 numbers in 32 bytes each,
// of which the first 32 numbers are the lowest bits.
int TwoBits(const uint8_t* packed, int i) {
  return packed[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
}

void DecodeQ2_K(const uint8_t* block, float* numbers) {
  const uint8_t *scales = block, *packed = block + 16;
  const float scale = HalfAt(block + 80), least = HalfAt(block + 82);
  for (int i = 0; i < kSuper; ++i) {
    const uint8_t own = scales[i / 16];
    numbers[i] =
        Scaled(scale, own & 15) * static_cast<float>(TwoBits(packed, i)) - Scaled(least, own >> 4);
  }
}

// The scale of part `part` of 16: six bits, the lower four in the first eight bytes, the upper two
// in the last four.
int SixBitScale(const uint8_t* scales, int part) {
  const int low = part < 8 ? scales[part] & 15 : scales[part - 8] >> 4;
  return low | (scales[8 + part % 4] >> part / 4 * 2 & 3) << 4;
}

void DecodeQ3_K(const uint8_t* block, float* numbers) {
  const uint8_t *third = block, *packed = block + 32, *scales = block + 96;
  const float scale = HalfAt(block + 108);
  for (int i = 0; i < kSuper; ++i) {
    const int high = third[i % 32] >> i / 32 & 1;
    const int number = (TwoBits(packed, i) | high << 2) - 4;
    numbers[i] = Scaled(scale, SixBitScale(scales, i / 16) - 32) * static_cast<float>(number);
  }
}

// Scale and offset of part `part` of 8, six bits each: the first four parts have bytes of their
// own, whose two upper bits belong to the last four.
struct ScaleAndOffset {
  int scale, offset;
};
ScaleAndOffset PartOf(const uint8_t* scales, int part) {
  if (part < 4) return {scales[part] & 63, scales[part + 4] & 63};
  return {(scales[part + 4] & 15) | scales[part - 4] >> 6 << 4,
          scales[part + 4] >> 4 | scales[part] >> 6 << 4};
}

// Q4_K, and Q5_K where `fifth` has the highest bits.
void DecodeFourOrFive(const uint8_t* block, const uint8_t* fifth, const uint8_t* packed,
                      float* numbers) {
  const float scale = HalfAt(block), least = HalfAt(block + 2);
  for (int part = 0; part < 8; ++part) {
    const ScaleAndOffset own = PartOf(block + 4, part);
    const float step = Scaled(scale, own.scale), offset = Scaled(least, own.offset);
    for (int i = 0; i < 32; ++i) {
      int number = packed[part / 2 * 32 + i] >> part % 2 * 4 & 15;
      if (fifth != nullptr) number |= (fifth[i] >> part & 1) << 4;
      numbers[part * 32 + i] = Scaled(step, number) - offset;
    }
  }
}

void DecodeQ4_K(const uint8_t* block, float* numbers) {
  DecodeFourOrFive(block, nullptr, block + 16, numbers);
}
void DecodeQ5_K(const uint8_t* block, float* numbers) {
  DecodeFourOrFive(block, block + 16, block + 48, numbers);
}

// Halves of 128 numbers: 64 bytes of lower bits, of which the first 64 numbers are the lower
// nibbles, and 32 bytes of upper bits.
void DecodeQ6_K(const uint8_t* block, float* numbers) {
  const uint8_t *low = block, *high = block + 128, *scales = block + 192;
  const float scale = HalfAt(block + 208);
  for (int i = 0; i < kSuper; ++i) {
    const int half = i / 128, at = i % 128;
    const int lower = low[half * 64 + at % 64] >> at / 64 * 4 & 15;
    const int upper = high[half * 32 + at % 32] >> at / 32 * 2 & 3;
    const float step = Scaled(scale, static_cast<int8_t>(scales[i / 16]));
    numbers[i] = Scaled(step, (lower | upper << 4) - 32);
  }
}

// Parts of 32 numbers in eight bytes: four places in the codebook, then four times seven signs and
// four bits of scale. The eighth sign of a group makes the number of minus signs even.
void DecodeIq2Xxs(const uint8_t* block, float* numbers) {
  const float scale = HalfAt(block);
  for (int part = 0; part < 8; ++part) {
    const uint8_t* places = block + 2 + 8 * part;
    uint32_t rest;
    std::memcpy(&rest, places + 4, sizeof rest);
    const float step = scale * (0.5f + static_cast<float>(rest >> 28)) * 0.25f;
    for (int group = 0; group < 4; ++group) {
      uint32_t signs = rest >> 7 * group & 127;
      signs |= static_cast<uint32_t>(std::popcount(signs) & 1) << 7;
      const uint64_t magnitudes = kIq2XxsGrid[places[group]];
      for (int i = 0; i < 8; ++i) {
        const float number = Scaled(step, static_cast<int>(magnitudes >> 8 * i & 255));
        numbers[part * 32 + group * 8 + i] = (signs >> i & 1) != 0 ? -number : number;
      }
    }
  }
}

constexpr GgmlType Other(uint32_t number) { return static_cast<GgmlType>(number); }

// Types without a decoder are here so that a file that holds one can be looked at.
constexpr GgmlTypeLayout kLayouts[] = {
    {GgmlType::kF32, "F32", 1, 4, DecodeF32},
    {GgmlType::kF16, "F16", 1, 2, DecodeF16},
    {GgmlType::kBF16, "BF16", 1, 2, DecodeBf16},
    {GgmlType::kQ4_0, "Q4_0", kSmall, 18, DecodeQ4_0},
    {GgmlType::kQ5_0, "Q5_0", kSmall, 22, DecodeQ5_0},
    {GgmlType::kQ8_0, "Q8_0", kSmall, 34, DecodeQ8_0},
    {GgmlType::kQ2_K, "Q2_K", kSuper, 84, DecodeQ2_K},
    {GgmlType::kQ3_K, "Q3_K", kSuper, 110, DecodeQ3_K},
    {GgmlType::kQ4_K, "Q4_K", kSuper, 144, DecodeQ4_K},
    {GgmlType::kQ5_K, "Q5_K", kSuper, 176, DecodeQ5_K},
    {GgmlType::kQ6_K, "Q6_K", kSuper, 210, DecodeQ6_K},
    {GgmlType::kIq2Xxs, "IQ2_XXS", kSuper, 66, DecodeIq2Xxs},
    {Other(3), "Q4_1", kSmall, 20},
    {Other(7), "Q5_1", kSmall, 24},
    {Other(9), "Q8_1", kSmall, 36},
    {Other(15), "Q8_K", kSuper, 292},
    {Other(17), "IQ2_XS", kSuper, 74},
    {Other(18), "IQ3_XXS", kSuper, 98},
    {Other(19), "IQ1_S", kSuper, 50},
    {Other(20), "IQ4_NL", kSmall, 18},
    {Other(21), "IQ3_S", kSuper, 110},
    {Other(22), "IQ2_S", kSuper, 82},
    {Other(23), "IQ4_XS", kSuper, 136},
    {Other(24), "I8", 1, 1},
    {Other(25), "I16", 1, 2},
    {Other(26), "I32", 1, 4},
    {Other(27), "I64", 1, 8},
    {Other(28), "F64", 1, 8},
    {Other(29), "IQ1_M", kSuper, 56},
    {Other(34), "TQ1_0", kSuper, 54},
    {Other(35), "TQ2_0", kSuper, 66},
    {Other(39), "MXFP4", kSmall, 17},
};

constexpr float kLargestHalf = 65504;
constexpr float kLargestByte = 127;

void EncodeQ8_0(std::span<const float> numbers, uint8_t* block) {
  float largest = 0;
  for (const float number : numbers) largest = std::max(largest, std::fabs(number));
  // The integers are of the scale before it is rounded to a half, as ggml has it.
  // Numbers so small that it has no inverse are zeros.
  const float scale = largest / kLargestByte;
  const float inverse = scale != 0 && std::isfinite(1 / scale) ? 1 / scale : 0;
  const uint16_t bits = F16OfFloat(scale);
  std::memcpy(block, &bits, sizeof bits);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto integer = static_cast<int8_t>(std::round(numbers[i] * inverse));
    block[2 + i] = static_cast<uint8_t>(integer);
  }
}

}  // namespace

const GgmlTypeLayout* FindGgmlType(uint32_t number) {
  const auto* found = std::find_if(std::begin(kLayouts), std::end(kLayouts), [&](const auto& l) {
    return static_cast<uint32_t>(l.type) == number;
  });
  return found == std::end(kLayouts) ? nullptr : found;
}

const GgmlTypeLayout& LayoutOf(GgmlType type) {
  const GgmlTypeLayout* layout = FindGgmlType(static_cast<uint32_t>(type));
  CHECK(layout != nullptr, "not a type of ggml");
  return *layout;
}

void Dequantise(const GgmlTypeLayout& layout, std::span<const std::byte> blocks,
                std::span<float> numbers) {
  CHECK(layout.decode != nullptr, "a type without a decoder");
  const auto block = static_cast<size_t>(layout.block), count = numbers.size() / block;
  CHECK(count * block == numbers.size() && count * layout.bytes == blocks.size());
  if (layout.type == GgmlType::kF32 && count > 0) {
    std::memcpy(numbers.data(), blocks.data(), blocks.size());
    return;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(blocks.data());
  for (size_t i = 0; i < count; ++i) {
    layout.decode(bytes + i * layout.bytes, numbers.data() + i * block);
  }
}

std::vector<std::byte> Quantise(GgmlType type, std::span<const float> numbers) {
  const GgmlTypeLayout& layout = LayoutOf(type);
  const auto block = static_cast<size_t>(layout.block), count = numbers.size() / block;
  CHECK(count * block == numbers.size(), "numbers that do not fill whole blocks");
  std::vector<std::byte> blocks(count * layout.bytes);
  auto* out = reinterpret_cast<uint8_t*>(blocks.data());
  for (size_t i = 0; i < count; ++i, out += layout.bytes) {
    const float first = numbers[i * block];
    if (type == GgmlType::kQ8_0) {
      EncodeQ8_0(numbers.subspan(i * block, block), out);
    } else if (type == GgmlType::kF32) {
      std::memcpy(out, &first, sizeof first);
    } else {
      CHECK(type == GgmlType::kF16 || type == GgmlType::kBF16, "a type that Hone does not write");
      const uint16_t bits = type == GgmlType::kF16 ? F16OfFloat(first) : Bf16OfFloat(first);
      std::memcpy(out, &bits, sizeof bits);
    }
  }
  return blocks;
}

float LargestOf(GgmlType type) {
  if (type == GgmlType::kF16) return kLargestHalf;
  if (type == GgmlType::kQ8_0) return kLargestHalf * kLargestByte;
  return std::numeric_limits<float>::max() / 2;
}

}  // namespace hone
