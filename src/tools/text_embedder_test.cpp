#include "tools/text_embedder.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(TextEmbedder, TheCosineIsOfDirectionsAlone) {
  const std::vector<float> a = {1, 0}, b = {3, 4}, zero = {0, 0};
  EXPECT_DOUBLE_EQ(CosineSimilarity(a, b), 0.6);
  EXPECT_DOUBLE_EQ(CosineSimilarity(b, b), 1);
  EXPECT_EQ(CosineSimilarity(a, zero), 0);
}

TEST(TextEmbedder, TheLikestComeFirstAndOfEqualsTheEarlier) {
  const std::vector<std::vector<float>> vectors = {{0, 1}, {2, 0}, {-1, 0}, {1, 0}, {1, 1}};
  const auto similar = MostSimilar(std::vector<float>{1, 0}, vectors, 3);
  ASSERT_EQ(similar.size(), 3u);
  EXPECT_EQ(similar[0].index, 1u);
  EXPECT_EQ(similar[1].index, 3u);
  EXPECT_EQ(similar[2].index, 4u);
  EXPECT_EQ(MostSimilar(std::vector<float>{1, 0}, vectors, 99).size(), 5u);
}

TEST(TextEmbedder, AVectorIsWrittenWithFewDigitsAndComesBackAsItWas) {
  const std::vector<float> vector = {0.1f, -1.0f / 3.0f, 1e-30f, 0};
  const std::string text = DumpJson(VectorJson(vector));
  EXPECT_EQ(text, "[0.1,-0.33333334,1e-30,0.0]");
  const Json read = ParseJson(text).value();
  for (size_t i = 0; i < vector.size(); ++i) {
    EXPECT_EQ(static_cast<float>(read.AsArray()[i].AsDouble()), vector[i]);
  }
}

}  // namespace
}  // namespace hone
