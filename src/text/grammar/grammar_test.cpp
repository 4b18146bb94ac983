#include "text/grammar/grammar.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

bool Matches(GrammarMatcher* matcher, std::string_view text) {
  GrammarMatcher::State state = matcher->start();
  for (const char byte : text) state = matcher->Next(state, static_cast<unsigned char>(byte));
  return state != GrammarMatcher::kNowhere && matcher->Accepts(state);
}

bool Begins(GrammarMatcher* matcher, std::string_view text) {
  GrammarMatcher::State state = matcher->start();
  for (const char byte : text) state = matcher->Next(state, static_cast<unsigned char>(byte));
  return state != GrammarMatcher::kNowhere;
}

Grammar::Bytes Digits() {
  Grammar::Bytes bytes;
  for (char digit = '0'; digit <= '9'; ++digit) bytes.set(static_cast<size_t>(digit));
  return bytes;
}

TEST(Grammar, ChoicesThatBeginAlikeStayOpenUntilTheyPart) {
  Grammar grammar;
  const auto start = grammar.Sequence(
      {grammar.Choice({grammar.Literal("car"), grammar.Literal("cart"), grammar.Literal("dog")}),
       grammar.Literal("!")});
  GrammarMatcher matcher(&grammar, start);
  for (const char* text : {"car!", "cart!", "dog!"}) EXPECT_TRUE(Matches(&matcher, text)) << text;
  for (const char* text : {"ca!", "car", "carts!", "", "dog!!"}) {
    EXPECT_FALSE(Matches(&matcher, text)) << text;
  }
  EXPECT_TRUE(Begins(&matcher, "cart"));
  EXPECT_FALSE(Begins(&matcher, "cat"));
}

TEST(Grammar, PartsAreRepeatedAsOftenAsTheyMay) {
  Grammar grammar;
  const auto digit = grammar.OneOf(Digits());
  GrammarMatcher two_to_four(&grammar, grammar.Repeat(digit, 2, 4));
  for (const char* text : {"12", "123", "1234"}) EXPECT_TRUE(Matches(&two_to_four, text));
  for (const char* text : {"", "1", "12345", "1a"}) EXPECT_FALSE(Matches(&two_to_four, text));
  Grammar many;
  const auto start =
      many.Sequence({many.Repeat(many.OneOf(Digits()), 1), many.Optional(many.Literal("."))});
  GrammarMatcher any(&many, start);
  EXPECT_TRUE(Matches(&any, std::string(10000, '7')));
  EXPECT_TRUE(Matches(&any, "7."));
  EXPECT_FALSE(Matches(&any, "."));
  EXPECT_FALSE(Matches(&any, "7.."));
}

TEST(Grammar, RulesMayContainThemselves) {
  Grammar grammar;
  const auto list = grammar.Later();
  const auto item = grammar.Choice({grammar.OneOf(Digits()), list});
  grammar.Define(list, grammar.Sequence(
                           {grammar.Literal("["), grammar.Repeat(item, 0), grammar.Literal("]")}));
  GrammarMatcher matcher(&grammar, list);
  for (const char* text : {"[]", "[1]", "[1[2[]3]]", "[[][]]"}) {
    EXPECT_TRUE(Matches(&matcher, text)) << text;
  }
  for (const char* text : {"[", "]", "[1]]", "[1[2]", "1"}) {
    EXPECT_FALSE(Matches(&matcher, text)) << text;
  }
  EXPECT_TRUE(Matches(&matcher, std::string(500, '[') + std::string(500, ']')));
}

TEST(Grammar, AnythingUntilAMarkEndsWithTheFirstOne) {
  Grammar grammar;
  GrammarMatcher matcher(&grammar,
                         grammar.Sequence({grammar.Until("aab"), grammar.Literal("done")}));
  for (const char* text : {"aabdone", "xyzaabdone", "aaabdone", "aabadone"}) {
    EXPECT_EQ(Matches(&matcher, text), std::string_view(text) != "aabadone") << text;
  }
  EXPECT_FALSE(Matches(&matcher, "aab aabdone")) << "the first mark ends it";
  EXPECT_TRUE(Begins(&matcher, "aaaaaaaaaaaa"));
}

TEST(Grammar, ALiteralIsToldFromLetters) {
  Grammar grammar;
  Grammar::Bytes any;
  any.set();
  const auto start = grammar.Choice({grammar.Literal("<call>{"), grammar.OneOf(any)});
  GrammarMatcher matcher(&grammar, start);
  EXPECT_TRUE(matcher.LiteralGoesOn(matcher.start(), "<call>"));
  EXPECT_FALSE(matcher.LiteralGoesOn(matcher.start(), "<end>")) << "as a letter it could be";
  EXPECT_NE(matcher.Next(matcher.start(), '<'), GrammarMatcher::kNowhere);
}

}  // namespace
}  // namespace hone
