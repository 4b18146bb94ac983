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

// The merging half of byte-level BPE: a piece of bytes becomes token ids by joining, again and
// again, the neighbouring pair with the lowest rank (the leftmost of equals). Immutable and
// thread-safe.
class Bpe {
 public:
  struct Merge {
    TokenId left, right, merged;
  };

  // token_bytes[id] is what a token stands for ("" for an id without one); merges in order of rank.
  // ignore_merges: a piece that is a token becomes it without merging (Llama 3).
  // Fails when one of the 256 single bytes has no token: then some texts could not be written.
  static Result<Bpe> Create(std::vector<std::string> token_bytes, std::vector<Merge> merges,
                            bool ignore_merges);

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
  const Join* FindJoin(TokenId left, TokenId right) const;
  void MergeShort(std::vector<TokenId>* symbols) const;
  void MergeLong(std::vector<TokenId>* symbols) const;

  std::vector<std::string> token_bytes_;
  std::vector<Merge> merges_;
  bool ignore_merges_ = false;
  TokenId byte_ids_[256] = {};
  std::vector<Join> joins_;        // open addressing, a power of two
  std::vector<TokenId> by_bytes_;  // open addressing over token_bytes_, -1: free

  // Whether merging a token's own bytes gives that token: 0 not yet known, 1 yes, 2 no. Found out
  // when first needed; any thread finds the same.
  std::unique_ptr<std::atomic<uint8_t>[]> reaches_itself_;
};

}  // namespace hone
