#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/conversation.h"

namespace hone {

// A conversation to be imitated, or plain text.
struct ConversationRow {
  Conversation conversation;   // up to the last message that is imitated
  std::vector<bool> imitated;  // per message: whether it is; the assistant's alone can be
  std::string text;            // imitated whole, in place of a conversation; empty: there is one
};

// From {"messages", "tools"} (data/conversation_shapes.h). All messages of the assistant are
// imitated but those of `weight` 0. Results stand behind their calls in the order of the calls,
// wherever `tool_call_id` puts them, and have their tools' names.
//
// Everything that is wrong with it comes at once, one line per problem, each with its place:
// "messages[3].tool_calls[0]: there is no tool "wether" (did you mean "weather"?)". Wrong are
// messages that cannot be read, calls and results that do not answer each other, calls to tools
// that the row does not list (where it lists any) or with arguments that do not fit, turns that say
// nothing, and rows with nothing to imitate.
Result<ConversationRow> RowFromMessages(const Json& row);

}  // namespace hone
