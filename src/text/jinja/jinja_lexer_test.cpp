#include "text/jinja/jinja_lexer.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Kind = JinjaToken::Kind;

std::string DataOf(std::string_view source) {
  std::string data;
  for (const JinjaToken& token : LexJinja(source).value()) {
    if (token.kind == Kind::kData) data += "[" + token.text + "]";
  }
  return data;
}

TEST(JinjaLexer, WhiteSpaceAroundTagsGoesAsTransformersSetItUp) {
  EXPECT_EQ(DataOf("a\n  {% x %}\nb\n"), "[a\n][b]");
  EXPECT_EQ(DataOf("a {% x %} b"), "[a ][ b]");
  EXPECT_EQ(DataOf("a\n {%- x -%}\n b"), "[a][b]");
  EXPECT_EQ(DataOf("a\n {%+ x +%}\n b"), "[a\n ][\n b]");
  EXPECT_EQ(DataOf("a\n {{ x }}\nb"), "[a\n ][\nb]");
  EXPECT_EQ(DataOf("{# a #}\nb {#- c -#} d"), "[b][d]");
  EXPECT_EQ(DataOf("{% raw %}{{ x }}{% endraw %}\nb"), "[{{ x }}][b]");
}

TEST(JinjaLexer, TokensKnowTheirPlace) {
  const auto tokens = LexJinja("é\n {{ ab }}").value();
  ASSERT_EQ(tokens.size(), 5u);
  EXPECT_EQ(tokens[2].text, "ab");
  EXPECT_EQ(tokens[2].place.line, 2);
  EXPECT_EQ(tokens[2].place.column, 5);
  EXPECT_EQ(tokens.back().kind, Kind::kEnd);
}

TEST(JinjaLexer, ReadsNumbersAndStringsAsPythonWritesThem) {
  const auto tokens = LexJinja(R"({{ 1_000 0x1f 1.5e3 2.a 'a\n\x41\u00e9\q' }})").value();
  EXPECT_EQ(tokens[1].number, Json(1000));
  EXPECT_EQ(tokens[2].number, Json(31));
  EXPECT_EQ(tokens[3].number, Json(1500.0));
  EXPECT_EQ(tokens[4].number, Json(2));
  EXPECT_EQ(tokens[7].text, "a\nAé\\q");
}

TEST(JinjaLexer, WhatIsNotClosedOrNotTextIsRefused) {
  for (const char* bad : {"{{ a", "{% a", "{# a", "{{ 'a", "{{ ) }}", "{{ (] }}", "{{ ? }}",
                          "{% raw %}", "{{ '\\x4' }}", "{{ 012 }}", "\xff"}) {
    EXPECT_FALSE(LexJinja(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace hone
