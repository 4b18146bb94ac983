#include "data/conversation_shapes.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

ShapedRow Shaped(const char* text) { return ToMessages(ParseJson(text).value()).value(); }
std::string Refused(const char* text) {
  const Result<ShapedRow> row = ToMessages(ParseJson(text).value());
  return row.ok() ? "" : row.error().message();
}
const Json& MessageOf(const ShapedRow& row, size_t index) {
  return row.row.Find("messages")->AsArray().at(index);
}
Json Parsed(const char* text) { return ParseJson(text).value(); }

TEST(ConversationShapesTest, MessagesStayAsTheyAre) {
  const ShapedRow row = Shaped(
      R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
          "tools": [{"type": "function", "function": {"name": "f", "parameters":
          {"type": "object", "properties": {}}}}], "id": 7})");
  EXPECT_EQ(row.shape, RowShape::kMessages);
  EXPECT_EQ(MessageOf(row, 1), Parsed(R"({"role": "assistant", "content": "ho"})"));
  EXPECT_EQ(row.row.Find("tools")->AsArray().size(), 1u);
}

TEST(ConversationShapesTest, OldCallsOfOpenAiBecomeToolCalls) {
  const ShapedRow row = Shaped(
      R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": null,
          "function_call": {"name": "f", "arguments": "{\"a\": 1}"}}],
          "functions": [{"name": "f", "parameters": {"type": "object", "properties": {}}}]})");
  EXPECT_EQ(*MessageOf(row, 1).Find("tool_calls"),
            Parsed(R"([{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}])"));
  EXPECT_EQ(row.row.Find("tools")->AsArray().size(), 1u);
}

// As LLaMA-Factory has them: a call and its result have speakers of their own.
TEST(ConversationShapesTest, ShareGptWithFunctionCalls) {
  const ShapedRow row = Shaped(
      R"({"conversations": [{"from": "human", "value": "weather?"},
          {"from": "function_call", "value": "{\"name\": \"w\", \"arguments\": {\"c\": \"Rome\"}}"},
          {"from": "observation", "value": "{\"t\": 20}"}, {"from": "gpt", "value": "20"}],
          "system": "Be brief.",
          "tools": "[{\"name\": \"w\", \"parameters\": {\"type\": \"object\"}}]"})");
  EXPECT_EQ(row.shape, RowShape::kShareGpt);
  EXPECT_EQ(MessageOf(row, 0), Parsed(R"({"role": "system", "content": "Be brief."})"));
  EXPECT_EQ(
      *MessageOf(row, 2).Find("tool_calls"),
      Parsed(R"([{"type": "function", "function": {"name": "w", "arguments": {"c": "Rome"}}}])"));
  EXPECT_EQ(MessageOf(row, 3), Parsed(R"({"role": "tool", "content": "{\"t\": 20}"})"));
  EXPECT_EQ(MessageOf(row, 4), Parsed(R"({"role": "assistant", "content": "20"})"));
}

// As NousResearch's function-calling data has them: in the text, between markers.
TEST(ConversationShapesTest, CallsThoughtsAndResultsInTheTextAreTakenOut) {
  const ShapedRow row = Shaped(
      R"({"conversations": [{"from": "human", "value": "both?"},
          {"from": "gpt", "value": "<think>two calls</think>\n<tool_call>\n{\"name\": \"a\", \"arguments\": {\"x\": 1}}\n</tool_call>\n<tool_call>\n{\"name\": \"b\", \"arguments\": {}}\n</tool_call>"},
          {"from": "tool", "value": "<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>"},
          {"from": "gpt", "value": "done", "weight": 0}]})");
  const Json& turn = MessageOf(row, 1);
  EXPECT_EQ(*turn.Find("reasoning_content"), Json("two calls"));
  EXPECT_EQ(*turn.Find("content"), Json(""));
  ASSERT_EQ(turn.Find("tool_calls")->AsArray().size(), 2u);
  EXPECT_EQ(*turn.Find("tool_calls")->AsArray()[1].Find("function")->Find("name"), Json("b"));
  EXPECT_EQ(*MessageOf(row, 2).Find("content"), Json("1"));
  EXPECT_EQ(*MessageOf(row, 3).Find("content"), Json("2"));
  EXPECT_EQ(*MessageOf(row, 4).Find("weight"), Json(0));
}

