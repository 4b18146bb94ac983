#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone {

// SentencePiece's table of characters and what they are normalised to ("precompiled_charsmap"), as
// Hugging Face's tokenizers apply it. Immutable and thread-safe.
class CharMap {
 public:
  // From its base64 form. An error when the table is cut short.
  static Result<CharMap> FromBase64(std::string_view text);
  // From its bytes: the size of a double array, the double array, texts that end in a zero byte.
  static Result<CharMap> FromBytes(std::string_view bytes);

  // The text with every character, or cluster of up to five bytes, replaced as the table says. The
  // text must be UTF-8.
  std::string Apply(std::string_view text) const;

 private:
  CharMap() = default;
  std::optional<std::string_view> Find(std::string_view text) const;

  std::vector<uint32_t> units_;  // the double array
  std::string texts_;
};

// The bytes of base64 with its padding; nothing for what is none.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace hone
