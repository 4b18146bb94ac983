#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "record/sampling.h"

namespace hone {

// POST /v1/embeddings
struct EmbeddingRequest {
  // A text, or the tokens of one as the model gets them.
  using Input = std::variant<std::string, std::vector<TokenId>>;

  std::string model;
  std::vector<Input> inputs;
  bool base64 = false;                // vectors as bytes, not as numbers
  std::optional<int64_t> dimensions;  // that the client wants vectors to have
};

inline constexpr size_t kMostEmbeddings = 2048;

// "input" is a text, a list of texts, a list of tokens, or a list of such lists. Errors begin with
// the parameter: "input: ...".
Result<EmbeddingRequest> ReadEmbeddingRequest(std::string_view body);

}  // namespace hone
