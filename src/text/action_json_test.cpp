#include "text/action_json.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

ParsedTurn Parsed(std::string_view text) {
  return NewActionJson(ChatMlFrame(), "action-json")->Parse(text, TurnEnd::kUnknown);
}

std::string FaultOf(std::string_view text) {
  const ParsedTurn turn = Parsed(text);
  EXPECT_EQ(turn.faults.size(), 1u) << text;
  EXPECT_EQ(turn.answer, std::nullopt);
  if (turn.faults.empty()) return "";
  return std::string(FaultKindName(turn.faults[0].kind)) + ": " + turn.faults[0].message;
}

TEST(ActionJson, ReadsCallsAndAnswers) {
  const std::string text =
      R"(I need the weather. <action>{"type":"call","when":true,"which":"weather","how":{"city":"Berlin","date":"2025-05-09"}}</action>)";
  const ParsedTurn call = Parsed(text);
  ASSERT_EQ(call.calls.size(), 1u);
  EXPECT_EQ(call.calls[0].name, "weather");
  EXPECT_EQ(call.calls[0].arguments.Find("city")->AsString(), "Berlin");
  EXPECT_EQ(call.reasoning, "I need the weather.");
  EXPECT_EQ(text.substr(call.calls[0].range.begin, 8), "<action>");
  EXPECT_EQ(call.calls[0].range.end, text.size());
  EXPECT_EQ(
      Parsed(
          R"(<action>{"type":"answer","when":false,"content":"Rain in Berlin."}</action><|im_end|>)")
          .answer,
      "Rain in Berlin.");
}

TEST(ActionJson, EveryBrokenRuleIsAFault) {
  EXPECT_EQ(FaultOf("hello"), "no_action: the turn holds no <action>");
  EXPECT_EQ(FaultOf("hello <act"), "incomplete: the turn was cut off before its end");
  EXPECT_EQ(FaultOf(R"(<action>{"type":"call")"),
            "incomplete: <action>: not JSON: a ',' or '}' is missing");
  EXPECT_EQ(FaultOf("<action>{type:1}</action>"),
            "bad_json: <action>: not JSON: a key in double quotes is missing");
  EXPECT_EQ(FaultOf(R"(<action>{"type":"shout"}</action>)"),
            "bad_call: <action>: \"type\" must be \"call\" or \"answer\"");
  EXPECT_EQ(FaultOf(R"(<action>{"type":"call","when":false,"which":"f","how":{}}</action>)"),
            "bad_call: <action>: a call has \"when\": true");
  EXPECT_EQ(FaultOf(R"(<action>{"type":"answer","when":true,"content":""}</action>)"),
            "bad_call: <action>: an answer has \"when\": false");
  EXPECT_EQ(FaultOf(R"(<action>{"type":"call","when":true,"which":"f","how":[]}</action>)"),
            "bad_call: <action>: \"how\" must be an object");
  EXPECT_EQ(FaultOf(R"(<action>{"type":"call","when":true,"wich":"f","how":{}}</action>)"),
            "bad_call: <action>: unknown field \"wich\" (did you mean \"which\"?)");
  EXPECT_EQ(FaultOf(R"(<action>{"type":"call","when":true,"which":"f"}</action>)"),
            "bad_call: <action>: the field \"how\" is missing");
  EXPECT_EQ(FaultOf(R"(<action>{"type":"answer","when":false,"content":"x"}</action> and more)"),
            "unexpected_text: text after the action");
  EXPECT_EQ(
      FaultOf(R"(<action>{"type":"answer","when":false,"content":"x"}</action><|im_end|>more)"),
      "unexpected_text: text after the end of the turn");
}

TEST(ActionJson, WhatItSpellsItReads) {
  for (const bool chat : {true, false}) {
    const auto dialect = NewActionJson(chat ? ChatMlFrame() : PlainFrame(), "action-json");
    Conversation conversation;
    conversation.messages.push_back({.role = Role::kUser, .content = "hi"});
    Message call{.role = Role::kAssistant, .content = "hm"};
    call.calls.push_back({"f", Json::Of({{"x", "</action>"}})});
    conversation.messages.push_back(call);
    auto pieces = dialect->Render(conversation);
    ASSERT_TRUE(pieces.ok());
    const auto policy = std::find_if(pieces->begin(), pieces->end(),
                                     [](const Piece& p) { return p.author == Author::kPolicy; });
    ASSERT_NE(policy, pieces->end());
    const ParsedTurn turn = dialect->Parse(policy->text, TurnEnd::kUnknown);
    ASSERT_EQ(turn.calls.size(), 1u);
    EXPECT_EQ(turn.calls[0].arguments, call.calls[0].arguments);
    EXPECT_EQ(turn.reasoning, "hm");
  }
}

TEST(ActionJson, TwoCallsInOneTurnCannotBeSpelled) {
  Conversation conversation;
  Message message{.role = Role::kAssistant};
  message.calls = {{"f", Json::Object()}, {"g", Json::Object()}};
  conversation.messages.push_back(message);
  EXPECT_EQ(NewActionJson(ChatMlFrame(), "x")->Render(conversation).error().code(),
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace hone
