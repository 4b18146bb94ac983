#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

enum class Role { kSystem, kUser, kAssistant, kTool };

struct MessageCall {
  std::string name;
  Json arguments;  // an object, or a string as some APIs send it
};

// One message, as the chat APIs that people know have it.
struct Message {
  Role role = Role::kUser;
  std::string content;
  std::optional<std::string> reasoning;  // "reasoning_content"
  std::vector<MessageCall> calls;        // assistant messages only
  std::string name;                      // of the tool, on tool messages; may be empty
  // Hone's own words about a turn of the policy, such as which marker was not closed: they may name
  // the dialect's markers, as nobody else may. A model's own template (text/template_dialect.h)
  // does not know it: there they are plain characters.
  bool own_words = false;
};

struct Conversation {
  std::vector<Message> messages;
  Json::Array tools;  // schemas as the user wrote them; empty means no tools
  // Whether the text ends where the policy is to go on. Absent: it does when the last message is
  // the user's or the last of the results that the calls before it ask for.
  std::optional<bool> add_generation_prompt;
  std::optional<bool> enable_thinking;  // for models that can be told not to think
  // Further variables of the model's own template by name ("date_string", "documents", ...): for
  // dialects with DialectTraits::takes_arguments.
  Json::Object template_arguments = {};
};

// From {"messages": [...], "tools": [...], "add_generation_prompt", "enable_thinking",
// "chat_template_kwargs": {...}}; enable_thinking may stand among the last ones, too. Messages
// and tools are read as OpenAI's API and Hugging Face's templates take them: calls nested under
// "function" or flat, arguments as object or text, content as text, null or a list of text parts.
// Other keys of the object and of messages are passed over. Errors name the place:
// "messages[2].role: ...".
Result<Conversation> ConversationFromJson(const Json& json);

// Whether a template's variable of this name is the conversation itself, and no argument.
bool IsOfConversation(std::string_view variable);

}  // namespace hone
