#pragma once

#include <string>

#include "base/result.h"
#include "serve/request.h"
#include "train/folder/agent_card.h"

namespace hone {

// Lets a request ask an agent as it was trained to be asked (train/agent_card.h):
//
//   - tools that its prompts never listed are taken out of the prompt; one that it does not know is
//     an error, for it could never call it
//   - its system message stands first where the client sends none
//
// What was done is told in `note`, in a sentence; empty: nothing had to be.
Result<void> AskAsTrained(const AgentCard& card, ServedChat* request, std::string* note);

}  // namespace hone
