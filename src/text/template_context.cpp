#include "text/template_context.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace hone {
namespace {

JinjaValue Own(std::string_view text) { return JinjaValue::Text(std::string(text)); }

JinjaText Foreign(const std::string& text) {
  return JinjaText::Foreign(IsUtf8(text) ? text : Utf8Lossy(text));
}

std::string CallId(size_t number) { return fmt::format("call{:05}", number % 100000); }

class Messages {
 public:
  explicit Messages(const TemplateHabits& habits) : habits_(habits) {}

  Result<JinjaValue> Of(const Message& message) {
    JinjaDict dict;
    const auto set = [&](std::string_view key, JinjaValue value) {
      dict.members.emplace_back(Own(key), std::move(value));
    };
    constexpr std::string_view kRoles[] = {"system", "user", "assistant", "tool"};
    set("role", Own(kRoles[static_cast<size_t>(message.role)]));
    const bool only_calls = !message.calls.empty() && message.content.empty();
    const bool thinks = message.reasoning && !message.reasoning->empty();
    if (!only_calls || habits_.empty_content == TemplateHabits::EmptyContent::kText ||
        (thinks && !habits_.reasoning_apart)) {
      JinjaText content;
      if (thinks && !habits_.reasoning_apart) {
        content.Append("<think>\n");
        content.Append(Foreign(*message.reasoning));
        content.Append("\n</think>\n\n");
      }
      content.Append(Foreign(message.content));
      set("content", std::move(content));
    } else if (habits_.empty_content == TemplateHabits::EmptyContent::kNone) {
      set("content", JinjaValue());
    }
    if (message.reasoning && habits_.reasoning_apart) {
      set("reasoning_content", Foreign(*message.reasoning));
    }
    if (message.role == Role::kTool) {
      if (!message.name.empty()) set("name", Foreign(message.name));
      // Results come in the order of the calls they answer.
      set("tool_call_id", Own(CallId(answered_ < called_ ? answered_++ : answered_)));
    }
    if (!message.calls.empty()) {
      HONE_ASSIGN_OR_RETURN(JinjaValue calls, Calls(message.calls));
      set("tool_calls", std::move(calls));
    }
    return JinjaValue::Dict(std::move(dict));
  }

 private:
  Result<JinjaValue> Calls(const std::vector<MessageCall>& calls) {
    std::vector<JinjaValue> list;
    answered_ = called_;
    for (const MessageCall& call : calls) {
      JinjaValue arguments;
      if (call.arguments.is_string() || habits_.arguments_as_text) {
        arguments =
            Foreign(call.arguments.is_string() ? call.arguments.AsString()
                                               : DumpJson(call.arguments, JsonStyle::kSpaced));
      } else {
        HONE_ASSIGN_OR_RETURN(arguments, JinjaValue::FromJson(call.arguments, true));
      }
      JinjaDict function;
      function.members.emplace_back(Own("name"), Foreign(call.name));
      function.members.emplace_back(Own("arguments"), std::move(arguments));
      HONE_ASSIGN_OR_RETURN(JinjaValue inner, JinjaValue::Dict(std::move(function)));
      JinjaDict dict;
      dict.members.emplace_back(Own("id"), Own(CallId(called_++)));
      dict.members.emplace_back(Own("type"), Own("function"));
      dict.members.emplace_back(Own("function"), std::move(inner));
      HONE_ASSIGN_OR_RETURN(JinjaValue value, JinjaValue::Dict(std::move(dict)));
      list.push_back(std::move(value));
    }
    return JinjaValue::List(std::move(list));
  }

  const TemplateHabits& habits_;
  size_t called_ = 0, answered_ = 0;
};

}  // namespace

Result<JinjaDict> TemplateContext(const Conversation& conversation, bool add_generation_prompt,
                                  const std::map<std::string, std::string>& tokens,
                                  const TemplateHabits& habits) {
  JinjaDict variables;
  Messages read(habits);
  std::vector<JinjaValue> messages;
  for (const Message& message : conversation.messages) {
    HONE_ASSIGN_OR_RETURN(JinjaValue value, read.Of(message));
    messages.push_back(std::move(value));
  }
  HONE_ASSIGN_OR_RETURN(JinjaValue list, JinjaValue::List(std::move(messages)));
  variables.Set(Own("messages"), std::move(list));
  JinjaValue tools;
  if (!conversation.tools.empty()) {
    HONE_ASSIGN_OR_RETURN(tools, JinjaValue::FromJson(Json(conversation.tools), true));
  }
  variables.Set(Own("tools"), std::move(tools));
  variables.Set(Own("documents"), JinjaValue());
  variables.Set(Own("add_generation_prompt"), JinjaValue(add_generation_prompt));
  if (conversation.enable_thinking) {
    variables.Set(Own("enable_thinking"), JinjaValue(*conversation.enable_thinking));
  }
  for (const auto& [name, text] : tokens) variables.Set(Own(name), Own(text));
  for (const auto& [name, value] : conversation.template_arguments) {
    HONE_ASSIGN_OR_RETURN(JinjaValue argument, JinjaValue::FromJson(value, true));
    variables.Set(Own(name), std::move(argument));
  }
  return variables;
}

}  // namespace hone
