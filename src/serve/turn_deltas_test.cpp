#include "serve/turn_deltas.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "support/template_dialects.h"

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

Seen Read(const Dialect& dialect, const std::string& text, size_t step, bool stopped = true,
          const std::vector<std::string>& stops = {}, const ServedTurn::Options& options = {}) {
  ServedTurn turn(&dialect, &TheTokenizer(), stops, options);
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

Seen Read(const std::string& dialect, const std::string& text, size_t step, bool stopped = true,
          const std::vector<std::string>& stops = {}, const ServedTurn::Options& options = {}) {
  return Read(*NewDialect(dialect).value(), text, step, stopped, stops, options);
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

// Marks, halves of marks, calls and words in any order, in every dialect.
TEST(ServedTurn, WhatIsToldInPiecesIsWhatIsToldInTheEndWhateverTheTextIs) {
  const std::vector<std::unique_ptr<Dialect>> dialects = EveryDialect();
  Rng rng(5);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (uint64_t left = rng.Below(9); left > 0; --left) {
      text += TurnFragment(&rng);
    }
    for (const auto& dialect : dialects) {
      const bool stopped = rng.Below(2) == 0, thinking = rng.Below(3) == 0,
                 may_call = rng.Below(4) != 0;
      const std::vector<std::string> stops = {rng.Below(2) == 0 ? "STOP" : "zzz"};
      for (const size_t step : {1, 2}) {
        Read(*dialect, text, step, stopped, stops, {thinking, may_call});
        ASSERT_FALSE(testing::Test::HasFailure())
            << dialect->traits().name << " thinking " << thinking << ": " << text;
      }
    }
  }
}

TEST(ServedTurn, AThoughtIsToldApartAlsoWhereALimitEndsIt) {
  const Seen cut = Read("hermes:qwen3", "<think>\nLet me see", 1, false);
  EXPECT_EQ(cut.told.reasoning, "Let me see");
  EXPECT_EQ(cut.told.content, "");
  const Seen opened =
      Read("hermes:qwen3", "\nhm</think>\n\nHi<|im_end|>", 1, true, {}, {.thinking = true});
  EXPECT_EQ(opened.told.reasoning, "hm");
  EXPECT_EQ(opened.told.content, "Hi");
  const Seen broken = Read("tagged:tapo", "<think>a</think> no action", 1, true);
  EXPECT_EQ(broken.told.reasoning, "a");
  EXPECT_EQ(broken.told.content, "no action");
  // Calls without a mark: what begins as one is no thought before its end is there.
  const auto pythonic = DialectCalling(CallFormat::kPythonic);
  const Seen bare = Read(*pythonic, "[f(a=1)]", 1, true, {}, {.thinking = true});
  EXPECT_EQ(bare.told.reasoning, "");
  EXPECT_EQ(bare.told.calls.size(), 1u);
  const Seen forgot = Read(
      "hermes:qwen3", "hm <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call><|im_end|>", 1,
      true, {}, {.thinking = true});
  EXPECT_EQ(forgot.told.reasoning, "hm");
  EXPECT_EQ(forgot.told.calls.size(), 1u);
}

TEST(ServedTurn, AnAnswerBetweenTagsFlowsAndIsToldAsFarAsItCame) {
  const Seen whole = Read("tagged:desk", "<answer> It is Monday, I think. </answer>", 1);
  EXPECT_EQ(whole.told.content, "It is Monday, I think.");
  EXPECT_GT(whole.pieces, 2u) << "not all at the end";
  EXPECT_EQ(Read("tagged:desk", "<answer>It is Mon", 1, false).told.content, "It is Mon");
  EXPECT_EQ(Read("tagged:tapo", "<think>a</think><answer>b</ans", 1, false).told.content, "b</ans");
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

TEST(ServedTurn, WhereNobodyMayCallACallIsText) {
  const std::string call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
  for (const char* dialect : {"hermes", "tagged:desk"}) {
    const Seen seen = Read(dialect, call, 1, true, {}, {.may_call = false});
    EXPECT_TRUE(seen.told.calls.empty());
    EXPECT_EQ(seen.told.content, call);
  }
  const Seen thought = Read("hermes:qwen3", "hm " + call, 1, true, {}, {true, false});
  EXPECT_TRUE(thought.told.calls.empty());
  EXPECT_EQ(Read("hermes", "Hi<|im_end|>", 1, true, {}, {.may_call = false}).told.content, "Hi");
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
