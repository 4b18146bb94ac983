#include "serve/trained_manner.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone {
namespace {

std::string NameOf(const Json& tool) {
  const Json* function = tool.Find("function");
  const Json* name = (function != nullptr ? *function : tool).Find("name");
  return name != nullptr && name->is_string() ? name->AsString() : "";
}

}  // namespace

Result<void> AskAsTrained(const AgentCard& card, ServedChat* request, std::string* note) {
  Conversation& conversation = request->conversation;
  if (!card.tools_listed && !conversation.tools.empty()) {
    for (const Json& tool : conversation.tools) {
      const std::string name = NameOf(tool);
      if (std::find(card.tools.begin(), card.tools.end(), name) != card.tools.end()) continue;
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("tools: this agent was trained to know its tools by heart and cannot "
                      "learn of \"{}\" from a list; it has {}",
                      name, fmt::join(card.tools, ", ")));
    }
    conversation.tools.clear();
    request->tools = Json::Array();  // what is recorded is what was read
    *note = "the list of tools is left out of prompts: this agent was trained without one";
  }
  const auto& messages = conversation.messages;
  const bool has_system = !messages.empty() && messages.front().role == Role::kSystem;
  if (card.system && !has_system) {
    conversation.messages.insert(conversation.messages.begin(),
                                 {.role = Role::kSystem, .content = *card.system});
    request->call_ids.insert(request->call_ids.begin(), std::vector<std::string>());
    Json::Array& sent = request->messages.AsArray();
    sent.insert(sent.begin(), Json::Of({{"role", "system"}, {"content", *card.system}}));
  }
  return {};
}

}  // namespace hone
