#include "app/serve_turn.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

const Tokenizer& TheTokenizer() {
  static const Tokenizer tokenizer =
      Tokenizer::Load(HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json").value();
  return tokenizer;
}

struct Seen {
  TurnDelta deltas;  // all of them together
  TurnDelta told;
  size_t pieces = 0;  // of content
};

Seen Read(const std::string& dialect_name, const std::string& text, size_t step,
          bool stopped = true, const std::vector<std::string>& stops = {}) {
  const auto dialect = NewDialect(dialect_name).value();
  ServedTurn turn(dialect.get(), &TheTokenizer(), stops);
  const std::vector<TokenId> tokens = TheTokenizer().Encode(text);
  Seen seen;
  const auto add = [&](TurnDelta delta) {
    seen.deltas.content += delta.content;
    seen.deltas.reasoning += delta.reasoning;
    seen.pieces += !delta.content.empty();
    for (ParsedCall& call : delta.calls) seen.deltas.calls.push_back(std::move(call));
  };
  for (size_t i = 0; i < tokens.size(); i += step) {
    add(turn.Feed(std::span(tokens).subspan(i, std::min(step, tokens.size() - i))));
  }
  add(turn.Finish(stopped));
  seen.told = turn.told();
  EXPECT_EQ(seen.deltas.content, seen.told.content) << text;
  EXPECT_EQ(seen.deltas.reasoning, seen.told.reasoning) << text;
  EXPECT_EQ(seen.deltas.calls.size(), seen.told.calls.size()) << text;
  return seen;
}

TEST(ServedTurn, WhatIsToldInPiecesIsWhatIsToldInTheEnd) {
  const char* turns[] = {
      "Hello, how are you? Ünïcode – 你好 🙂.<|im_end|>",
      "Let me look. <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": "
      "1}}\n</tool_call><|im_end|>",
      "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"name\": "
      "\"g\", \"arguments\": {}}\n</tool_call><|im_end|>",
      "<tool_call>\n{\"name\": broken}\n</tool_call><|im_end|>",
      "a < b and <tool is no marker  \n\n<|im_end|>",
      "cut off <tool_call>\n{\"name\"",
      "",
  };
  for (const char* turn : turns) {
    for (const size_t step : {1, 3, 1000}) {
      Read("hermes", turn, step);
      Read("hermes", turn, step, false);
    }
  }
}

TEST(ServedTurn, TextFlowsAndCallsComeWhole) {
  const Seen text = Read("hermes", "Hello, how are you today?<|im_end|>", 1);
  EXPECT_EQ(text.told.content, "Hello, how are you today?");
  EXPECT_GT(text.pieces, 3u) << "not all at the end";
  const Seen call =
      Read("hermes",
           "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call><|im_end|>", 1);
  ASSERT_EQ(call.told.calls.size(), 1u);
  EXPECT_EQ(call.told.calls[0].name, "f");
  EXPECT_EQ(call.told.content, "");
}

TEST(ServedTurn, WhatCannotBeReadIsToldAsItIs) {
  const Seen seen =
      Read("hermes", "So: <tool_call>\n{\"name\": broken}\n</tool_call><|im_end|>", 1);
  EXPECT_TRUE(seen.told.calls.empty());
  EXPECT_EQ(seen.told.content, "So: <tool_call>\n{\"name\": broken}\n</tool_call>");
}

TEST(ServedTurn, TheClientsOwnStopsAreLeftOut) {
  EXPECT_EQ(Read("hermes", "one two three", 1, true, {" tw"}).told.content, "one");
}

TEST(PlainTurn, IsTheTextWithoutWhatEndedIt) {
  const std::vector<TokenId> end = {*TheTokenizer().FindAdded("<|im_end|>")};
  const auto read = [&](const std::string& text, std::vector<std::string> stops) {
    PlainTurn turn(&TheTokenizer(), std::move(stops), end);
    std::string all;
    for (const TokenId token : TheTokenizer().Encode(text)) all += turn.Feed({&token, 1});
    all += turn.Finish();
    EXPECT_EQ(all, turn.told());
    return all;
  };
  EXPECT_EQ(read("Grüße 你好<|im_end|>", {}), "Grüße 你好");
  EXPECT_EQ(read("one two three", {"zzz", " th"}), "one two");
  EXPECT_EQ(read("half of a stop: th", {"the end"}), "half of a stop: th");
}

TEST(StopAtText, SeesStopsAcrossTokens) {
  EXPECT_EQ(StopAtText(&TheTokenizer(), {}), nullptr);
  const auto stop = StopAtText(&TheTokenizer(), {"day. A"});
  const std::vector<TokenId> tokens = TheTokenizer().Encode("It is Monday. And so on");
  size_t length = 1;
  while (length <= tokens.size() && !stop(std::span(tokens).first(length))) ++length;
  ASSERT_LE(length, tokens.size());
  const std::string text = TheTokenizer().Decode(std::span(tokens).first(length));
  EXPECT_NE(text.find("day. A"), std::string::npos) << text;
  EXPECT_EQ(TheTokenizer().Decode(std::span(tokens).first(length - 1)).find("day. A"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
