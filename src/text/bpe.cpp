#include "text/bpe.h"

#include <bit>
#include <cstring>
#include <queue>

#include <fmt/format.h>

#include "base/check.h"
#include "base/utf8.h"

namespace hone {
namespace {

// Pieces up to this many bytes are merged by scanning for the best pair: no allocation, and quicker
// than a heap. Nearly all pieces of text are this short.
constexpr size_t kShortPiece = 48;

uint64_t PairOf(TokenId left, TokenId right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

uint64_t Mix(uint64_t x) {
  x *= 0x9E3779B97F4A7C15;
  return x ^ (x >> 32);
}

uint64_t HashBytes(std::string_view bytes) {
  uint64_t hash = bytes.size();
  while (bytes.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    hash = Mix(hash ^ word);
    bytes.remove_prefix(8);
  }
  uint64_t word = 0;
  if (!bytes.empty()) std::memcpy(&word, bytes.data(), bytes.size());
  return Mix(Mix(hash ^ word));
}

}  // namespace

Result<Bpe> Bpe::Create(std::vector<std::string> token_bytes, std::vector<Merge> merges,
                        bool ignore_merges) {
  Bpe bpe;
  bpe.token_bytes_ = std::move(token_bytes);
  bpe.merges_ = std::move(merges);
  bpe.ignore_merges_ = ignore_merges;
  bpe.BuildTables();
  int missing = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    bpe.byte_ids_[byte] = bpe.Find(std::string_view(&c, 1));
    const bool in_utf8 = byte < 0xC0 || (byte > 0xC1 && byte < 0xF5);
    if (bpe.byte_ids_[byte] < 0 && in_utf8) ++missing;
  }
  if (missing > 0) {
    return Error(
        ErrorCode::kUnsupported,
        fmt::format("the vocabulary has no token for {} of the 243 bytes that text is made "
                    "of, so some texts could not be encoded; train it with the full byte "
                    "alphabet",
                    missing));
  }
  return bpe;
}

Bpe Bpe::CreateOfCharacters(std::vector<std::string> token_texts, std::vector<Merge> merges,
                            bool ignore_merges, Unknowns unknowns) {
  Bpe bpe;
  bpe.token_bytes_ = std::move(token_texts);
  bpe.merges_ = std::move(merges);
  bpe.ignore_merges_ = ignore_merges;
  bpe.of_characters_ = true;
  bpe.unknowns_ = unknowns;
  bpe.BuildTables();
  for (int byte = 0; byte < 256; ++byte) {
    bpe.byte_ids_[byte] = bpe.Find(fmt::format("<0x{:02X}>", byte));
  }
  return bpe;
}

void Bpe::BuildTables() {
  by_bytes_.assign(std::bit_ceil(token_bytes_.size() * 2 + 2), -1);
  const uint64_t token_mask = by_bytes_.size() - 1;
  for (size_t id = 0; id < token_bytes_.size(); ++id) {
    const std::string& bytes = token_bytes_[id];
    if (bytes.empty() || Find(bytes) >= 0) continue;
    uint64_t slot = HashBytes(bytes) & token_mask;
    while (by_bytes_[slot] >= 0) slot = (slot + 1) & token_mask;
    by_bytes_[slot] = static_cast<TokenId>(id);
  }

  joins_.assign(std::bit_ceil(merges_.size() * 2 + 2), Join());
  const uint64_t join_mask = joins_.size() - 1;
  for (size_t rank = 0; rank < merges_.size(); ++rank) {
    const Merge& merge = merges_[rank];
    const uint64_t pair = PairOf(merge.left, merge.right);
    uint64_t slot = Mix(pair) & join_mask;
    while (joins_[slot].pair != Join::kNoPair && joins_[slot].pair != pair) {
      slot = (slot + 1) & join_mask;
    }
    // A pair listed twice keeps its later rank, as a hash map filled in order would.
    joins_[slot] = {pair, static_cast<int32_t>(rank), merge.merged};
  }
  reaches_itself_ = std::make_unique<std::atomic<uint8_t>[]>(token_bytes_.size());
}

TokenId Bpe::Find(std::string_view bytes) const {
  const uint64_t mask = by_bytes_.size() - 1;
  for (uint64_t slot = HashBytes(bytes) & mask;; slot = (slot + 1) & mask) {
    const TokenId id = by_bytes_[slot];
    if (id < 0 || token_bytes_[id] == bytes) return id;
  }
}

const Bpe::Join* Bpe::FindJoin(TokenId left, TokenId right) const {
  const uint64_t pair = PairOf(left, right), mask = joins_.size() - 1;
  for (uint64_t slot = Mix(pair) & mask;; slot = (slot + 1) & mask) {
    if (joins_[slot].pair == pair) return &joins_[slot];
    if (joins_[slot].pair == Join::kNoPair) return nullptr;
  }
}

void Bpe::Encode(std::string_view piece, std::vector<TokenId>* ids) const {
  // Most pieces of a text are one token: a look-up answers them once it is known that merging the
  // token's bytes leads to the token.
  const TokenId whole = Find(piece);
  if (whole >= 0) {
    const uint8_t known = reaches_itself_[whole].load(std::memory_order_relaxed);
    if (known == 1 || ignore_merges_) return ids->push_back(whole);
  }
  std::vector<TokenId> symbols;
  symbols.reserve(piece.size());
  AppendSymbols(piece, &symbols);
  if (symbols.size() <= kShortPiece) {
    MergeShort(&symbols);
  } else {
    MergeLong(&symbols);
  }
  if (whole >= 0) {
    const bool reaches = symbols.size() == 1 && symbols[0] == whole;
    reaches_itself_[whole].store(reaches ? 1 : 2, std::memory_order_relaxed);
  }
  ids->insert(ids->end(), symbols.begin(), symbols.end());
}

bool Bpe::AppendBytes(std::string_view character, std::vector<TokenId>* symbols) const {
  for (const char byte : character) {
    if (byte_ids_[static_cast<uint8_t>(byte)] < 0) return false;
  }
  for (const char byte : character) symbols->push_back(byte_ids_[static_cast<uint8_t>(byte)]);
  return true;
}

void Bpe::AppendSymbols(std::string_view piece, std::vector<TokenId>* symbols) const {
  if (!of_characters_) {
    for (const char byte : piece) {
      const TokenId id = byte_ids_[static_cast<uint8_t>(byte)];
      DCHECK(id >= 0, "a byte that no text has");
      symbols->push_back(id);
    }
    return;
  }
  // An unknown character waits for the next, which may be fused with it. Bytes do not end the
  // waiting: so does the library whose ids these are.
  bool waiting = false;
  const auto flush = [&] {
    if (waiting) symbols->push_back(unknowns_.unknown);
    waiting = false;
  };
  for (size_t at = 0; at < piece.size();) {
    const size_t begin = at;
    NextCodePoint(piece, &at);
    const std::string_view character = piece.substr(begin, at - begin);
    if (const TokenId known = Find(character); known >= 0) {
      flush();
      symbols->push_back(known);
      continue;
    }
    if (unknowns_.byte_fallback && AppendBytes(character, symbols)) continue;
    if (unknowns_.unknown < 0) continue;
    if (!unknowns_.fuse) flush();
    waiting = true;
  }
  flush();
}

void Bpe::EncodeReference(std::string_view piece, std::vector<TokenId>* ids) const {
  std::vector<TokenId> symbols;
  AppendSymbols(piece, &symbols);
  if (const TokenId whole = Find(piece); ignore_merges_ && whole >= 0) symbols = {whole};
  while (true) {
    const Join* best = nullptr;
    size_t best_at = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const Join* join = FindJoin(symbols[i], symbols[i + 1]);
      if (join != nullptr && (best == nullptr || join->rank < best->rank)) best = join, best_at = i;
    }
    if (best == nullptr) break;
    symbols[best_at] = best->merged;
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best_at) + 1);
  }
  ids->insert(ids->end(), symbols.begin(), symbols.end());
}

