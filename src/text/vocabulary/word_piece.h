#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "record/sampling.h"

namespace hone {

// BERT's WordPiece model: a word is cut into the longest token that it begins with, then the
// longest that goes on, which is spelled with a prefix. A word that cannot be cut so is one unknown
// token. Immutable and thread-safe.
class WordPiece {
 public:
  struct Options {
    TokenId unknown = -1;
    std::string prefix = "##";      // of tokens that go on inside a word
    int64_t most_characters = 100;  // of a word; a longer one is unknown
  };
  // token_texts[id] is how a token is spelled, "" for an id without one. Fails without an unknown
  // token.
  static Result<WordPiece> Create(std::vector<std::string> token_texts, Options options);

  // Appends the ids of one word, which must be UTF-8.
  void Encode(std::string_view word, std::vector<TokenId>* ids) const;

  const std::vector<std::string>& token_texts() const { return token_texts_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using IdsByText = std::unordered_map<std::string, TokenId, Hash, std::equal_to<>>;
  // The longest token that `text` begins with, as its length and id; no length where there is none.
  struct Found {
    size_t length = 0;
    TokenId id = -1;
  };
  static Found LongestIn(const IdsByText& tokens, size_t longest, std::string_view text);

  std::vector<std::string> token_texts_;
  Options options_;
  IdsByText first_, later_;                       // later_: without the prefix
  size_t longest_first_ = 0, longest_later_ = 0;  // bytes
};

}  // namespace hone
