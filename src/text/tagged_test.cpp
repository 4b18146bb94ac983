#include "text/tagged.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

std::unique_ptr<Dialect> Set(std::string_view name) {
  return NewDialect("tagged:" + std::string(name)).value();
}

ParsedTurn Parsed(std::string_view set, std::string_view text, TurnEnd end = TurnEnd::kUnknown) {
  return Set(set)->Parse(text, end);
}

std::string FaultOf(std::string_view set, std::string_view text) {
  const ParsedTurn turn = Parsed(set, text);
  return turn.faults.empty() ? "" : std::string(FaultKindName(turn.faults[0].kind));
}

TEST(Tagged, DeskRendersAsItsWorldDoes) {
  Conversation conversation;
  conversation.messages.push_back(
      {.role = Role::kUser, .content = "What is the sky in Oslo on Mon?"});
  Message call{.role = Role::kAssistant};
  call.calls.push_back({"weather", Json::Of({{"city", "Oslo"}, {"day", "Mon"}})});
  conversation.messages.push_back(call);
  conversation.messages.push_back({.role = Role::kTool, .content = R"({"sky":"fog","temp":17})"});
  conversation.messages.push_back({.role = Role::kAssistant, .content = "fog"});
  EXPECT_EQ(TextOf(*Set("desk")->Render(conversation)),
            "<user>What is the sky in Oslo on Mon?</user>"
            "<tool_call>{\"name\":\"weather\",\"arguments\":{\"city\":\"Oslo\",\"day\":\"Mon\"}}</"
            "tool_call>"
            "<tool_response>{\"sky\":\"fog\",\"temp\":17}</tool_response>"
            "<answer>fog</answer>");
}

TEST(Tagged, SearchR1PutsResultsInsideTheTurn) {
  const auto dialect = Set("search-r1");
  Conversation result;
  result.messages.push_back({.role = Role::kTool, .content = "Paris is a city.", .name = "search"});
  EXPECT_EQ(dialect->Continue("<search>Paris</search>", result)->text,
            "\n\n<information>Paris is a city.</information>\n\n");
  Conversation conversation;
  conversation.messages.push_back({.role = Role::kUser, .content = "q"});
  Message call{.role = Role::kAssistant, .reasoning = "hm"};
  call.calls.push_back({"search", Json::Of({{"query", "Paris"}})});
  conversation.messages.push_back(call);
  conversation.messages.push_back(result.messages[0]);
  conversation.messages.push_back({.role = Role::kAssistant, .content = "yes"});
  EXPECT_EQ(TextOf(*dialect->Render(conversation)),
            "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n<think>hm</think>\n"
            "<search>Paris</search>\n\n<information>Paris is a city.</information>\n\n"
            "<answer>yes</answer><|im_end|>\n");
}

TEST(Tagged, ATurnWithResultsInsideIsClosedWhenTheUserSpeaks) {
  Conversation next;
  next.messages = {{.role = Role::kTool, .content = "r", .name = "search"},
                   {.role = Role::kUser, .content = "u"}};
  EXPECT_EQ(Set("search-r1")->Continue("<search>x</search>", next)->text,
            "\n\n<information>r</information>\n\n<|im_end|>\n<|im_start|>user\nu<|im_end|>\n"
            "<|im_start|>assistant\n");
}

TEST(Tagged, ReadsTheActionsOfEverySet) {
  EXPECT_EQ(Parsed("tapo", "<think>a</think><search> x y </search>").calls[0].arguments,
            Json::Of({{"query", "x y"}}));
  EXPECT_EQ(Parsed("tapo", "<think>a</think><code>print(1)</code>").calls[0].name, "code");
  const ParsedTurn retool = Parsed("retool", "So <code>\n```python\nif x:\n    y()\n```\n</code>");
  EXPECT_EQ(retool.calls[0].arguments, Json::Of({{"code", "if x:\n    y()"}}));
  EXPECT_EQ(Parsed("retool", "<answer>\\boxed{\\frac{1}{2}}</answer>").answer, "\\frac{1}{2}");
  EXPECT_EQ(Parsed("deepagent", "I look <tool_search>weather api</tool_search>").calls[0].name,
            "tool_search");
  EXPECT_EQ(
      Parsed("deepagent", "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>").calls[0].name,
      "f");
  EXPECT_EQ(Parsed("deepagent", "too long <fold_thought>").calls[0].name, "fold_thought");
  EXPECT_EQ(Parsed("deepagent", "so \\boxed{1} or \\boxed{42}.<|im_end|>").answer, "42");
  EXPECT_EQ(Parsed("desk", "<answer>fog</answer>").answer, "fog");
}

