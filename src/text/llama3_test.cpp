#include <gtest/gtest.h>

#include "text/dialect.h"

namespace hone {
namespace {

constexpr char kOpening[] =
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n"
    "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\nbe brief<|eot_id|>";

Conversation Asked() {
  Conversation conversation;
  conversation.messages.push_back({.role = Role::kSystem, .content = " be brief\n"});
  conversation.messages.push_back({.role = Role::kUser, .content = "hi"});
  return conversation;
}

TEST(Llama3, LaysMessagesOutAsMetasTemplateDoes) {
  const auto dialect = NewDialect("llama3").value();
  EXPECT_EQ(TextOf(*dialect->Render(Asked())),
            std::string(kOpening) +
                "<|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>"
                "<|start_header_id|>assistant<|end_header_id|>\n\n");
}

TEST(Llama3, ACallIsTheWholeTurnAndItsResultComesAsIpython) {
  const auto dialect = NewDialect("llama3").value();
  Conversation conversation = Asked();
  conversation.tools.push_back(*ParseJson(R"({"type": "function", "function": {"name": "f"}})"));
  conversation.messages.push_back(
      {.role = Role::kAssistant, .calls = {{"f", Json::Of({{"x", 1}})}}});
  conversation.messages.push_back({.role = Role::kTool, .content = "a \"b\"", .name = "f"});
  const auto pieces = dialect->Render(conversation).value();
  const std::string text = TextOf(pieces);
  EXPECT_NE(text.find("Environment: ipython\n"), std::string::npos);
  EXPECT_NE(
      text.find("{\n    \"type\": \"function\",\n    \"function\": {\n        \"name\": \"f\""),
      std::string::npos)
      << text;
  ASSERT_EQ(pieces.size(), 4u);
  EXPECT_EQ(pieces[2].author, Author::kPolicy);
  EXPECT_EQ(pieces[2].text, R"({"name": "f", "parameters": {"x": 1}}<|eot_id|>)");
  EXPECT_EQ(pieces[3].author, Author::kTool);
  EXPECT_EQ(pieces[3].text,
            "<|start_header_id|>ipython<|end_header_id|>\n\n\"a \\\"b\\\"\"<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  // A turn, what follows it and the whole are the same text.
  Conversation next;
  next.messages.push_back(conversation.messages.back());
  EXPECT_EQ(dialect->Continue(pieces[2].text, next)->text, pieces[3].text);
  EXPECT_EQ(dialect->Parse(pieces[2].text, TurnEnd::kEnded).calls.size(), 1u);
}

TEST(Llama3, CallsOneToolAtATime) {
  Conversation conversation = Asked();
  const MessageCall call{"f", Json::Object()};
  conversation.messages.push_back({.role = Role::kAssistant, .calls = {call, call}});
  const auto pieces = NewDialect("llama3").value()->Render(conversation);
  ASSERT_FALSE(pieces.ok());
  EXPECT_NE(pieces.error().message().find("one tool at a time"), std::string::npos);
}

TEST(Llama3, AppendsWhateverFollows) {
  const auto dialect = NewDialect("llama3").value();
  Conversation next;
  next.messages.push_back({.role = Role::kUser, .content = "go on"});
  EXPECT_EQ(dialect->Continue("a<|eot_id|>", next)->text,
            "<|start_header_id|>user<|end_header_id|>\n\ngo on<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
}

}  // namespace
}  // namespace hone
