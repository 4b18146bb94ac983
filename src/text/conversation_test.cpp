#include "text/conversation.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Result<Conversation> Read(std::string_view text) { return ConversationFromJson(*ParseJson(text)); }

TEST(Conversation, ReadsCallsNestedOrFlatAndArgumentsAsObjectOrText) {
  auto conversation = Read(R"({"messages": [
    {"role": "user", "content": [{"type": "text", "text": "hi "}, {"type": "text", "text": "you"}]},
    {"role": "assistant", "content": null, "tool_calls": [
      {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}},
      {"name": "g", "arguments": {"b": 2}}]},
    {"role": "tool", "tool_call_id": "1", "name": "f", "content": {"ok": true}}]})");
  ASSERT_TRUE(conversation.ok()) << conversation.error().message();
  EXPECT_EQ(conversation->messages[0].content, "hi you");
  ASSERT_EQ(conversation->messages[1].calls.size(), 2u);
  EXPECT_TRUE(conversation->messages[1].calls[0].arguments.is_string());
  EXPECT_EQ(conversation->messages[1].calls[1].name, "g");
  EXPECT_EQ(conversation->messages[2].content, "{\"ok\": true}");
  EXPECT_EQ(conversation->add_generation_prompt, std::nullopt);
  EXPECT_EQ(Read(R"({"messages": [{"role": "tool", "content": [1, 2]}]})")->messages[0].content,
            "[1, 2]");
}

TEST(Conversation, ATemplateArgumentThatIsNullChoosesNoThinking) {
  const auto conversation =
      Read(R"({"messages": [], "chat_template_kwargs": {"enable_thinking": null, "x": null}})");
  ASSERT_TRUE(conversation.ok()) << conversation.error().message();
  EXPECT_EQ(conversation->enable_thinking, std::nullopt);
  EXPECT_EQ(conversation->template_arguments.size(), 1u);
  const auto beside = Read(
      R"({"messages": [], "enable_thinking": true, "chat_template_kwargs":
         {"enable_thinking": null}})");
  EXPECT_EQ(beside->enable_thinking, true);
}

TEST(Conversation, ErrorsNameThePlace) {
  EXPECT_EQ(Read("{}").error().message(), "messages: an array is missing");
  EXPECT_EQ(Read(R"({"messages":[{"role":"robot"}]})").error().message(),
            "messages[0].role: the role \"robot\" is not one of system, user, assistant, tool");
  EXPECT_EQ(Read(R"({"messages":[{"role":"user","content":5}]})").error().message(),
            "messages[0].content: content wants text, not an integer");
  EXPECT_EQ(Read(R"({"messages":[{"role":"assistant","tool_calls":[{}]}]})").error().message(),
            "messages[0].tool_calls[0]: a call without a name");
  EXPECT_EQ(Read(R"({"messages":[],"tools":{}})").error().message(),
            "tools: wants an array of tool schemas");
}

}  // namespace
}  // namespace hone
