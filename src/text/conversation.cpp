#include "text/conversation.h"

#include <fmt/format.h>

namespace hone {
namespace {

Error Bad(const std::string& path, std::string_view problem) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", path, problem));
}

Result<Role> ReadRole(const Json* role, const std::string& path) {
  if (role == nullptr || !role->is_string()) return Bad(path, "a \"role\" is missing");
  const std::string& name = role->AsString();
  if (name == "system" || name == "developer") return Role::kSystem;
  if (name == "user") return Role::kUser;
  if (name == "assistant") return Role::kAssistant;
  if (name == "tool" || name == "function") return Role::kTool;
  return Bad(path,
             fmt::format("the role \"{}\" is not one of system, user, assistant, tool", name));
}

// Text, null, a list of text parts, or (from tools) any other value, which is shown as JSON.
Result<std::string> ReadContent(const Json* content, Role role, const std::string& path) {
  if (content == nullptr || content->is_null()) return std::string();
  if (content->is_string()) return content->AsString();
  if (content->is_array()) {
    std::string text;
    for (const Json& part : content->AsArray()) {
      const Json* value = part.is_string() ? &part : part.Find("text");
      if (value == nullptr || !value->is_string()) {
        if (role == Role::kTool) return DumpJson(*content, JsonStyle::kSpaced);
        return Bad(path, "a content part is not text");
      }
      text += value->AsString();
    }
    return text;
  }
  if (role == Role::kTool) return DumpJson(*content, JsonStyle::kSpaced);
  return Bad(path, fmt::format("content wants text, not {}", content->KindName()));
}

Result<MessageCall> ReadCall(const Json& json, const std::string& path) {
  const Json* function = json.Find("function");
  const Json& call = function != nullptr ? *function : json;
  const Json *name = call.Find("name"), *arguments = call.Find("arguments");
  if (name == nullptr || !name->is_string()) return Bad(path, "a call without a name");
  if (arguments != nullptr && !arguments->is_object() && !arguments->is_string()) {
    return Bad(path, "the arguments are neither an object nor text");
  }
  return MessageCall{name->AsString(), arguments != nullptr ? *arguments : Json(Json::Object())};
}

Result<Message> ReadMessage(const Json& json, const std::string& path) {
  if (!json.is_object()) return Bad(path, "a message is an object");
  Message message;
  HONE_ASSIGN_OR_RETURN(message.role, ReadRole(json.Find("role"), path + ".role"));
  HONE_ASSIGN_OR_RETURN(message.content,
                        ReadContent(json.Find("content"), message.role, path + ".content"));
  if (const Json* reasoning = json.Find("reasoning_content");
      reasoning != nullptr && reasoning->is_string()) {
    message.reasoning = reasoning->AsString();
  }
  if (const Json* name = json.Find("name"); name != nullptr && name->is_string()) {
    message.name = name->AsString();
  }
  if (const Json* calls = json.Find("tool_calls"); calls != nullptr && !calls->is_null()) {
    if (!calls->is_array()) return Bad(path + ".tool_calls", "wants an array");
    if (message.role != Role::kAssistant && !calls->AsArray().empty()) {
      return Bad(path + ".tool_calls", "only an assistant message can call tools");
    }
    for (size_t i = 0; i < calls->AsArray().size(); ++i) {
      HONE_ASSIGN_OR_RETURN(MessageCall call, ReadCall(calls->AsArray()[i],
                                                       fmt::format("{}.tool_calls[{}]", path, i)));
      message.calls.push_back(std::move(call));
    }
  }
  return message;
}

Result<std::optional<bool>> ReadFlag(const Json& json, const std::string& key) {
  const Json* flag = json.Find(key);
  if (flag == nullptr || flag->is_null()) return std::optional<bool>();
  if (!flag->is_bool()) return Bad(key, "wants true or false");
  return std::optional<bool>(flag->AsBool());
}

Result<void> ReadTemplateArguments(const Json& json, Conversation* conversation) {
  const Json* arguments = json.Find("chat_template_kwargs");
  if (arguments == nullptr || arguments->is_null()) return {};
  if (!arguments->is_object()) return Bad("chat_template_kwargs", "wants an object");
  for (const auto& [name, value] : arguments->AsObject()) {
    if (IsOfConversation(name)) {
      return Bad("chat_template_kwargs." + name, "stands beside them, not among them");
    }
    if (name != "enable_thinking") {
      conversation->template_arguments.emplace_back(name, value);
      continue;
    }
    if (value.is_null()) continue;  // as if it were not there
    if (!value.is_bool()) return Bad("chat_template_kwargs." + name, "wants true or false");
    conversation->enable_thinking = value.AsBool();
  }
  return {};
}

}  // namespace

Result<Conversation> ConversationFromJson(const Json& json) {
  const Json* messages = json.Find("messages");
  if (messages == nullptr || !messages->is_array()) return Bad("messages", "an array is missing");
  Conversation conversation;
  for (size_t i = 0; i < messages->AsArray().size(); ++i) {
    HONE_ASSIGN_OR_RETURN(Message message,
                          ReadMessage(messages->AsArray()[i], fmt::format("messages[{}]", i)));
    conversation.messages.push_back(std::move(message));
  }
  if (const Json* tools = json.Find("tools"); tools != nullptr && !tools->is_null()) {
    if (!tools->is_array()) return Bad("tools", "wants an array of tool schemas");
    for (size_t i = 0; i < tools->AsArray().size(); ++i) {
      if (!tools->AsArray()[i].is_object()) {
        return Bad(fmt::format("tools[{}]", i), "wants an object");
      }
    }
    conversation.tools = tools->AsArray();
  }
  HONE_ASSIGN_OR_RETURN(conversation.add_generation_prompt,
                        ReadFlag(json, "add_generation_prompt"));
  HONE_ASSIGN_OR_RETURN(conversation.enable_thinking, ReadFlag(json, "enable_thinking"));
  HONE_RETURN_IF_ERROR(ReadTemplateArguments(json, &conversation));
  return conversation;
}

bool IsOfConversation(std::string_view variable) {
  return variable == "messages" || variable == "tools" || variable == "add_generation_prompt";
}

}  // namespace hone
