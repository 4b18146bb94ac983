#include "engine/weights/weights_difference.h"

#include <cstring>

#include <gtest/gtest.h>

#include "base/file.h"
#include "engine/safetensors.h"

namespace hone {
namespace {

class WeightsDifferenceTest : public testing::Test {
 protected:
  WeightsDifferenceTest() {
    Write("a", values_);
    Write("b", values_);
  }
  std::filesystem::path In(const std::string& name) const { return directory_.path() / name; }
  void Write(const std::string& folder, const std::vector<float>& values) {
    const TensorView view{
        .dtype = DType::kF32, .shape = {2, 3}, .bytes = std::as_bytes(std::span(values))};
    EXPECT_TRUE(WriteSafetensors(In(folder) / "model.safetensors", {{"first", view}, {"w", view}},
                                 {{"step", "3"}})
                    .ok());
    EXPECT_TRUE(WriteFileAtomic(In(folder) / "config.json", "{}\n").ok());
  }

  const TemporaryDirectory directory_;
  std::vector<float> values_ = {1, 2, 3, 4, 5, 6};
};

TEST_F(WeightsDifferenceTest, EqualFoldersHaveNone) {
  const WeightsComparison equal = CompareWeights(In("a"), In("b")).value();
  EXPECT_EQ(equal.difference, std::nullopt);
  EXPECT_EQ(equal.numbers, 12);
}

TEST_F(WeightsDifferenceTest, OneBitIsFoundWithItsTensorElementAndNumber) {
  // Bits all over the data, which comes last in the file.
  const std::string whole = ReadFile(In("b") / "model.safetensors").value();
  const size_t data = whole.size() - 2 * values_.size() * sizeof(float);
  for (size_t bit = 0; bit < 8 * 2 * values_.size() * sizeof(float); bit += 7) {
    std::string damaged = whole;
    damaged[data + bit / 8] = static_cast<char>(damaged[data + bit / 8] ^ (1 << bit % 8));
    ASSERT_TRUE(WriteFileAtomic(In("b") / "model.safetensors", damaged).ok());
    const auto found = CompareWeights(In("a"), In("b")).value().difference;
    ASSERT_TRUE(found) << bit;
    const auto element = static_cast<int64_t>(bit / 32 % 6);
    EXPECT_EQ(found->file, "model.safetensors");
    EXPECT_EQ(found->tensor, bit < 192 ? "first" : "w");
    EXPECT_EQ(found->element, (std::vector<int64_t>{element / 3, element % 3}));
    EXPECT_EQ(found->bit, static_cast<int>(bit % 32));
  }
}

TEST_F(WeightsDifferenceTest, IsSaidInWords) {
  values_[4] = -5;
  Write("b", values_);
  const auto found = CompareWeights(In("a"), In("b")).value().difference;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->Place(), "model.safetensors, first[1, 1], bit 31");
  EXPECT_EQ(found->derived, "5 (bits 40a00000)");
  EXPECT_EQ(found->stored, "-5 (bits c0a00000)");
}

TEST_F(WeightsDifferenceTest, FilesThatAreMissingCutOffOrOtherwiseChangedAreDifferences) {
  const auto place_after = [&](const std::string& file, std::optional<std::string> content) {
    Write("b", values_);
    if (content) {
      EXPECT_TRUE(WriteFileAtomic(In("b") / file, *content).ok());
    } else {
      std::filesystem::remove(In("b") / file);
    }
    const auto found = CompareWeights(In("a"), In("b")).value().difference;
    return found ? found->Place() : "none";
  };
  const std::string whole = ReadFile(In("a") / "model.safetensors").value();
  EXPECT_EQ(place_after("config.json", "{ }\n"), "none") << "it says the same";
  EXPECT_EQ(place_after("config.json", "{\"layers\": 3}\n"), "config.json");
  EXPECT_EQ(place_after("config.json", std::nullopt), "config.json");
  EXPECT_EQ(place_after("model.safetensors", std::nullopt), "model.safetensors");
  EXPECT_EQ(place_after("model.safetensors", whole.substr(0, whole.size() - 1)),
            "model.safetensors");
  std::string header = whole;
  header[header.find("\"3\"") + 1] = '4';  // of the metadata
  EXPECT_EQ(place_after("model.safetensors", header), "model.safetensors");
  EXPECT_FALSE(CompareWeights(In("nowhere"), In("b")).ok());
}

}  // namespace
}  // namespace hone
