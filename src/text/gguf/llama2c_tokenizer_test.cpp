#include "text/gguf/llama2c_tokenizer.h"

#include <gtest/gtest.h>

#include "text/tokenizer.h"

namespace hone {
namespace {

void Append(float score, const std::string& text, std::string* bytes) {
  const auto size = static_cast<int32_t>(text.size());
  bytes->append(reinterpret_cast<const char*>(&score), sizeof score);
  bytes->append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes->append(text);
}

// As llama2.c's tokenizer.py writes it: special tokens between line feeds, bytes and spaces as
// themselves, bytes from 128 on as characters.
std::string TokenizerBin() {
  std::string bytes("\x05\0\0\0", 4);
  for (const char* special : {"<unk>", "\n<s>\n", "\n</s>\n"}) Append(0, special, &bytes);
  for (int byte = 0; byte < 256; ++byte) {
    std::string text(1, static_cast<char>(byte));
    if (byte >= 128) {
      text = {static_cast<char>(0xc0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3f))};
    }
    Append(0, text, &bytes);
  }
  float score = 0;
  for (const char* piece : {" a", " ab", " ", "a", "b"}) Append(--score, piece, &bytes);
  return bytes;
}

TEST(Llama2cTokenizer, GivesTheTokensOfTheTokenizerThatItWasMadeFrom) {
  const auto read = Llama2cTokenizer(TokenizerBin());
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->tokens.size(), 264u);
  EXPECT_EQ(read->tokens[1], "<s>");
  EXPECT_EQ(read->tokens[3 + 0x0a], "<0x0A>");
  EXPECT_EQ(read->tokens[259], "\u2581a");
  const auto text = TokenizerJsonOf(*read);
  ASSERT_TRUE(text.ok()) << text.error().message();
  const auto tokenizer = Tokenizer::FromJson(*text);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message();
  // " ab" as one piece, then the bytes of a line feed and of "é".
  const std::vector<TokenId> ids = tokenizer->Encode("ab\n\u00e9");
  EXPECT_EQ(ids, (std::vector<TokenId>{260, 3 + 0x0a, 3 + 0xc3, 3 + 0xa9}));
}

TEST(Llama2cTokenizer, EveryCutBeforeThePiecesIsAnError) {
  const std::string whole = TokenizerBin();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto read = Llama2cTokenizer(whole.substr(0, size));
    if (read.ok()) {
      EXPECT_GE(read->tokens.size(), 259u) << size;
    } else {
      EXPECT_NE(read.error().message().find("token "), std::string::npos);
    }
  }
  EXPECT_FALSE(Llama2cTokenizer(std::string(5000, '\x7f')).ok());
  EXPECT_FALSE(Llama2cTokenizer(std::string(5000, '\xff')).ok());
}

}  // namespace
}  // namespace hone
