#include "text/token_texts.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(TokenTextsTest, ACharacterOfSeveralTokensStandsWithTheLast) {
  Tokenizer::Parts parts;  // one token per byte
  for (int byte = 0; byte < 256; ++byte) {
    parts.token_bytes.emplace_back(1, static_cast<char>(byte));
  }
  const Tokenizer tokenizer = *Tokenizer::FromParts(std::move(parts));
  const std::vector<TokenId> tokens = {'a', 0xe2, 0x82, 0xac, 'b'};
  EXPECT_EQ(TokenTexts(&tokenizer, tokens), (std::vector<std::string>{"a", "", "", "€", "b"}));
  EXPECT_EQ(TokenTexts(&tokenizer, {tokens[1]}), std::vector<std::string>{"\xEF\xBF\xBD"});
  EXPECT_EQ(TokenTexts(nullptr, {7}), std::vector<std::string>{"7 "});
}

}  // namespace
}  // namespace hone