TEST(Tagged, EveryBrokenRuleIsAFault) {
  EXPECT_EQ(FaultOf("tapo", "stray <search>x</search>"), "unexpected_text");
  EXPECT_EQ(FaultOf("search-r1", "stray <search>x</search>"), "") << "free text is allowed here";
  EXPECT_EQ(FaultOf("desk", "<answer>a</answer><answer>b</answer>"), "unexpected_text");
  EXPECT_EQ(FaultOf("desk", "<answer>a"), "incomplete");
  EXPECT_EQ(FaultOf("desk", "<ans"), "incomplete");
  EXPECT_EQ(FaultOf("desk", "<tool_call>{\"name\":1}</tool_call>"), "bad_call");
  EXPECT_EQ(FaultOf("desk", "<tool_call>x</tool_call>"), "bad_json");
  EXPECT_EQ(FaultOf("desk", ""), "no_action");
  EXPECT_EQ(FaultOf("search-r1", "I do not know"), "no_action");
  EXPECT_EQ(FaultOf("tapo", "<think>hm <search>x</search>"), "incomplete");
  EXPECT_EQ(Parsed("deepagent", "so \\boxed{4", TurnEnd::kCut).faults[0].kind,
            FaultKind::kIncomplete);
  EXPECT_EQ(FaultOf("deepagent", "a \\boxed{1} b <tool_call"), "incomplete");
  EXPECT_EQ(FaultOf("desk", "<answer>a</answer><|endoftext|>more"), "unexpected_text");
}

TEST(Tagged, WhatCouldNotBeReadBackIsNotRendered) {
  auto rendered = [](std::string_view set, const MessageCall& call) {
    Conversation conversation;
    Message message{.role = Role::kAssistant};
    message.calls.push_back(call);
    conversation.messages.push_back(message);
    return Set(set)->Render(conversation).ok();
  };
  EXPECT_TRUE(rendered("search-r1", {"search", Json::Of({{"query", "a"}})}));
  EXPECT_FALSE(rendered("search-r1", {"search", Json::Of({{"query", "a</search>b"}})}));
  EXPECT_FALSE(rendered("search-r1", {"search", Json::Of({{"query", "a"}, {"k", 3}})}));
  EXPECT_FALSE(rendered("search-r1", {"other", Json::Of({{"query", "a"}})}));
  EXPECT_FALSE(rendered("desk", {"f", "[1]"}));
}

TEST(Tagged, HostileTextTakesNoTime) {
  std::string thoughts, boxes;
  for (int i = 0; i < 40000; ++i) thoughts += "<think></think>", boxes += "\\boxed{";
  EXPECT_FALSE(Parsed("tapo", thoughts).faults.empty());
  EXPECT_EQ(Parsed("deepagent", boxes + "1}", TurnEnd::kEnded).answer, "1");
}

TEST(Tagged, AnAnswerAfterAFaultIsNoAnswer) {
  EXPECT_EQ(Parsed("tapo", "stray <answer>x</answer>").answer, std::nullopt);
  EXPECT_EQ(Parsed("desk", "<answer>x</answer> and more").answer, std::nullopt);
}

TEST(Tagged, ActionsInsideThoughtAreThought) {
  const ParsedTurn turn =
      Parsed("tapo", "<think>maybe <search>x</search></think><answer>y</answer>");
  EXPECT_TRUE(turn.calls.empty());
  EXPECT_EQ(turn.answer, "y");
}

TEST(Tagged, ASetCanComeFromAFile) {
  TemporaryDirectory directory;
  const auto file = directory.path() / "mine.toml";
  ASSERT_TRUE(
      WriteFileAtomic(file,
                      "free_text = true\nanswer = \"final\"\n"
                      "[[action]]\ntag = \"sql\"\ntool = \"query\"\nargument = \"statement\"\n"
                      "result = \"rows\"\n")
          .ok());
  auto dialect = NewDialect("tagged:" + file.string());
  ASSERT_TRUE(dialect.ok()) << dialect.error().message();
  EXPECT_EQ((*dialect)->Parse("<sql>select 1</sql>", TurnEnd::kUnknown).calls[0].arguments,
            Json::Of({{"statement", "select 1"}}));
  EXPECT_EQ((*dialect)->Parse("<final>1</final>", TurnEnd::kUnknown).answer, "1");

  ASSERT_TRUE(WriteFileAtomic(file, "[[action]]\ntag = \"<sql>\"\nbody = \"txt\"\n").ok());
  EXPECT_FALSE(NewDialect("tagged:" + file.string()).ok());
  for (const char* bad : {"answer = \"think\"", "answer = \"\"\nboxed = true", "answer = \"a b\"",
                          "[[action]]\ntag = \"think\"\nbody = \"json\""}) {
    ASSERT_TRUE(WriteFileAtomic(file, bad).ok());
    EXPECT_FALSE(NewDialect("tagged:" + file.string()).ok()) << bad;
  }
  // Results without markers are allowed.
  ASSERT_TRUE(WriteFileAtomic(file,
                              "free_text = true\n[[action]]\ntag = \"sql\"\ntool = \"q\"\n"
                              "argument = \"s\"\nresult_open = \"\\n\"\nresult_close = \"\"\n")
                  .ok());
  EXPECT_EQ((*NewDialect("tagged:" + file.string()))
                ->Parse("no action", TurnEnd::kUnknown)
                .faults[0]
                .kind,
            FaultKind::kNoAction);
}

}  // namespace
}  // namespace hone
