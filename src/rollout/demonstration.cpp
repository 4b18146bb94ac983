#include "rollout/demonstration.h"

#include <fmt/format.h>

#include "rollout/segment.h"

namespace hone {

Result<Tree> DemonstrationTree(const TurnCodec& codec, const Task& task, uint64_t seed,
                               const Playthrough& played) {
  if (played.turns.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("task \"{}\": nothing was played", task.id));
  }
  Tree tree;
  tree.task = task;
  tree.seed = seed;
  const auto append = [&](Node node) {
    node.parent = static_cast<NodeId>(tree.nodes.size()) - 1;
    tree.nodes.push_back(std::move(node));
  };
  HONE_ASSIGN_OR_RETURN(std::vector<Node> prompt, codec.Prompt(played.opening));
  for (Node& node : prompt) append(std::move(node));
  HONE_ASSIGN_OR_RETURN(Conversation conversation, ConversationOf(played.opening));
  for (size_t t = 0; t < played.turns.size(); ++t) {
    const PlayedTurn& turn = played.turns[t];
    Node node;
    node.author = Author::kPolicy;
    HONE_ASSIGN_OR_RETURN(node.tokens, codec.Spell(conversation, turn.agent));
    node.logprobs.assign(node.tokens.size(), 0.0f);
    node.entropies.assign(node.tokens.size(), 0.0f);
    node.policy_version = kDemonstrated;
    codec.ReadTurn(TurnEnd::kEnded, &node);
    append(node);
    if (t + 1 < played.turns.size()) {
      conversation.messages.push_back(MessageOf(turn.agent));
      for (Message& message : MessagesAfter(turn.agent, turn.environment)) {
        conversation.messages.push_back(std::move(message));
      }
      Result<Node> next = codec.After(node, turn.agent, turn.environment);
      if (next.ok()) {
        append(*std::move(next));
        continue;
      }
      if (next.error().code() != ErrorCode::kUnsupported) return next.error();
      // The template writes what was said before otherwise now: a new segment begins.
      if (std::optional<Node> results = TurnCodec::AfterEnding(turn.agent)) {
        append(*std::move(results));
      }
      HONE_ASSIGN_OR_RETURN(std::vector<Node> segment, SegmentOf(codec, conversation));
      segment.front().folded_from = static_cast<NodeId>(tree.nodes.size()) - 1;
      segment.front().rewritten = true;
      tree.nodes.push_back(std::move(segment.front()));
      for (size_t i = 1; i < segment.size(); ++i) append(std::move(segment[i]));
    } else if (std::optional<Node> last = TurnCodec::AfterEnding(turn.agent)) {
      append(*std::move(last));
    }
  }
  tree.leaves.push_back({.node = static_cast<NodeId>(tree.nodes.size()) - 1,
                         .ending = played.ending,
                         .blame = played.blame,
                         .final_state = played.final_state});
  return tree;
}

}  // namespace hone
