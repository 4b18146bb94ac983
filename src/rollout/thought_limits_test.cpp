#include "rollout/thought_limits.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/desk_rollout.h"
#include "text/bpe_trainer.h"

namespace hone {
namespace {

// A tokenizer of letters, with the dialect's markers as tokens or without.
Tokenizer Letters(const Dialect& dialect, bool markers) {
  BpeTrainingOptions options{.vocab_size = 256, .min_frequency = 2, .nfc = false};
  if (markers) options.added = AddedTokensOf(dialect.traits());
  return TrainBpe({"a"}, options).value();
}

// Somebody who wants to write a text, and what is written of it under limits.
class Writer {
 public:
  explicit Writer(const std::string& dialect, const ThoughtLimits& limits, bool markers = true)
      : dialect_(NewDialect(dialect).value()),
        tokenizer_(Letters(*dialect_, markers)),
        limiter_(ThoughtLimiter::New(*dialect_, tokenizer_, limits).value()) {}

  std::string Write(const std::string& text, const std::string& before = "") {
    const std::vector<TokenId> prompt = tokenizer_.Encode(before);
    const std::vector<TokenId> wanted = tokenizer_.Encode(text);
    const auto allow = limiter_.Allow(prompt);
    std::vector<TokenId> drawn;
    for (size_t next = 0; next < wanted.size();) {
      const std::vector<TokenId> allowed = allow(drawn);
      EXPECT_LE(allowed.size(), 1u) << "either one token follows, or any";
      const TokenId token = allowed.empty() ? wanted[next] : allowed[0];
      next += token == wanted[next] ? 1 : 0;
      drawn.push_back(token);
    }
    closed_ = limiter_.ClosedIn(drawn, prompt);
    return tokenizer_.Decode(drawn);
  }
  int32_t closed() const { return closed_; }  // in what was written last

