#include "text/vocabulary/word_piece.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::vector<TokenId> PiecesOf(std::string_view word, int64_t most_characters = 100) {
  const std::vector<std::string> texts = {"[UNK]", "un", "##aff", "##able",
                                          "##a",   "a",  "##é",   "##"};
  std::vector<TokenId> ids;
  WordPiece::Create(texts, {.unknown = 0, .most_characters = most_characters})
      .value()
      .Encode(word, &ids);
  return ids;
}

TEST(WordPiece, TheLongestTokenIsTakenEachTime) {
  EXPECT_EQ(PiecesOf("unaffable"), (std::vector<TokenId>{1, 2, 3}));
  EXPECT_EQ(PiecesOf("una"), (std::vector<TokenId>{1, 4}));
  EXPECT_EQ(PiecesOf("aé"), (std::vector<TokenId>{5, 6}));
  EXPECT_EQ(PiecesOf("un##able"), (std::vector<TokenId>{0})) << "the prefix is not part of a word";
}

TEST(WordPiece, AWordThatCannotBeCutOrIsTooLongIsOneUnknownToken) {
  EXPECT_EQ(PiecesOf("unb"), (std::vector<TokenId>{0})) << "nothing is left of \"un\"";
  EXPECT_EQ(PiecesOf("aéé", 3), (std::vector<TokenId>{5, 6, 6}));
  EXPECT_EQ(PiecesOf("aéé", 2), (std::vector<TokenId>{0})) << "characters count, not bytes";
}

TEST(WordPiece, WithoutAnUnknownTokenItIsRefused) {
  EXPECT_FALSE(WordPiece::Create({"a"}, {}).ok());
  EXPECT_FALSE(WordPiece::Create({"a"}, {.unknown = 1}).ok());
}

}  // namespace
}  // namespace hone
