#include "tools/text_embedder.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/check.h"

namespace hone {

double CosineSimilarity(std::span<const float> a, std::span<const float> b) {
  CHECK(a.size() == b.size(), "vectors of different lengths");
  double inner = 0, squares_a = 0, squares_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i];
    inner += x * y;
    squares_a += x * x;
    squares_b += y * y;
  }
  if (squares_a == 0 || squares_b == 0) return 0;
  return inner / std::sqrt(squares_a * squares_b);
}

Json VectorJson(std::span<const float> vector) {
  Json::Array numbers;
  numbers.reserve(vector.size());
  for (const float x : vector) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, x).ptr;
    double shortest = x;
    std::from_chars(digits, end, shortest);
    numbers.emplace_back(shortest);
  }
  return Json(std::move(numbers));
}

std::vector<SimilarVector> MostSimilar(std::span<const float> query,
                                       std::span<const std::vector<float>> vectors, size_t most) {
  std::vector<SimilarVector> similar;
  similar.reserve(vectors.size());
  for (size_t i = 0; i < vectors.size(); ++i) {
    similar.push_back({i, CosineSimilarity(query, vectors[i])});
  }
  const auto likest = similar.begin() + static_cast<std::ptrdiff_t>(std::min(most, similar.size()));
  std::partial_sort(similar.begin(), likest, similar.end(),
                    [](const SimilarVector& a, const SimilarVector& b) {
                      if (a.similarity != b.similarity) return a.similarity > b.similarity;
                      return a.index < b.index;
                    });
  similar.erase(likest, similar.end());
  return similar;
}

}  // namespace hone
