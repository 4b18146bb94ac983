#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/sampling.h"

namespace hone {

// The merging half of BPE: a piece of text becomes token ids by joining, again and again, the
// neighbouring pair with the lowest rank (the leftmost of equals). It begins with the tokens of
// single bytes (GPT-2's way) or of single characters (SentencePiece's). Immutable and thread-safe.
class Bpe {
 public:
  struct Merge {
    TokenId left, right, merged;
  };

  // token_bytes[id] is what a token stands for ("" for an id without one); merges in order of rank.
  // ignore_merges: a piece that is a token becomes it without merging (Llama 3).
  // Fails when a byte that occurs in UTF-8 has no token: then some texts could not be written. The
  // pieces must be UTF-8 if one of the other thirteen has none.
  static Result<Bpe> Create(std::vector<std::string> token_bytes, std::vector<Merge> merges,
                            bool ignore_merges);

  // What becomes of characters that have no token.
  struct Unknowns {
    bool byte_fallback = false;  // the tokens "<0x00>" to "<0xFF>" of its bytes, if they exist
    TokenId unknown = -1;        // else this one; -1: it is left out
    bool fuse = false;           // several in a row are one
  };
  // Of single characters: token_texts[id] is how a token is spelled, "" for an id without one. The
  // pieces must be UTF-8.
  static Bpe CreateOfCharacters(std::vector<std::string> token_texts, std::vector<Merge> merges,
                                bool ignore_merges, Unknowns unknowns);

  // Appends the ids of one piece.
  void Encode(std::string_view piece, std::vector<TokenId>* ids) const;

  // The same by the definition, in time quadratic in the piece: what tests compare Encode with.
  void EncodeReference(std::string_view piece, std::vector<TokenId>* ids) const;

  const std::vector<std::string>& token_bytes() const { return token_bytes_; }
  const std::vector<Merge>& merges() const { return merges_; }
  bool ignore_merges() const { return ignore_merges_; }
  // The token that stands for exactly these bytes, or -1.
  TokenId Find(std::string_view bytes) const;

 private:
  // What a pair of tokens joins to.
  struct Join {
    uint64_t pair = kNoPair;
    int32_t rank = 0;
    TokenId merged = 0;
    static constexpr uint64_t kNoPair = ~uint64_t{0};
  };

  Bpe() = default;
  void BuildTables();
  void AppendSymbols(std::string_view piece, std::vector<TokenId>* symbols) const;
  bool AppendBytes(std::string_view character, std::vector<TokenId>* symbols) const;
  const Join* FindJoin(TokenId left, TokenId right) const;
  void MergeShort(std::vector<TokenId>* symbols) const;
  void MergeLong(std::vector<TokenId>* symbols) const;

  std::vector<std::string> token_bytes_;
  std::vector<Merge> merges_;
  bool ignore_merges_ = false;
  bool of_characters_ = false;
  Unknowns unknowns_;
  TokenId byte_ids_[256] = {};     // of single bytes; of characters: those to fall back to, or -1
  std::vector<Join> joins_;        // open addressing, a power of two
  std::vector<TokenId> by_bytes_;  // open addressing over token_bytes_, -1: free

  // Whether merging a token's own bytes gives that token: 0 not yet known, 1 yes, 2 no. Found out
  // when first needed; any thread finds the same.
  std::unique_ptr<std::atomic<uint8_t>[]> reaches_itself_;
};

}  // namespace hone
