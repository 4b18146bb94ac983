#include "text/grammar/grammar_tokens.h"

#include <gtest/gtest.h>

#include "text/bpe_trainer.h"

namespace hone {
namespace {

class GrammarTokensTest : public testing::Test {
 protected:
  GrammarTokensTest()
      : tokenizer_(TrainBpe({"true false true false call calling <call> 12 123 1234"},
                            {.vocab_size = 300,
                             .min_frequency = 1,
                             .nfc = false,
                             .added = {{.content = "<call>"}, {.content = "<end>"}}})
                       .value()),
        tokens_(&tokenizer_) {}

  std::vector<std::string> Texts(const std::vector<TokenId>& tokens) const {
    std::vector<std::string> texts;
    for (const TokenId token : tokens) texts.emplace_back(tokenizer_.TokenBytes(token));
    std::sort(texts.begin(), texts.end());
    return texts;
  }
  TokenId Added(std::string_view text) const { return *tokenizer_.FindAdded(text); }

  const Tokenizer tokenizer_;
  const TokensByText tokens_;
};

TEST_F(GrammarTokensTest, ATokenMayFollowWhoseBytesTheGrammarTakes) {
  Grammar grammar;
  const auto start = grammar.Choice({grammar.Literal("true"), grammar.Literal("false")});
  GrammarMatcher matcher(&grammar, start);
  for (const std::string& text : Texts(tokens_.GoOn(&matcher, matcher.start()))) {
    EXPECT_TRUE(std::string("true").starts_with(text) || std::string("false").starts_with(text))
        << text;
  }
  // Every token one by one says the same.
  std::vector<TokenId> found;
  for (TokenId id = 0; id < tokenizer_.vocab_size(); ++id) {
    if (!tokenizer_.IsToken(id)) continue;
    GrammarMatcher::State state = matcher.start();
    for (const char byte : tokenizer_.TokenBytes(id)) {
      state = matcher.Next(state, static_cast<unsigned char>(byte));
    }
    if (state != GrammarMatcher::kNowhere) found.push_back(id);
  }
  EXPECT_EQ(tokens_.GoOn(&matcher, matcher.start()), found);
  EXPECT_GT(found.size(), 2u) << "whole words among them";
}

TEST_F(GrammarTokensTest, MarksStandWhereLiteralsHaveThemAndAreNotSpelledOut) {
  Grammar grammar;
  Grammar::Bytes any;
  any.set();
  const auto start = grammar.Sequence(
      {grammar.Literal("<call>"), grammar.Repeat(grammar.OneOf(any), 0), grammar.Literal("<end>")});
  GrammarMatcher matcher(&grammar, start);
  EXPECT_EQ(tokens_.GoOn(&matcher, matcher.start()), std::vector<TokenId>{Added("<call>")});
  GrammarMatcher::State inside = matcher.start();
  for (const char byte : std::string_view("<call>x")) {
    inside = matcher.Next(inside, static_cast<unsigned char>(byte));
  }
  const std::vector<TokenId> next = tokens_.GoOn(&matcher, inside);
  EXPECT_TRUE(std::binary_search(next.begin(), next.end(), Added("<end>")));
  EXPECT_FALSE(std::binary_search(next.begin(), next.end(), Added("<call>")))
      << "as letters it may stand there, as a mark it may not";
  EXPECT_GT(next.size(), 200u) << "and all letters";
}

TEST_F(GrammarTokensTest, ATurnFollowsWhatIsDrawn) {
  auto grammar = std::make_shared<TurnGrammar>();
  Grammar& g = grammar->grammar;
  Grammar::Bytes digits;
  for (char digit = '0'; digit <= '9'; ++digit) digits.set(static_cast<size_t>(digit));
  grammar->start = g.Sequence({g.Literal("<call>"), g.Repeat(g.OneOf(digits), 1, 2)});
  grammar->ends = {Added("<end>")};
  GrammarTurn turn(grammar, &tokens_, {});
  std::vector<TokenId> drawn = {Added("<call>")};
  EXPECT_EQ(turn.Allowed({}), drawn);
  const TokenId one = tokenizer_.Encode("1").at(0);
  EXPECT_EQ(std::ssize(Texts(turn.Allowed(drawn))), 10) << "digits";
  drawn.push_back(one);
  const std::vector<TokenId> then = turn.Allowed(drawn);
  EXPECT_TRUE(std::binary_search(then.begin(), then.end(), Added("<end>")));
  EXPECT_EQ(then.size(), 11u) << "ten digits, or the end";
  drawn.push_back(one);
  EXPECT_EQ(turn.Allowed(drawn), grammar->ends);

  GrammarTurn hindered(grammar, &tokens_, std::vector<TokenId>{Added("<call>")});
  EXPECT_EQ(hindered.Allowed({}), grammar->ends) << "never nothing at all";
}

}  // namespace
}  // namespace hone
