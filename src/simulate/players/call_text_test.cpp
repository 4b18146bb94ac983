#include "simulate/players/call_text.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

JournaledCalls Some() {
  JournaledCalls recorded;
  for (int i = 0; i < 20; ++i) {
    recorded.calls.push_back({.tool = "weather",
                              .arguments = Json::Of({{"city", "Oslo"}}),
                              .answer = {CallStatus::kOk, R"({"sky":"rain"})", ""}});
  }
  return recorded;
}

TEST(CallText, AnAnswerComesBackFromItsTokens) {
  const Tokenizer tokenizer = TrainCallTokenizer(Some(), 300).value();
  for (const PlayedResult& answer :
       {PlayedResult{CallStatus::kOk, R"({"sky":"rain"})", ""},
        PlayedResult{CallStatus::kToolError, "über <|end|> 漢字", ""}}) {
    EXPECT_EQ(AnswerOfTokens(tokenizer, AnswerTokens(tokenizer, answer)), answer);
  }
}

TEST(CallText, TokensThatMakeNoSenseAreAProblem) {
  const Tokenizer tokenizer = TrainCallTokenizer(Some(), 300).value();
  std::vector<TokenId> tokens = AnswerTokens(tokenizer, {CallStatus::kOk, "x", ""});
  const TokenId end = EndToken(tokenizer);
  EXPECT_FALSE(AnswerOfTokens(tokenizer, {}).problem.empty());
  EXPECT_FALSE(AnswerOfTokens(tokenizer, {tokens[0]}).problem.empty());
  EXPECT_FALSE(AnswerOfTokens(tokenizer, {tokens[1], end}).problem.empty());
  EXPECT_FALSE(AnswerOfTokens(tokenizer, {tokens[0], end, end}).problem.empty());
}

TEST(CallText, ANameIsTheSameTokenInQuestionsAndAnswers) {
  const Tokenizer tokenizer = TrainCallTokenizer(Some(), 300).value();
  const std::vector<TokenId> alone = tokenizer.Encode("Oslo");
  ASSERT_EQ(alone.size(), 1u);
  const std::vector<TokenId> call =
      CallTokens(tokenizer, "weather", Json::Of({{"city", "Oslo"}}), {}, {});
  EXPECT_NE(std::find(call.begin(), call.end(), alone[0]), call.end());
}

TEST(CallText, WhatWasWrittenAndKnownStandsBeforeTheCall) {
  const Tokenizer tokenizer = TrainCallTokenizer(Some(), 300).value();
  const Json arguments = Json::Of({{"city", "Oslo"}});
  const std::string text = tokenizer.Decode(
      CallTokens(tokenizer, "weather", arguments, {{"set", arguments, CallStatus::kOk, "done"}},
                 {{"weather", arguments, {CallStatus::kOk, "rain", ""}}}));
  EXPECT_EQ(text,
            R"(<|known|>weather {"city":"Oslo"}<|ok|>rain<|write|>set {"city":"Oslo"}<|ok|>done)"
            R"(<|call|>weather {"city":"Oslo"})");
}

}  // namespace
}  // namespace hone