void Bpe::MergeShort(std::vector<TokenId>* symbols) const {
  // joins[i] is what symbols[i] and symbols[i + 1] would become; only the two pairs around a merge
  // are looked up again.
  const Join* joins[kShortPiece];
  size_t count = symbols->size();
  TokenId* ids = symbols->data();
  for (size_t i = 0; i + 1 < count; ++i) joins[i] = FindJoin(ids[i], ids[i + 1]);
  while (count > 1) {
    size_t best = count;
    int32_t best_rank = INT32_MAX;
    for (size_t i = 0; i + 1 < count; ++i) {
      if (joins[i] != nullptr && joins[i]->rank < best_rank) best = i, best_rank = joins[i]->rank;
    }
    if (best == count) break;
    ids[best] = joins[best]->merged;
    for (size_t i = best + 1; i + 1 < count; ++i) ids[i] = ids[i + 1];
    for (size_t i = best + 1; i + 2 < count; ++i) joins[i] = joins[i + 1];
    --count;
    if (best + 1 < count) joins[best] = FindJoin(ids[best], ids[best + 1]);
    if (best > 0) joins[best - 1] = FindJoin(ids[best - 1], ids[best]);
  }
  symbols->resize(count);
}

void Bpe::MergeLong(std::vector<TokenId>* symbols) const {
  // A heap of possible merges over a linked list of symbols: n log n for a piece of any length (a
  // megabyte of one letter is a single piece).
  struct Candidate {
    int32_t rank;
    int32_t left;  // position of the left symbol
    TokenId merged;
    uint64_t pair;  // what stood there when this was found; stale when it no longer does
    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };
  const auto count = static_cast<int32_t>(symbols->size());
  std::vector<int32_t> next(symbols->size()), previous(symbols->size());
  for (int32_t i = 0; i < count; ++i) next[i] = i + 1 < count ? i + 1 : -1, previous[i] = i - 1;
  std::vector<TokenId>& ids = *symbols;
  std::priority_queue<Candidate> queue;
  auto consider = [&](int32_t left) {
    if (left < 0 || next[left] < 0) return;
    if (const Join* join = FindJoin(ids[left], ids[next[left]])) {
      queue.push({join->rank, left, join->merged, join->pair});
    }
  };
  for (int32_t i = 0; i + 1 < count; ++i) consider(i);
  constexpr TokenId kGone = -1;
  while (!queue.empty()) {
    const Candidate top = queue.top();
    queue.pop();
    const int32_t right = ids[top.left] == kGone ? -1 : next[top.left];
    if (right < 0 || PairOf(ids[top.left], ids[right]) != top.pair) continue;
    ids[top.left] = top.merged;
    ids[right] = kGone;
    next[top.left] = next[right];
    if (next[right] >= 0) previous[next[right]] = top.left;
    consider(top.left);
    consider(previous[top.left]);
  }
  std::erase(ids, kGone);
}

}  // namespace hone