 private:
  std::unique_ptr<Dialect> dialect_;
  Tokenizer tokenizer_;
  ThoughtLimiter limiter_;
  int32_t closed_ = 0;
};

TEST(ThoughtLimits, AThoughtIsClosedWhenItsTokensAreSpent) {
  Writer writer("tagged:study", {.tokens = 4});
  EXPECT_EQ(writer.Write("<think>abcdefgh<search>x</search>"),
            "<think>abcd</think>efgh<search>x</search>");
  EXPECT_EQ(writer.closed(), 1);
  EXPECT_EQ(writer.Write("<think>abcd</think><search>x</search>"),
            "<think>abcd</think><search>x</search>");
  EXPECT_EQ(writer.closed(), 1) << "the marker is all that could follow: it was the limit's";
  EXPECT_EQ(writer.Write("<think>abc</think><search>abcdefghijk</search>"),
            "<think>abc</think><search>abcdefghijk</search>");
  EXPECT_EQ(writer.closed(), 0);
  EXPECT_EQ(writer.Write("<answer>abcdefghijk</answer>"), "<answer>abcdefghijk</answer>");
}

TEST(ThoughtLimits, SeveralThoughtsOfATurnShareTheTokens) {
  Writer writer("tagged:tapo", {.tokens = 3});
  EXPECT_EQ(writer.Write("<think>ab</think>\n<think>cdefg</think>"),
            "<think>ab</think>\n<think>c</think>defg</think>");
  EXPECT_EQ(writer.closed(), 1);
  EXPECT_EQ(writer.Write("<think>abcdefgh</think> <think>c"),
            "<think>abc</think>defgh</think> <think></think>c")
      << "text in front of a thought does not hide it";
}

TEST(ThoughtLimits, TextInFrontOfAThoughtDoesNotHideIt) {
  Writer writer("tagged:search-r1", {.tokens = 2});
  EXPECT_EQ(writer.Write("Well, well. <think>abcdef"), "Well, well. <think>ab</think>cdef");
  EXPECT_EQ(writer.closed(), 1);
  EXPECT_EQ(writer.Write("<search><think>abcdef</search>"), "<search><think>abcdef</search>")
      << "an action's own text is no thought";
}

TEST(ThoughtLimits, OneThatIsOpenedWithoutTokensLeftIsClosedAtOnce) {
  Writer writer("tagged:study", {.tokens = 2});
  EXPECT_EQ(writer.Write("<think>ab</think><think>cd"), "<think>ab</think><think></think>cd");
  EXPECT_EQ(writer.closed(), 2);
  EXPECT_EQ(writer.Write("<think>a</think><think>bcd"), "<think>a</think><think>b</think>cd");
  EXPECT_EQ(writer.closed(), 1);
  Writer none("tagged:study", {.tokens = 0});
  EXPECT_EQ(none.Write("<think>a"), "<think></think>a");
}

TEST(ThoughtLimits, AMarkerOfSeveralTokensIsWrittenOneByOne) {
  Writer writer("hermes:qwen3", {.tokens = 5}, /*markers=*/false);
  EXPECT_EQ(writer.Write("<think>abcdefgh<tool_call>"), "<think>abcde</think>fgh<tool_call>");
  EXPECT_EQ(writer.closed(), 1);
  EXPECT_EQ(writer.Write("<think>abc</think>defghijklmnopqrstuvwxyz"),
            "<think>abc</think>defghijklmnopqrstuvwxyz");
  EXPECT_EQ(writer.closed(), 0);
  EXPECT_EQ(writer.Write("<think>abc</xyz"), "<think>abc</x</think>yz") << "it began no marker";
  EXPECT_EQ(writer.Write("<think>abcd<xyz"), "<think>abcd<x</think>yz");
  EXPECT_EQ(writer.Write("<tool_call>{\"a\": \"<think>abcdefghijklmnopq"),
            "<tool_call>{\"a\": \"<think>abcdefghijklmnopq")
      << "a marker inside of a call opens nothing";
}

TEST(ThoughtLimits, AThoughtThatThePromptOpenedIsOne) {
  Writer writer("hermes:qwen3", {.tokens = 3}, /*markers=*/false);
  const std::string prompt = "<|im_start|>assistant\n";
  EXPECT_EQ(writer.Write("abcdefgh", prompt + "<think>\n"), "abc</think>defgh");
  EXPECT_EQ(writer.closed(), 1);
  EXPECT_EQ(writer.Write("abcdefghijklmnop", prompt), "abcdefghijklmnop");
  EXPECT_EQ(writer.Write("abcdef", prompt + "<think>\n\n</think>\n\n"), "abcdef")
      << "closed by the prompt";
  Writer none("hermes:qwen3", {.tokens = 0}, /*markers=*/false);
  EXPECT_EQ(none.Write("abc", prompt + "<think>\n"), "</think>abc");
}

TEST(ThoughtLimits, AThoughtThatGoesRoundIsClosed) {
  Writer writer("tagged:study", {.repeats = 3});
  EXPECT_EQ(writer.Write("<think>so: wait wait wait wait wait"),
            "<think>so: wait wait wait</think> wait wait");
  EXPECT_EQ(writer.closed(), 1);
  EXPECT_EQ(writer.Write("<think>1000000000 and 11111</think>"),
            "<think>1000000000 and 11111</think>")
      << "a row of digits is no run";
  EXPECT_EQ(writer.closed(), 0);
  EXPECT_EQ(writer.Write("<think>1000000000000000</think>"),
            "<think>1000000000000</think>000</think>")
      << "a row of twelve is three runs of four";
  EXPECT_EQ(writer.Write("<answer>wait wait wait wait wait</answer>"),
            "<answer>wait wait wait wait wait</answer>")
      << "it is no thought";
}

TEST(ThoughtLimits, ACopyOfARequestKeepsItsOwnPlace) {
  const auto dialect = NewDialect("tagged:study").value();
  const Tokenizer tokenizer = Letters(*dialect, true);
  const ThoughtLimiter limiter = ThoughtLimiter::New(*dialect, tokenizer, {.tokens = 2}).value();
  const auto first = limiter.Allow({});
  const auto second = first;
  const std::vector<TokenId> thinks = tokenizer.Encode("<think>ab"),
                             answers = tokenizer.Encode("<answer>ab");
  EXPECT_EQ(first(thinks).size(), 1u);
  EXPECT_TRUE(second(answers).empty());
  EXPECT_EQ(first(thinks), std::vector<TokenId>{*tokenizer.FindAdded("</think>")});
}

TEST(ThoughtLimits, ADialectWithoutMarkersIsRefused) {
  const auto dialect = NewDialect("action-json").value();
  const Tokenizer tokenizer = Letters(*dialect, true);
  const auto limiter = ThoughtLimiter::New(*dialect, tokenizer, {.tokens = 4});
  ASSERT_FALSE(limiter.ok());
  EXPECT_NE(limiter.error().message().find("action-json has no markers around thoughts"),
            std::string::npos);
  DeskPolicy desk({});
  EXPECT_FALSE(
      Policy::New(&desk.engine(), &desk.dialect(), &desk.tokenizer(), {.thoughts = {.tokens = 4}})
          .ok());
}

// A model that was never trained writes anything; what its record says holds all the same.
TEST(ThoughtLimits, TheRecordOfARolloutSaysWhatALimitClosed) {
  DeskPolicy desk({.environment = "quiz", .dialect = "hermes:qwen3"});
  const Policy free = desk.Make({.temperature = 1, .forbidden_set = 1}, 40);
  PolicyOptions options = free.options();
  options.thoughts = {.tokens = 6};
  const Policy limited =
      Policy::New(&desk.engine(), &desk.dialect(), &desk.tokenizer(), options).value();
  const Opening opening{.messages = *ParseJson(R"([{"role": "user", "content": "why?"}])")};
  std::vector<TokenId> prompt;
  for (const Node& node : limited.codec().Prompt(opening).value()) {
    prompt.insert(prompt.end(), node.tokens.begin(), node.tokens.end());
  }
  const std::vector<TokenId> opened = desk.tokenizer().Encode("<think>\n");
  prompt.insert(prompt.end(), opened.begin(), opened.end());
  const auto draw = [&](const Policy& policy) {
    SampleRequest request;
    static_cast<TurnRequest&>(request) = policy.RequestFor(Rng(3), prompt);
    request.prompt = prompt;
    SampleResult drawn = desk.engine().Sample(std::span(&request, 1)).value()[0];
    Node node = policy.NodeOf(std::move(drawn), prompt);
    policy.codec().ReadTurn(TurnEnd::kUnknown, &node);
    return node;
  };
  const Node without = draw(free), with = draw(limited);
  EXPECT_EQ(without.closed_thoughts, 0);
  ASSERT_EQ(with.thoughts.size(), 1u);
  EXPECT_EQ(with.closed_thoughts, 1);

  // Up to where the limit spoke the draws are the same; there its tokens have probability one.
  const auto end = static_cast<size_t>(with.thoughts[0].end);
  const size_t marker = desk.tokenizer().Encode("</think>").size();
  EXPECT_EQ(end, 6 + marker);
  for (size_t t = 0; t < end - marker; ++t) {
    EXPECT_EQ(with.tokens[t], without.tokens[t]);
    EXPECT_EQ(with.logprobs[t], without.logprobs[t]);
    EXPECT_TRUE(with.supports[t].kept.empty());
  }
  for (size_t t = end - marker; t < end; ++t) {
    EXPECT_EQ(with.logprobs[t], 0);
    EXPECT_EQ(with.entropies[t], 0);
    EXPECT_EQ(with.supports[t].kept, std::vector<TokenId>{with.tokens[t]});
  }
}

}  // namespace
}  // namespace hone
