#pragma once

#include <memory>

#include "envs/environment.h"
#include "envs/rules.h"

namespace hone::desk {

struct DeskOptions {
  bool list_tools = false;  // show the tools to the agent; a small model knows the fixed set
  bool quiz = false;        // the single-turn form
};

// The desk (docs/environments/desk.md): one request, calls, an answer.
//
// Success: the answer is the right one, byte for byte, and what was sent is exactly what was to be
// sent, so that a wrong or repeated message is final. In the single-turn form the first turn that
// can be read decides: it must be the first thing the plan does, a call with these arguments or the
// answer.
//
// Tasks are those of NewTaskSource, or any with an "answer", "reward.calls" and metadata.seed.
Result<std::shared_ptr<const Environment>> NewDesk(const DeskOptions& options);

// At most 6 calls and 8 turns.
Rules DeskRules();

}  // namespace hone::desk
