#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "record/sampling.h"

namespace hone {

// SentencePiece's Unigram model: of all ways to cut a piece into tokens, the one whose scores have
// the largest sum. Immutable and thread-safe.
class Unigram {
 public:
  struct Options {
    TokenId unknown = -1;        // for characters without a token; -1: there is none
    bool byte_fallback = false;  // the tokens "<0x00>" to "<0xFF>" instead, if they exist
  };
  // token_texts[id] is how a token is spelled, scores[id] the logarithm of its probability. Fails
  // when a character without a token could not be written.
  static Result<Unigram> Create(std::vector<std::string> token_texts, std::vector<double> scores,
                                Options options);

  // Appends the ids of one piece, which must be UTF-8. Unknown characters in a row are one token,
  // or the bytes of all of them.
  void Encode(std::string_view piece, std::vector<TokenId>* ids) const;

  const std::vector<std::string>& token_texts() const { return token_texts_; }

 private:
  // The best way to a place in the piece.
  struct Arrival {
    double score = 0;
    size_t from = kNowhere;
    TokenId id = 0;
    static constexpr size_t kNowhere = static_cast<size_t>(-1);
  };

  Unigram() = default;
  void AddToTrie(std::string_view text, TokenId id);
  int32_t Child(int32_t node, uint8_t byte) const;
  std::vector<Arrival> BestArrivals(std::string_view piece) const;
  void AppendToken(std::string_view text, std::vector<TokenId>* ids) const;

  std::vector<std::string> token_texts_;
  std::vector<double> scores_;
  Options options_;
  double unknown_score_ = 0;
  TokenId byte_ids_[256] = {};
  std::unordered_map<std::string, TokenId> by_text_;
  std::unordered_map<uint64_t, int32_t> children_;  // by node and byte
  std::vector<TokenId> ending_;                     // by node; -1: no token ends here
};

}  // namespace hone
