#include "data/conversation_row.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

constexpr char kTools[] =
    R"("tools": [{"type": "function", "function": {"name": "weather", "parameters":
       {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}])";

Result<ConversationRow> Read(const std::string& messages, const std::string& tools = kTools) {
  return RowFromMessages(
      ParseJson("{\"messages\": [" + messages + "]" + (tools.empty() ? "" : ", " + tools) + "}")
          .value());
}
std::string ProblemsOf(const std::string& messages, const std::string& tools = kTools) {
  const Result<ConversationRow> row = Read(messages, tools);
  return row.ok() ? "" : row.error().message();
}

std::string Call(const std::string& id, const std::string& city, const char* name = "weather") {
  return R"({"id": ")" + id + R"(", "type": "function", "function": {"name": ")" + name +
         R"(", "arguments": "{\"city\": \")" + city + R"(\"}"}})";
}
std::string Turn(const std::string& calls) {
  return R"({"role": "assistant", "content": null, "tool_calls": [)" + calls + "]}";
}
const std::string kAsk = R"({"role": "user", "content": "?"}, )";

TEST(ConversationRowTest, ResultsStandInTheOrderOfTheirCalls) {
  const ConversationRow row = Read(kAsk + Turn(Call("1", "Rome") + ", " + Call("2", "Oslo")) +
                                   R"(, {"role": "tool", "tool_call_id": "2", "content": "cold"},
               {"role": "tool", "tool_call_id": "1", "content": "warm"},
               {"role": "assistant", "content": "warm and cold"})")
                                  .value();
  EXPECT_EQ(row.conversation.messages[2].content, "warm");
  EXPECT_EQ(row.conversation.messages[2].name, "weather");
  EXPECT_EQ(row.conversation.messages[3].content, "cold");
  EXPECT_EQ(row.conversation.messages[1].calls[0].arguments,
            Json::Of({{"city", "Rome"}}));  // text was read
  EXPECT_EQ(row.imitated, (std::vector<bool>{false, true, false, false, true}));
}

TEST(ConversationRowTest, WeightZeroIsReadAndNotImitated) {
  const ConversationRow row =
      Read(R"({"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "weight": 0},
              {"role": "user", "content": "c"}, {"role": "assistant", "content": "d", "weight": 1},
              {"role": "user", "content": "e"})",
           "")
          .value();
  // What comes behind the last imitated turn is of no use.
  EXPECT_EQ(row.imitated, (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(row.conversation.messages.size(), 4u);
}

TEST(ConversationRowTest, EveryProblemHasItsPlace) {
  EXPECT_EQ(ProblemsOf(kAsk + Turn(Call("1", "Rome", "wether"))),
            "messages[1].tool_calls[0]: there is no tool \"wether\" (did you mean \"weather\"?)");
  EXPECT_NE(ProblemsOf(kAsk + Turn(R"({"function": {"name": "weather", "arguments": {}}})"))
                .find("messages[1].tool_calls[0]: weather: "),
            std::string::npos);
  EXPECT_NE(ProblemsOf(kAsk + Turn(R"({"function": {"name": "weather", "arguments": "{"}})"))
                .find("no JSON object"),
            std::string::npos);
  EXPECT_EQ(
      ProblemsOf(kAsk + Turn(Call("1", "Rome") + ", " + Call("2", "Oslo")) +
                 R"(, {"role": "tool", "content": "x"}, {"role": "assistant", "content": "y"})"),
      "messages[1]: has 2 calls, and 1 result stands behind it");
  EXPECT_NE(ProblemsOf(kAsk + R"({"role": "tool", "content": "x"})").find("result of no call"),
            std::string::npos);
  EXPECT_NE(ProblemsOf(kAsk + Turn(Call("1", "Rome")) +
                       R"(, {"role": "tool", "tool_call_id": "9", "content": "x"})")
                .find("tool_call_id \"9\" is of no call"),
            std::string::npos);
  EXPECT_NE(ProblemsOf(kAsk + Turn(Call("1", "Rome")) +
                       R"(, {"role": "tool", "name": "news", "content": "x"})")
                .find("is a result of \"news\""),
            std::string::npos);
  EXPECT_NE(ProblemsOf(kAsk + R"({"role": "assistant", "content": ""})").find("neither says"),
            std::string::npos);
  EXPECT_NE(ProblemsOf(R"({"role": "user", "content": "a"})").find("no assistant's turn"),
            std::string::npos);
  EXPECT_NE(ProblemsOf(R"({"role": "assistant", "content": "a", "weight": 0.5})").find("is 0"),
            std::string::npos);
}

TEST(ConversationRowTest, ManyProblemsComeAtOnce) {
  const std::string problems =
      ProblemsOf(kAsk + Turn(Call("1", "Rome", "a") + ", " + Call("2", "Oslo", "b")));
  EXPECT_NE(problems.find("tool_calls[0]"), std::string::npos);
  EXPECT_NE(problems.find("tool_calls[1]"), std::string::npos);
}

TEST(ConversationRowTest, CallsAtTheEndNeedNoResults) {
  EXPECT_TRUE(Read(kAsk + Turn(Call("1", "Rome"))).ok());
}

// Without tools nothing is known of what can be called.
TEST(ConversationRowTest, ARowWithoutToolsMayCallAnything) {
  EXPECT_TRUE(Read(kAsk + Turn(Call("1", "Rome", "anything")), "").ok());
}

}  // namespace
}  // namespace hone
