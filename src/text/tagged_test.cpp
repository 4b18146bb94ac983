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
}

}  // namespace
}  // namespace hone
