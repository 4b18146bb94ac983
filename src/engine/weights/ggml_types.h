#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hone {

// The types of ggml's tensors that Hone names, with the numbers they have in GGUF files.
enum class GgmlType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ5_0 = 6,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kIq2Xxs = 16,
  kBF16 = 30,
};

// How a type lies in a file: blocks of some numbers, each in some bytes. A row holds whole blocks.
struct GgmlTypeLayout {
  GgmlType type = GgmlType::kF32;
  std::string_view name;  // "Q4_K", as ggml spells it, in capitals
  int64_t block = 1;      // numbers
  size_t bytes = 4;       // of a block

  // Decodes one block; null: Hone knows the size of the type only.
  void (*decode)(const uint8_t* block, float* numbers) = nullptr;
};

// The layout of the type with this number in GGUF files; null when there is no such type.
const GgmlTypeLayout* FindGgmlType(uint32_t number);
const GgmlTypeLayout& LayoutOf(GgmlType type);

// Whole blocks as float32. There must be as many bytes as the numbers take, and a decoder (CHECK).
void Dequantise(const GgmlTypeLayout& layout, std::span<const std::byte> blocks,
                std::span<float> numbers);

// Float32 as blocks of kF32, kF16, kBF16 or kQ8_0 (CHECK), with ggml's rounding. The numbers fill
// whole blocks (CHECK). What kF16 or a scale of kQ8_0 cannot hold becomes infinite: LargestOf.
std::vector<std::byte> Quantise(GgmlType type, std::span<const float> numbers);
// The largest magnitude that Quantise keeps finite.
float LargestOf(GgmlType type);

}  // namespace hone
