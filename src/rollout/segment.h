#pragma once

#include <vector>

#include "base/result.h"
#include "envs/environment.h"
#include "record/tree.h"
#include "rollout/policy.h"
#include "text/dialect.h"

// What a context becomes after a turn: mostly a little more of the same. Some models' templates
// write earlier turns otherwise when the conversation goes on (thoughts are taken out, tools move
// to the last question). Nothing that was drawn is ever rewritten: there a new segment begins, a
// second root of the tree that says from where it was folded (Node::folded_from), with the whole
// conversation as the template writes it now.

namespace hone {

enum class Appending { kAlways, kNotAlways };
// Whether what follows a turn can always be put behind it. Fails for a dialect that cannot spell
// what follows turns at all.
Result<Appending> AppendingOf(const Dialect& dialect);

// The conversation as it stands after a turn and what followed it. `turn` is the policy's node.
Conversation Said(const TurnCodec& codec, const Conversation& before, const Node& turn,
                  const AgentTurn& agent, const EnvironmentTurn& environment);

// The nodes of the conversation from its beginning, up to where the policy goes on. No node is the
// policy's: what it said before is part of what it reads.
Result<std::vector<Node>> SegmentOf(const TurnCodec& codec, const Conversation& conversation);

}  // namespace hone
