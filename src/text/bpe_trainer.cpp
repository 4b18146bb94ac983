#include "text/bpe_trainer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/utf8.h"
#include "text/byte_level.h"
#include "text/normalize.h"

namespace hone {
namespace {

using Pair = std::pair<TokenId, TokenId>;

struct PairHash {
  size_t operator()(const Pair& pair) const {
    const uint64_t both =
        static_cast<uint64_t>(pair.first) << 32 | static_cast<uint32_t>(pair.second);
    return static_cast<size_t>(both * 0x9E3779B97F4A7C15 >> 16);
  }
};

struct Word {
  std::vector<TokenId> symbols;
  int64_t count;
};

// Ids of the single bytes: sorted by the character that spells them.
std::vector<int> BytesInSpellingOrder() {
  std::vector<int> bytes(256);
  std::iota(bytes.begin(), bytes.end(), 0);
  auto code_point = [](int byte) {
    size_t position = 0;
    return NextCodePoint(ByteSpelling(static_cast<uint8_t>(byte)), &position);
  };
  std::sort(bytes.begin(), bytes.end(),
            [&](int a, int b) { return code_point(a) < code_point(b); });
  return bytes;
}

// The merging: counts of pairs, where they occur, and a queue of what may be merged next.
class Trainer {
 public:
  explicit Trainer(std::vector<Word> words) : words_(std::move(words)) {
    for (size_t w = 0; w < words_.size(); ++w) {
      const Word& word = words_[w];
      for (size_t i = 0; i + 1 < word.symbols.size(); ++i) {
        const Pair pair{word.symbols[i], word.symbols[i + 1]};
        counts_[pair] += word.count;
        where_[pair].insert(static_cast<int>(w));
      }
    }
    for (const auto& [pair, count] : counts_) queue_.push({count, pair});
  }

  // The pair to merge next, or nothing when no pair is frequent enough.
  std::optional<Pair> Best(int64_t min_frequency) {
    while (!queue_.empty()) {
      const Candidate top = queue_.top();
      queue_.pop();
      const int64_t now = counts_[top.pair];
      if (now != top.count) {  // merged away in the meantime: back in line with what is left
        if (now > 0) queue_.push({now, top.pair});
        continue;
      }
      if (now < std::max<int64_t>(min_frequency, 1)) return std::nullopt;
      return top.pair;
    }
    return std::nullopt;
  }

  void Merge(const Pair& pair, TokenId merged) {
    std::unordered_set<Pair, PairHash> grown;
    const auto found = where_.find(pair);
    const std::unordered_set<int> places = std::move(found->second);
    where_.erase(found);
    for (const int w : places) MergeInWord(w, pair, merged, &grown);
    for (const Pair& other : grown) queue_.push({counts_[other], other});
    counts_.erase(pair);
  }

 private:
  struct Candidate {
    int64_t count;
    Pair pair;
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  void MergeInWord(int w, const Pair& pair, TokenId merged,
                   std::unordered_set<Pair, PairHash>* grown) {
    Word& word = words_[w];
    std::vector<TokenId>& symbols = word.symbols;
    auto change = [&](const Pair& other, int64_t by) {
      counts_[other] += by;
      if (by > 0) {
        where_[other].insert(w);
        grown->insert(other);
      }
    };
    size_t kept = 0;
    for (size_t i = 0; i < symbols.size(); ++i) {
      const bool here =
          i + 1 < symbols.size() && symbols[i] == pair.first && symbols[i + 1] == pair.second;
      if (!here) {
        symbols[kept++] = symbols[i];
        continue;
      }
      if (kept > 0) {
        change({symbols[kept - 1], pair.first}, -word.count);
        change({symbols[kept - 1], merged}, word.count);
      }
      if (i + 2 < symbols.size()) {
        change({pair.second, symbols[i + 2]}, -word.count);
        change({merged, symbols[i + 2]}, word.count);
      }
      symbols[kept++] = merged;
      ++i;
    }
    symbols.resize(kept);
  }

  std::vector<Word> words_;
  std::unordered_map<Pair, int64_t, PairHash> counts_;
  std::unordered_map<Pair, std::unordered_set<int>, PairHash> where_;
  std::priority_queue<Candidate> queue_;
};

}  // namespace

Result<Tokenizer> TrainBpe(const std::vector<std::string>& texts,
                           const BpeTrainingOptions& options) {
  if (options.vocab_size < 256) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("a vocabulary of {} has no room for the 256 bytes; give at least 256",
                             options.vocab_size));
  }
  Tokenizer::Parts parts;
  TokenId byte_ids[256];
  for (const int byte : BytesInSpellingOrder()) {
    byte_ids[byte] = static_cast<TokenId>(parts.token_bytes.size());
    parts.token_bytes.emplace_back(1, static_cast<char>(byte));
  }
  HONE_ASSIGN_OR_RETURN(Pattern pattern, Pattern::Compile(options.split));
  parts.splits.push_back({std::move(pattern)});

  std::map<std::string, int64_t> pieces;  // ordered: the result must not depend on hashing
  {
    std::vector<SplitStep> steps;
    steps.push_back({Pattern::Compile(options.split).value()});
    const Splitter splitter(std::move(steps));
    for (const std::string& text : texts) {
      const std::string valid = Utf8Lossy(text);
      splitter.Split(options.nfc ? ToNfc(valid) : valid,
                     [&](std::string_view piece) { ++pieces[std::string(piece)]; });
    }
  }
  std::vector<Word> words;
  for (const auto& [piece, count] : pieces) {
    Word word{{}, count};
    for (const char byte : piece) word.symbols.push_back(byte_ids[static_cast<uint8_t>(byte)]);
    words.push_back(std::move(word));
  }
  Trainer trainer(std::move(words));
  std::unordered_map<std::string, TokenId> known;
  for (size_t id = 0; id < parts.token_bytes.size(); ++id) {
    known[parts.token_bytes[id]] = static_cast<TokenId>(id);
  }
  while (static_cast<int32_t>(parts.token_bytes.size()) < options.vocab_size) {
    const std::optional<Pair> best = trainer.Best(options.min_frequency);
    if (!best) break;
    std::string bytes = parts.token_bytes[best->first] + parts.token_bytes[best->second];
    // Two ways of joining can spell the same token; it has one id.
    const auto [found, is_new] =
        known.emplace(bytes, static_cast<TokenId>(parts.token_bytes.size()));
    if (is_new) parts.token_bytes.push_back(std::move(bytes));
    parts.merges.push_back({best->first, best->second, found->second});
    trainer.Merge(*best, found->second);
  }
  if (options.nfc) parts.normalizers.emplace_back();
  parts.added = options.added;
  auto next = static_cast<TokenId>(parts.token_bytes.size());
  for (AddedToken& token : parts.added) token.id = next++;
  return Tokenizer::FromParts(std::move(parts));
}

}  // namespace hone
