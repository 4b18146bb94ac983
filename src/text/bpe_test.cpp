#include "text/bpe.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace hone {
namespace {

std::vector<std::string> AllBytes() {
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.emplace_back(1, static_cast<char>(byte));
  return bytes;
}

// A random vocabulary over few letters, so that merges overlap and compete.
Bpe RandomBpe(uint64_t seed, bool ignore_merges = false) {
  Rng rng(seed);
  std::vector<std::string> tokens = AllBytes();
  std::vector<TokenId> letters = {'a', 'b', 'c'};
  std::vector<Bpe::Merge> merges;
  for (int i = 0; i < 60; ++i) {
    const TokenId left = letters[rng.Below(letters.size())],
                  right = letters[rng.Below(letters.size())];
    tokens.push_back(tokens[left] + tokens[right]);
    const auto merged = static_cast<TokenId>(tokens.size() - 1);
    merges.push_back({left, right, merged});
    letters.push_back(merged);
  }
  return Bpe::Create(std::move(tokens), std::move(merges), ignore_merges).value();
}

TEST(Bpe, TheFastWaysEqualTheDefinition) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Bpe bpe = RandomBpe(seed, seed % 4 == 0);
    Rng rng(seed + 100);
    for (int i = 0; i < 200; ++i) {
      std::string piece;
      for (uint64_t n = rng.Below(i % 10 == 0 ? 300 : 20) + 1; n > 0; --n) {
        piece += static_cast<char>('a' + rng.Below(3));
      }
      std::vector<TokenId> fast, again, reference;
      bpe.Encode(piece, &fast);
      bpe.Encode(piece, &again);  // the second time through the look-up
      bpe.EncodeReference(piece, &reference);
      EXPECT_EQ(fast, reference) << piece;
      EXPECT_EQ(again, reference) << piece;
    }
  }
}

TEST(Bpe, AMegabyteOfOneLetterTakesNoTime) {
  const Bpe bpe = RandomBpe(1);
  std::vector<TokenId> ids;
  bpe.Encode(std::string(1 << 20, 'a'), &ids);
  std::string decoded;
  for (const TokenId id : ids) decoded += bpe.token_bytes()[id];
  EXPECT_EQ(decoded, std::string(1 << 20, 'a'));
}

TEST(Bpe, AVocabularyWithoutAllBytesIsRefused) {
  std::vector<std::string> tokens = AllBytes();
  tokens[7] = "";
  auto bpe = Bpe::Create(std::move(tokens), {}, false);
  ASSERT_FALSE(bpe.ok());
  EXPECT_EQ(bpe.error().code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace hone
