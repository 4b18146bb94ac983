#pragma once

#include "base/json.h"
#include "base/result.h"
#include "record/tree.h"
#include "text/dialect.h"
#include "text/tokenizer.h"

namespace hone {

// What an agent saw first: messages, and the schemas of tools that it was shown.
struct SeenFirst {
  Json messages = Json::Array(), tools = Json::Array();
};

// A trajectory of a record as a conversation that others can read: {"messages": [...], "tools"}.
// What the agent said is read out of its own tokens, what others said out of theirs: nothing is
// made up.
//
// kUnsupported for a trajectory whose history was folded, and for turns that cannot be read.
Result<Json> PlayedConversation(const Tree& tree, const Leaf& leaf, const SeenFirst& seen,
                                const Dialect& dialect, const Tokenizer& tokenizer);

}  // namespace hone
