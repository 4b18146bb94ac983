#pragma once

#include <string>

#include "base/result.h"
#include "envs/play.h"
#include "record/tree.h"
#include "rollout/policy.h"

namespace hone {

// On nodes that nobody drew from weights.
inline constexpr int64_t kDemonstrated = -1;

// What somebody without a model played (envs/play.h), as a tree of one trajectory in the very
// tokens that the policy would have before it had it played the same: its turns are policy nodes,
// with the log-probability 0 of one who could not have done otherwise. Imitation trains on these.
//
// Fails for what the dialect cannot spell: then it cannot be shown to this policy.
Result<Tree> DemonstrationTree(const TurnCodec& codec, const Task& task, uint64_t seed,
                               const Playthrough& played);

// The same of a conversation that somebody had. `imitated` says of each message whether it is the
// policy's; other turns of an assistant are what it reads. Where the dialect writes what was said
// otherwise as the conversation goes on, a segment begins (rollout/segment.h): every turn stands
// behind what the policy would have read before it.
Result<Tree> ConversationTree(const TurnCodec& codec, const Conversation& conversation,
                              const std::vector<bool>& imitated);

// Plain text, every token of which but the first is imitated, and behind it the token that ends
// texts where the tokenizer has one. What is longer than `positions` tokens (0: no limit) is cut
// into segments, which do not see each other. No marker of the dialect is recognised in it.
Tree TextTree(const TurnCodec& codec, std::string_view text, int64_t positions);

}  // namespace hone
