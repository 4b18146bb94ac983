#include "text/call_format.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

const std::vector<std::string> kStops = {"<|eot_id|>", "<|eom_id|>"};

ParsedTurn Llama3(std::string_view turn, TurnEnd end = TurnEnd::kUnknown) {
  return ParseTurnIn(CallFormat::kLlama3, turn, kStops, end);
}

TEST(CallFormat, IsGuessedFromTheTemplatesText) {
  EXPECT_EQ(GuessCallFormat("... <tool_call>\\n{\"name\": ..."), CallFormat::kHermes);
  EXPECT_EQ(GuessCallFormat("<|start_header_id|> ... \"parameters\": "), CallFormat::kLlama3);
  EXPECT_EQ(GuessCallFormat("<tool_call>\n<function=f>\n<parameter=x>"), CallFormat::kQwenXml);
  EXPECT_EQ(GuessCallFormat("{{ messages }}"), CallFormat::kNone);
  EXPECT_EQ(CallFormatOf("llama3"), CallFormat::kLlama3);
  EXPECT_EQ(CallFormatOf("klingon"), std::nullopt);
}

TEST(CallFormat, Llama3CallsWithOneObject) {
  const std::string turn = R"({"name": "f", "parameters": {"x": 1}}<|eot_id|>)";
  const ParsedTurn parsed = Llama3(turn);
  ASSERT_EQ(parsed.calls.size(), 1u);
  EXPECT_EQ(parsed.calls[0].name, "f");
  EXPECT_EQ(parsed.calls[0].arguments, Json::Of({{"x", 1}}));
  EXPECT_EQ(parsed.calls[0].range, (ByteRange{0, turn.size() - 10}));
  EXPECT_TRUE(parsed.faults.empty() && !parsed.answer);
}

TEST(CallFormat, Llama3MayTagAndChainCalls) {
  const ParsedTurn parsed = Llama3(
      "<|python_tag|>{\"name\": \"f\", \"parameters\": {}}; {\"name\": \"g\", \"arguments\": {}}"
      "<|eom_id|>");
  ASSERT_EQ(parsed.calls.size(), 2u);
  EXPECT_EQ(parsed.calls[1].name, "g");
  EXPECT_TRUE(parsed.faults.empty());
}

TEST(CallFormat, OtherTextIsTheAnswer) {
  EXPECT_EQ(Llama3("Hello, world!\nWhat's up?").answer, "Hello, world!\nWhat's up?");
  EXPECT_EQ(Llama3(R"({"city": "Paris"}<|eot_id|>)").answer, R"({"city": "Paris"})");
  EXPECT_EQ(ParseTurnIn(CallFormat::kNone, "{\"name\": 1}</s>", {"</s>"}, TurnEnd::kEnded).answer,
            "{\"name\": 1}");
}

FaultKind OnlyFault(std::string_view turn, TurnEnd end = TurnEnd::kUnknown) {
  const ParsedTurn parsed = Llama3(turn, end);
  EXPECT_EQ(parsed.faults.size(), 1u) << turn;
  EXPECT_FALSE(parsed.answer.has_value()) << turn;
  return parsed.faults.empty() ? FaultKind::kUnexpectedText : parsed.faults[0].kind;
}

TEST(CallFormat, WhatCannotBeReadIsATypedFault) {
  EXPECT_EQ(OnlyFault(R"({"name": "f", "parameters": {"x)"), FaultKind::kIncomplete);
  EXPECT_EQ(OnlyFault(R"({"na)"), FaultKind::kIncomplete);
  EXPECT_EQ(OnlyFault(R"({"name": "f", "parameters": 1}<|eot_id|>)"), FaultKind::kBadCall);
  EXPECT_EQ(OnlyFault(R"({"name": 1, "parameters": {}}<|eot_id|>)"), FaultKind::kBadCall);
  EXPECT_EQ(OnlyFault("<|python_tag|>search.call(x)<|eom_id|>"), FaultKind::kBadJson);
  EXPECT_EQ(OnlyFault(R"({"name": "f", "parameters": {}} and<|eot_id|>)"),
            FaultKind::kUnexpectedText);
  EXPECT_EQ(OnlyFault("Hello<|eot_id|>more"), FaultKind::kUnexpectedText);
  EXPECT_EQ(OnlyFault("Hello", TurnEnd::kCut), FaultKind::kIncomplete);
  EXPECT_EQ(OnlyFault("<|eot_id|>"), FaultKind::kNoAction);
}

TEST(CallFormat, HermesTurnsMayEndWithAnotherModelsMarker) {
  const ParsedTurn parsed = ParseTurnIn(
      CallFormat::kHermes, "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call></s>",
      {"</s>"}, TurnEnd::kUnknown);
  EXPECT_EQ(parsed.calls.size(), 1u);
  EXPECT_TRUE(parsed.faults.empty());
}

}  // namespace
}  // namespace hone
