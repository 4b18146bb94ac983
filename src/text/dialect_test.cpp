#include "text/dialect.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Dialects, AreFoundByName) {
  for (const auto& [name, about] : BuiltInDialects()) {
    if (name.ends_with(".toml") || name.starts_with("template:")) continue;
    auto dialect = NewDialect(name);
    ASSERT_TRUE(dialect.ok()) << name;
    EXPECT_FALSE((*dialect)->traits().stops.empty()) << name;
    EXPECT_FALSE(about.empty());
  }
  EXPECT_EQ((*NewDialect("tagged"))->traits().name, "tagged:desk");
}

TEST(Dialects, AnUnknownNameGetsTheNearestAndTheList) {
  auto dialect = NewDialect("hermse");
  ASSERT_FALSE(dialect.ok());
  EXPECT_TRUE(dialect.error().message().starts_with(
      "unknown dialect \"hermse\" (did you mean \"hermes\"?); there are: hermes,"))
      << dialect.error().message();
  EXPECT_FALSE(NewDialect("tagged:nope").ok());
  EXPECT_EQ(NewDialect("tagged:/nowhere.toml").error().code(), ErrorCode::kNotFound);
}

TEST(Dialects, AContinuationIsNotAConversation) {
  auto dialect = NewDialect("hermes");
  Conversation next;
  EXPECT_FALSE((*dialect)->Continue("x", next).ok());
  next.messages.push_back({.role = Role::kAssistant, .content = "x"});
  EXPECT_FALSE((*dialect)->Continue("x", next).ok());
}

// Where a tokenizer does not have the markers as tokens, one token can hold the end of one call and
// the beginning of the next.
TEST(Dialects, SpansOfNeighbouringCallsNeverOverlapOnTheRecord) {
  const Tokenizer tokenizer = *Tokenizer::Load(HONE_SOURCE_DIR "/tests/golden/tokenizer");
  const std::string call = R"(<tool_call>{"name":"f","arguments":{}}</tool_call>)";
  Node node;
  node.tokens = tokenizer.Encode(call + call);
  ParsedTurn turn = (*NewDialect("hermes"))->Parse(call + call, TurnEnd::kEnded);
  ASSERT_EQ(turn.calls.size(), 2u);
  turn.calls[1].range.begin -= 3;  // as if the tokens did not fall on the markers
  RecordTurn(tokenizer, turn, &node);
  EXPECT_EQ(node.calls[0].span.end, node.calls[1].span.begin);
  EXPECT_EQ(node.calls[1].span.end, static_cast<int32_t>(node.tokens.size()));
}

// Of a turn that thinks and calls in a format whose markers are no tokens of their own.
TEST(Dialects, ATokenBetweenThoughtAndCallIsTheCalls) {
  const Tokenizer tokenizer = *Tokenizer::Load(HONE_SOURCE_DIR "/tests/golden/tokenizer");
  const std::string text =
      "<think>\nwhy\n</think>"
      R"(<tool_call>{"name":"f","arguments":{}}</tool_call>)";
  Node node;
  node.closed_thoughts = 3;
  node.tokens = tokenizer.Encode(text);
  ParsedTurn turn = (*NewDialect("hermes:qwen3"))->Parse(text, TurnEnd::kEnded);
  ASSERT_EQ(turn.thoughts.size(), 1u);
  ASSERT_EQ(turn.calls.size(), 1u);
  turn.thoughts[0].end += 3;
  RecordTurn(tokenizer, turn, &node);
  ASSERT_EQ(node.thoughts.size(), 1u);
  EXPECT_EQ(node.thoughts[0].begin, 0);
  EXPECT_EQ(node.thoughts[0].end, node.calls[0].span.begin);
  EXPECT_EQ(node.closed_thoughts, 1) << "no more than there are";
}

}  // namespace
}  // namespace hone
