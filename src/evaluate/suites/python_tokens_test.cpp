#include "evaluate/suites/python_tokens.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Kind = PythonToken::Kind;

Json Literal(std::string_view source) {
  const auto tokens = PythonTokens(source);
  EXPECT_TRUE(tokens.ok()) << source;
  EXPECT_EQ(tokens->size(), 2u) << source;
  return (*tokens)[0].value;
}

TEST(PythonTokens, NumbersAreReadAsPythonReadsThem) {
  EXPECT_EQ(Literal("1_000"), Json(1000));
  EXPECT_EQ(Literal("0x1F"), Json(31));
  EXPECT_EQ(Literal("0b101"), Json(5));
  EXPECT_EQ(Literal("00"), Json(0));
  EXPECT_EQ(Literal("1."), Json(1.0));
  EXPECT_EQ(Literal(".5"), Json(0.5));
  EXPECT_EQ(Literal("1e3"), Json(1000.0));
  EXPECT_EQ(Literal("01.5"), Json(1.5));
  EXPECT_EQ(Literal("123456789012345678901234567890"),
            Json(BigInteger{"123456789012345678901234567890"}));
  for (const char* wrong : {"01", "1__0", "1_", "0x", "1e", "5kg", "10L"}) {
    EXPECT_FALSE(PythonTokens(wrong).ok()) << wrong;
  }
}

TEST(PythonTokens, TextsHaveTheirEscapes) {
  EXPECT_EQ(Literal(R"('a\n\x41\u00e9\101\'')"), Json("a\nA\u00e9A'"));
  EXPECT_EQ(Literal(R"("C:\dir")"), Json("C:\\dir")) << "what is no escape keeps its backslash";
  EXPECT_EQ(Literal(R"(r'\n')"), Json("\\n"));
  EXPECT_EQ(Literal("'''two\nlines'''"), Json("two\nlines"));
  EXPECT_EQ(Literal("'go\\\non'"), Json("goon"));
  EXPECT_EQ((*PythonTokens("b'x'"))[0].kind, Kind::kBytes);
  EXPECT_EQ((*PythonTokens("2j"))[0].text, "2j");
  EXPECT_EQ((*PythonTokens("f'{x}'"))[0].kind, Kind::kFormat);
  for (const char* wrong : {"'open", "'two\nlines'", R"('\x4')", R"('\U99999999')"}) {
    EXPECT_FALSE(PythonTokens(wrong).ok()) << wrong;
  }
}

TEST(PythonTokens, LinesEndOutsideOfBracketsOnly) {
  EXPECT_EQ(PythonTokens("(a,\n b) # why")->size(), 6u);
  EXPECT_EQ((*PythonTokens("a\nb"))[1].kind, Kind::kNewline);
}

TEST(PythonTokens, NamesMayHaveLettersOfAllScriptsButNoSigns) {
  EXPECT_EQ((*PythonTokens("größe_1"))[0].text, "größe_1");
  for (const char* wrong : {"a “b”", "→", "$x", "a?", "\xff"}) {
    EXPECT_FALSE(PythonTokens(wrong).ok()) << wrong;
  }
  EXPECT_TRUE(IsPythonKeyword("from"));
  EXPECT_FALSE(IsPythonKeyword("match"));
}

}  // namespace
}  // namespace hone
