#include "text/template_context.h"

#include <gtest/gtest.h>

#include "text/jinja/jinja.h"

namespace hone {
namespace {

std::string Shown(const Conversation& conversation, const TemplateHabits& habits,
                  std::string_view source) {
  const JinjaDict variables =
      TemplateContext(conversation, true, {{"bos_token", "<s>"}}, habits).value();
  return JinjaTemplate::Parse(source)->Render(variables, 0)->text.bytes();
}

Conversation Called() {
  Conversation conversation;
  conversation.messages.push_back({.role = Role::kAssistant,
                                   .reasoning = "why",
                                   .calls = {{"f", Json::Of({{"x", 1}})}, {"g", Json::Object()}}});
  conversation.messages.push_back({.role = Role::kTool, .content = "1", .name = "f"});
  conversation.messages.push_back({.role = Role::kTool, .content = "2", .name = "g"});
  return conversation;
}

TEST(TemplateContext, HasWhatTransformersHandOver) {
  Conversation conversation;
  conversation.messages.push_back({.role = Role::kUser, .content = "hi"});
  EXPECT_EQ(Shown(conversation, {},
                  "{{ messages }}{{ tools }}{{ add_generation_prompt }}{{ bos_token }}"
                  "{{ enable_thinking is defined }}"),
            "[{'role': 'user', 'content': 'hi'}]NoneTrue<s>False");
  conversation.enable_thinking = false;
  EXPECT_EQ(Shown(conversation, {}, "{{ enable_thinking }}"), "False");
}

TEST(TemplateContext, ResultsReferToTheirCalls) {
  EXPECT_EQ(Shown(Called(), {},
                  "{% for c in messages[0].tool_calls %}{{ c.id }} {% endfor %}"
                  "{{ messages[1].tool_call_id }} {{ messages[2].tool_call_id }}"),
            "call00000 call00001 call00000 call00001");
}

TEST(TemplateContext, FollowsTheTemplatesHabits) {
  const char* source =
      "{{ messages[0].content|default('absent') }}|{{ messages[0].reasoning_content }}"
      "|{{ messages[0].tool_calls[0].function.arguments }}";
  TemplateHabits habits;
  EXPECT_EQ(Shown(Called(), habits, source), "<think>\nwhy\n</think>\n\n||{'x': 1}");
  habits.reasoning_apart = true;
  habits.arguments_as_text = true;
  EXPECT_EQ(Shown(Called(), habits, source), "|why|{\"x\": 1}");
  habits.empty_content = TemplateHabits::EmptyContent::kNone;
  EXPECT_EQ(Shown(Called(), habits, source), "None|why|{\"x\": 1}");
  habits.empty_content = TemplateHabits::EmptyContent::kAbsent;
  EXPECT_EQ(Shown(Called(), habits, source), "absent|why|{\"x\": 1}");
}

}  // namespace
}  // namespace hone
