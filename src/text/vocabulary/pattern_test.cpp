#include "text/vocabulary/pattern.h"

#include <gtest/gtest.h>

#include <vector>

namespace hone {
namespace {

std::vector<std::string> MatchesOf(std::string_view expression, std::string_view text) {
  auto pattern = Pattern::Compile(expression);
  EXPECT_TRUE(pattern.ok()) << pattern.error().message();
  Pattern::Matches matches(*pattern, text);
  std::vector<std::string> found;
  while (matches.Next())
    found.emplace_back(text.substr(matches.begin(), matches.end() - matches.begin()));
  return found;
}

using Words = std::vector<std::string>;

TEST(Pattern, UnicodePropertiesAndLookahead) {
  EXPECT_EQ(MatchesOf(R"(\p{L}+|\p{N}|\s+(?!\S)|\s+)", "Größe 12  x"),
            (Words{"Größe", " ", "1", "2", " ", " ", "x"}));
}

// U+180E is no white space since Unicode 6.3; PCRE2's \s takes it, Rust's and Oniguruma's do not.
TEST(Pattern, WhiteSpaceIsUnicodesOwn) {
  EXPECT_EQ(MatchesOf(R"(\s)", "\u180e"), Words());
  EXPECT_EQ(MatchesOf(R"([^\s])", "\u180e"), Words{"\u180e"});
  EXPECT_EQ(MatchesOf(R"(\S)", "\u00a0\u2028\u3000\u0085\t"), Words());
}

TEST(Pattern, WhiteSpaceIsFoundInEveryKindOfClass) {
  EXPECT_EQ(MatchesOf(R"([[:alpha:]\s]+)", "a b1"), Words{"a b"});
  EXPECT_EQ(MatchesOf(R"([]\s]+)", "a] b"), Words{"] "});
  EXPECT_EQ(MatchesOf(R"([^]\s]+)", "a] b"), (Words{"a", "b"}));
  EXPECT_EQ(MatchesOf(R"([^\r\n\p{L}]?\p{L}+)", "\u180eab"), Words{"\u180eab"});
}

TEST(Pattern, EmptyMatchesArePassedOver) { EXPECT_EQ(MatchesOf("x*", "axxb"), Words{"xx"}); }

TEST(Pattern, ABrokenExpressionIsQuotedInTheError) {
  auto pattern = Pattern::Compile("(a");
  ASSERT_FALSE(pattern.ok());
  EXPECT_NE(pattern.error().message().find("(a"), std::string::npos);
}

TEST(Pattern, LiteralsMatchThemselves) {
  const Pattern pattern = Pattern::Literal("a.b[c]");
  Pattern::Matches matches(pattern, "axb[c] a.b[c]");
  ASSERT_TRUE(matches.Next());
  EXPECT_EQ(matches.begin(), 7u);
}

TEST(Pattern, AMegabyteOfOneCharacterIsNoProblem) {
  const std::string spaces(12 << 20, ' ');  // more than the library's own limit of steps
  EXPECT_EQ(MatchesOf(R"(\s+(?!\S)|\s+)", spaces + "x").size(), 2u);
  EXPECT_EQ(MatchesOf(R"((?:a|b)+)", std::string(1 << 18, 'a')).size(), 1u);
}

}  // namespace
}  // namespace hone
