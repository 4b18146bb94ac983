#include "record/array_codec.h"

#include <gtest/gtest.h>

#include "support/random_record.h"

namespace hone {
namespace {

// The tree with its arrays taken away, as the JSON half of the store has it.
Tree Bare(const Tree& tree) {
  Tree bare = tree;
  for (Node& node : bare.nodes) {
    node.tokens.clear();
    node.logprobs.clear();
    node.entropies.clear();
    node.supports.clear();
    node.token_versions.clear();
  }
  return bare;
}

TEST(ArrayCodec, ArraysComeBackToTheBit) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const ScoredTree record = RandomRecord(Rng(seed));
    Tree tree = Bare(record.tree);
    ASSERT_TRUE(DecodeTreeArrays(EncodeTreeArrays(record.tree), &tree).ok());
    EXPECT_EQ(tree, record.tree);
    EXPECT_EQ(*DecodeAdvantages(EncodeAdvantages(record.advantages)), record.advantages);
  }
}

TEST(ArrayCodec, EveryDamagedByteIsNoticed) {
  const ScoredTree record = RandomRecord(Rng(4));
  const std::string blob = EncodeTreeArrays(record.tree);
  for (size_t at = 0; at < blob.size(); ++at) {
    std::string damaged = blob;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    Tree tree = Bare(record.tree);
    Result<void> decoded = DecodeTreeArrays(damaged, &tree);
    // zstd has a few header bits without meaning; then the content must be right.
    if (decoded.ok()) {
      EXPECT_EQ(tree, record.tree) << at;
    } else {
      EXPECT_EQ(decoded.error().code(), ErrorCode::kCorrupt);
    }
  }
  for (size_t size = 0; size < blob.size(); ++size) {
    Tree tree = Bare(record.tree);
    EXPECT_FALSE(DecodeTreeArrays(blob.substr(0, size), &tree).ok()) << size;
  }
}

TEST(ArrayCodec, ArraysOfAnotherTreeAreRefused) {
  const ScoredTree record = RandomRecord(Rng(5));
  Tree tree = Bare(record.tree);
  tree.nodes.emplace_back();
  EXPECT_EQ(DecodeTreeArrays(EncodeTreeArrays(record.tree), &tree).error().code(),
            ErrorCode::kCorrupt);
}

TEST(ArrayCodec, TokensCompress) {
  Tree tree;
  tree.nodes.resize(1);
  for (int i = 0; i < 10000; ++i) tree.nodes[0].tokens.push_back(i % 50);
  EXPECT_LT(EncodeTreeArrays(tree).size(), 1000u);
}

}  // namespace
}  // namespace hone
