#include "text/vocabulary/unigram.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Unigram Small(Unigram::Options options) {
  std::vector<std::string> texts = {"<unk>", "a", "b", "ab", "abc", "<0xC3>", "<0xA9>"};
  return Unigram::Create(texts, {0, -1, -1, -1.5, -9, 0, 0}, options).value();
}

std::vector<TokenId> IdsOf(const Unigram& model, std::string_view text) {
  std::vector<TokenId> ids;
  model.Encode(text, &ids);
  return ids;
}

TEST(Unigram, TheLargestSumOfScoresWins) {
  const Unigram model = Small({.unknown = 0});
  EXPECT_EQ(IdsOf(model, "ab"), (std::vector<TokenId>{3}));
  EXPECT_EQ(IdsOf(model, "ba"), (std::vector<TokenId>{2, 1}));
  EXPECT_EQ(IdsOf(model, "abc"), (std::vector<TokenId>{4})) << "c alone has no token";
  EXPECT_EQ(IdsOf(model, ""), (std::vector<TokenId>{}));
}

TEST(Unigram, UnknownCharactersInARowAreOneTokenOrTheirBytes) {
  EXPECT_EQ(IdsOf(Small({.unknown = 0}), "aééb"), (std::vector<TokenId>{1, 0, 2}));
  EXPECT_EQ(IdsOf(Small({.unknown = 0, .byte_fallback = true}), "aéb"),
            (std::vector<TokenId>{1, 5, 6, 2}));
  EXPECT_EQ(IdsOf(Small({.unknown = 0, .byte_fallback = true}), "éü"), (std::vector<TokenId>{0}))
      << "not all of their bytes have tokens";
}

TEST(Unigram, WithoutAnUnknownTokenItIsRefused) {
  EXPECT_FALSE(Unigram::Create({"a"}, {0}, {}).ok());
  EXPECT_FALSE(Unigram::Create({"a"}, {}, {.unknown = 0}).ok());
}

}  // namespace
}  // namespace hone