TEST(ConversationShapesTest, PromptsAndCompletions) {
  EXPECT_EQ(Shaped(R"({"prompt": "1+1?", "completion": "2"})").shape, RowShape::kCompletion);
  EXPECT_EQ(MessageOf(Shaped(R"({"question": "1+1?", "answer": 2})"), 1),
            Parsed(R"({"role": "assistant", "content": "2"})"));
  // What an assistant said in a prompt is read and not imitated.
  const ShapedRow row = Shaped(
      R"({"prompt": [{"role": "assistant", "content": "hello"}, {"role": "user", "content": "hi"}],
          "completion": [{"role": "assistant", "content": "ho"}]})");
  EXPECT_EQ(*MessageOf(row, 0).Find("weight"), Json(0));
  EXPECT_EQ(MessageOf(row, 2).Find("weight"), nullptr);
}

TEST(ConversationShapesTest, AlpacaWithInputAndHistory) {
  const ShapedRow row = Shaped(
      R"({"instruction": "Add.", "input": "1 2", "output": "3", "history": [["hi", "ho"]]})");
  EXPECT_EQ(row.shape, RowShape::kAlpaca);
  EXPECT_EQ(*MessageOf(row, 1).Find("content"), Json("ho"));
  EXPECT_EQ(*MessageOf(row, 2).Find("content"), Json("Add.\n1 2"));
  EXPECT_EQ(*MessageOf(row, 3).Find("content"), Json("3"));
}

// xLAM: everything is text, and parameters stand without the schema around them.
TEST(ConversationShapesTest, QuestionsWithTheCallsThatTheyTake) {
  const ShapedRow row = Shaped(
      R"({"query": "Rome?", "answers": "[{\"name\": \"w\", \"arguments\": {\"c\": \"Rome\"}}]",
          "tools": "[{\"name\": \"w\", \"description\": \"d\", \"parameters\": {\"c\": {\"type\": \"str, optional\", \"description\": \"city\"}}}]"})");
  EXPECT_EQ(row.shape, RowShape::kCalls);
  EXPECT_EQ(MessageOf(row, 1).Find("tool_calls")->AsArray().size(), 1u);
  EXPECT_EQ(*row.row.Find("tools")->AsArray()[0].Find("parameters"),
            Parsed(R"({"type": "object", "properties":
                       {"c": {"type": "string", "description": "city"}}})"));
}

TEST(ConversationShapesTest, PlainTextStaysPlainText) {
  const ShapedRow row = Shaped(R"({"text": "Call me Ishmael.", "source": "a book"})");
  EXPECT_EQ(row.shape, RowShape::kText);
  EXPECT_EQ(row.row, Parsed(R"({"text": "Call me Ishmael."})"));
  EXPECT_EQ(Refused(R"({"text": ""})"), "text: must say something");
  EXPECT_EQ(Refused(R"({"text": 7})"), "text: must say something");
  // What says who speaks goes before it.
  EXPECT_EQ(Shaped(R"({"text": "a", "prompt": "b", "completion": "c"})").shape,
            RowShape::kCompletion);
}

TEST(ConversationShapesTest, WhatCannotBeReadIsNamed) {
  EXPECT_NE(Refused("[1]").find("wants an object"), std::string::npos);
  EXPECT_NE(Refused(R"({"texts": "a"})").find("its keys are texts"), std::string::npos);
  EXPECT_NE(Refused(R"({"messages": [], "tools": "nonsense"})").find("tools: is text that is no"),
            std::string::npos);
  EXPECT_NE(Refused(R"({"conversations": [{"from": "ghost", "value": "a"}]})")
                .find("conversations[0].from: \"ghost\""),
            std::string::npos);
  EXPECT_NE(Refused(R"({"conversations": [{"from": "gpt", "value": "<tool_call>{'a': 1}"}]})")
                .find("conversations[0].value"),
            std::string::npos);
  EXPECT_NE(Refused(R"({"instruction": "a"})").find("output"), std::string::npos);
}

}  // namespace
}  // namespace hone
