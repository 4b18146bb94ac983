#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// Texts as vectors: the more two vectors point into one direction, the more alike their texts are.
// What retrieval stands on, whoever makes the vectors.
class TextEmbedder {
 public:
  virtual ~TextEmbedder() = default;

  // The numbers of a vector.
  virtual int64_t dimensions() const = 0;
  // One vector per text, in their order.
  virtual Result<std::vector<std::vector<float>>> Embed(std::span<const std::string> texts) = 0;
};

// The cosine of the angle between two vectors of one length: 1 for one direction, 0 at right
// angles; 0 where a vector is zero.
double CosineSimilarity(std::span<const float> a, std::span<const float> b);

// The vectors that are most like `query`, at most `most` of them, the likest first; of equals the
// earlier.
struct SimilarVector {
  size_t index = 0;
  double similarity = 0;
};
std::vector<SimilarVector> MostSimilar(std::span<const float> query,
                                       std::span<const std::vector<float>> vectors, size_t most);

// A vector as an array of numbers, each with the fewest digits that give back its float32.
Json VectorJson(std::span<const float> vector);

}  // namespace hone
