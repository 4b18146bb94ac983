#include "text/added_tokens.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

AddedTokenMatcher::Match MatchIn(const AddedTokenMatcher& matcher, std::string_view text) {
  auto match = matcher.Find(text, 0, nullptr);
  return match ? *match : AddedTokenMatcher::Match{0, 0, nullptr};
}

TEST(AddedTokens, TheLongestOfTheLeftmostWins) {
  const AddedTokenMatcher matcher({{.id = 1, .content = "<a>"}, {.id = 2, .content = "<a><b>"}});
  EXPECT_EQ(MatchIn(matcher, "x<a><b>").token->id, 2);
  EXPECT_EQ(MatchIn(matcher, "x<a><c>").token->id, 1);
  EXPECT_FALSE(matcher.Find("<a", 0, nullptr).has_value());
}

TEST(AddedTokens, StrippingTakesWhiteSpaceAlong) {
  const AddedTokenMatcher matcher({{.id = 1, .content = "<m>", .lstrip = true, .rstrip = true}});
  const auto match = MatchIn(matcher, "a \u3000<m>\n b");
  EXPECT_EQ(match.begin, 1u);
  EXPECT_EQ(match.end, 10u);
}

TEST(AddedTokens, SingleWordsTouchNoWord) {
  const AddedTokenMatcher matcher({{.id = 1, .content = "yes", .single_word = true}});
  EXPECT_EQ(MatchIn(matcher, "éyes").token, nullptr);
  EXPECT_EQ(MatchIn(matcher, "yes_").token, nullptr);
  EXPECT_NE(MatchIn(matcher, "(yes)").token, nullptr);
}

TEST(AddedTokens, ARefusedMatchGivesWayToAShorterOrLaterOne) {
  const AddedTokenMatcher matcher({{.id = 1, .content = "<a>"}});
  const auto match =
      matcher.Find("<a><a>", 0, [](const AddedToken&, size_t begin, size_t) { return begin > 0; });
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->begin, 3u);
}

}  // namespace
}  // namespace hone
