#include "engine/weights/ggml_types.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "engine/bfloat16.h"

namespace hone {
namespace {

const std::filesystem::path kGolden = std::filesystem::path(HONE_SOURCE_DIR) / "tests/golden/gguf";

std::vector<std::byte> BytesOf(const Json& hex) {
  std::vector<std::byte> bytes;
  const std::string& text = hex.AsString();
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoul(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// Eight digits per number: its bits.
std::vector<float> FloatsOf(const Json& hex) {
  std::vector<float> floats;
  const std::string& text = hex.AsString();
  for (size_t i = 0; i + 7 < text.size(); i += 8) {
    const auto bits = static_cast<uint32_t>(std::stoul(text.substr(i, 8), nullptr, 16));
    floats.push_back(std::bit_cast<float>(bits));
  }
  return floats;
}

std::vector<Json> GoldenOf(const std::string& name) {
  auto text = ReadFile(kGolden / (name + ".jsonl"));
  EXPECT_TRUE(text.ok()) << name;
  return *ParseJsonLines(*text);
}

constexpr const char* kDecoded[] = {"f32",  "f16",  "bf16", "q8_0", "q4_0", "q5_0",
                                    "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq2_xxs"};

TEST(GgmlTypes, BlocksDecodeToTheBitsThatGgmlDecodesThemTo) {
  for (const char* name : kDecoded) {
    const std::vector<Json> rows = GoldenOf(name);
    ASSERT_EQ(rows.size(), 4u) << name;
    for (const Json& row : rows) {
      const auto* layout = FindGgmlType(static_cast<uint32_t>(row.Find("id")->AsInteger()));
      ASSERT_NE(layout, nullptr) << name;
      const std::vector<float> expected = FloatsOf(*row.Find("floats"));
      std::vector<float> decoded(expected.size());
      Dequantise(*layout, BytesOf(*row.Find("blocks")), decoded);
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(std::bit_cast<uint32_t>(decoded[i]), std::bit_cast<uint32_t>(expected[i]))
            << name << " " << i << ": " << decoded[i] << ", not " << expected[i];
      }
    }
  }
}

TEST(GgmlTypes, NumbersBecomeTheBlocksThatGgmlMakesOfThem) {
  for (const char* name : {"f16", "bf16", "q8_0"}) {
    int compared = 0;
    for (const Json& row : GoldenOf(name)) {
      if (row.Find("from") == nullptr) continue;
      const auto type = static_cast<GgmlType>(row.Find("id")->AsInteger());
      EXPECT_EQ(Quantise(type, FloatsOf(*row.Find("from"))), BytesOf(*row.Find("blocks"))) << name;
      ++compared;
    }
    EXPECT_EQ(compared, 3) << name;
  }
}

TEST(GgmlTypes, QuantisedNumbersComeBackWithinHalfAStep) {
  Rng rng(3);
  std::vector<float> numbers(32 * 64);
  for (float& number : numbers) number = static_cast<float>(rng.NextNormal());
  std::vector<float> again(numbers.size());
  Dequantise(LayoutOf(GgmlType::kQ8_0), Quantise(GgmlType::kQ8_0, numbers), again);
  for (size_t block = 0; block < numbers.size(); block += 32) {
    float largest = 0;
    for (size_t i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(numbers[block + i]));
    for (size_t i = 0; i < 32; ++i) {
      EXPECT_NEAR(again[block + i], numbers[block + i], largest / 127 * 0.57f);
    }
  }
  Dequantise(LayoutOf(GgmlType::kF16), Quantise(GgmlType::kF16, numbers), again);
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_NEAR(again[i], numbers[i], std::fabs(numbers[i]) / 2048 + 0x1p-25f);
  }
}

TEST(GgmlTypes, EveryHalfIsWrittenAsItWasRead) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = FloatOfF16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(F16OfFloat(value), bits);
    // Halfway to the next one, to the even of the two.
    const float next = FloatOfF16(static_cast<uint16_t>(bits + 1));
    if (!std::isfinite(value) || !std::isfinite(next) || (bits & 0x7FFF) == 0x7FFF) continue;
    ASSERT_EQ(F16OfFloat((value + next) / 2), bits + (bits & 1));
  }
  EXPECT_EQ(F16OfFloat(65519.f), 0x7BFF);
  EXPECT_EQ(F16OfFloat(65520.f), 0x7C00);
  EXPECT_TRUE(std::isnan(FloatOfF16(F16OfFloat(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(GgmlTypes, ATypeThatNobodyKnowsIsNotFound) {
  EXPECT_EQ(FindGgmlType(4), nullptr);
  EXPECT_EQ(FindGgmlType(0xFFFFFFFF), nullptr);
  EXPECT_EQ(FindGgmlType(19)->decode, nullptr);
  EXPECT_EQ(LayoutOf(GgmlType::kQ6_K).name, "Q6_K");
}

}  // namespace
}  // namespace hone
