#include "rollout/demonstration.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"
#include "rollout/segment.h"

namespace hone {
namespace {

// The messages before `end`, with everything else that the conversation has.
Conversation Before(const Conversation& conversation, size_t end) {
  Conversation before = conversation;
  before.messages.resize(end);
  return before;
}

Error CannotSpell(const TurnCodec& codec, size_t index, bool calls, std::string_view why) {
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("messages[{}]: {}", index,
                           CannotSpellTurn(codec.dialect().traits(), calls, why)));
}

// The turn that messages[index] is, as the dialect spells it there.
Result<Node> TurnAt(const TurnCodec& codec, const Conversation& conversation, size_t index) {
  Conversation ending = Before(conversation, index + 1);
  ending.add_generation_prompt = false;
  HONE_ASSIGN_OR_RETURN(const std::vector<Piece> pieces, codec.dialect().Render(ending));
  const auto last = std::find_if(pieces.rbegin(), pieces.rend(), [](const Piece& piece) {
    return piece.author == Author::kPolicy;
  });
  const std::vector<MessageCall>& calls = conversation.messages[index].calls;
  const auto cannot = [&](std::string_view why) {
    return CannotSpell(codec, index, !calls.empty(), why);
  };
  if (last == pieces.rend()) return cannot("it has no text");
  Node node;
  node.author = Author::kPolicy;
  const auto at = static_cast<size_t>(pieces.rend() - last) - 1;
  node.tokens = EncodePieceAt(codec.tokenizer(), pieces, at);
  node.logprobs.assign(node.tokens.size(), 0.0f);
  node.entropies.assign(node.tokens.size(), 0.0f);
  node.policy_version = kDemonstrated;
  const AgentTurn read = codec.ReadTurn(TurnEnd::kEnded, &node);
  if (!read.faults.empty()) return cannot(read.faults[0].message);
  const bool same = std::equal(calls.begin(), calls.end(), read.calls.begin(), read.calls.end(),
                               [](const MessageCall& said, const Call& call) {
                                 return said.name == call.name && said.arguments == call.arguments;
                               });
  if (!same) return cannot("it would be read as another one");
  return node;
}

}  // namespace

Result<Tree> ConversationTree(const TurnCodec& codec, const Conversation& conversation,
                              const std::vector<bool>& imitated) {
  const std::vector<Message>& messages = conversation.messages;
  const auto is_turn = [&](size_t index) { return messages[index].role == Role::kAssistant; };
  Tree tree;
  // A chain of nodes behind the last one, or a new root that takes its place.
  const auto begin_segment = [&](size_t end) -> Result<void> {
    HONE_ASSIGN_OR_RETURN(std::vector<Node> segment, SegmentOf(codec, Before(conversation, end)));
    for (size_t i = 0; i < segment.size(); ++i) {
      const NodeId last = static_cast<NodeId>(tree.nodes.size()) - 1;
      segment[i].parent = i == 0 ? kNoNode : last;
      if (i == 0 && last != kNoNode) {
        segment[i].folded_from = last;
        segment[i].rewritten = true;
      }
      tree.nodes.push_back(std::move(segment[i]));
    }
    return {};
  };
  size_t turn = 0;
  while (turn < messages.size() && !is_turn(turn)) ++turn;
  HONE_RETURN_IF_ERROR(begin_segment(turn));
  while (turn < messages.size()) {
    HONE_ASSIGN_OR_RETURN(Node node, TurnAt(codec, conversation, turn));
    const std::string written = codec.tokenizer().BytesOf(node.tokens);
    const std::optional<std::string>& thought = messages[turn].reasoning;
    if (imitated[turn] && thought && !thought->empty() &&
        codec.dialect().Parse(written, TurnEnd::kEnded).reasoning.empty()) {
      return CannotSpell(codec, turn, /*calls=*/false,
                         "it has a thought, which this dialect does not write; choose one that "
                         "does, such as hermes:qwen3, or take the thoughts out");
    }
    if (!imitated[turn]) {
      node = Node{.author = Author::kSystem, .tokens = std::move(node.tokens)};
    }
    node.parent = static_cast<NodeId>(tree.nodes.size()) - 1;
    tree.nodes.push_back(std::move(node));
    size_t next = turn + 1;
    while (next < messages.size() && !is_turn(next)) ++next;
    if (next == messages.size()) break;
    Conversation between;
    between.messages.assign(messages.begin() + static_cast<long>(turn) + 1,
                            messages.begin() + static_cast<long>(next));
    between.enable_thinking = conversation.enable_thinking;
    between.template_arguments = conversation.template_arguments;
    Result<Piece> piece = Error(ErrorCode::kUnsupported, "one turn follows the other");
    if (!between.messages.empty()) piece = codec.dialect().Continue(written, between);
    if (piece.ok()) {
      tree.nodes.push_back(
          {.parent = static_cast<NodeId>(tree.nodes.size()) - 1,
           .author = Author::kUser,
           .tokens = EncodePiece(codec.tokenizer(), *piece, tree.nodes.back().tokens)});
    } else if (piece.error().code() == ErrorCode::kUnsupported) {
      HONE_RETURN_IF_ERROR(begin_segment(next));
    } else {
      return piece.error();
    }
    turn = next;
  }
  tree.leaves.push_back({.node = static_cast<NodeId>(tree.nodes.size()) - 1});
  return tree;
}

Tree TextTree(const TurnCodec& codec, std::string_view text, int64_t positions) {
  const std::string valid = Utf8Lossy(text);
  const ByteRange whole{0, valid.size()};
  const auto all = [](const AddedToken&, size_t, size_t) { return true; };
  std::vector<TokenId> tokens = codec.tokenizer().Encode(valid, {&whole, 1}, all);
  if (const auto end = codec.tokenizer().FindAdded("<|endoftext|>")) tokens.push_back(*end);
  const size_t most = positions == 0 ? tokens.size() : static_cast<size_t>(positions);
  Tree tree;
  for (size_t begin = 0; begin < tokens.size(); begin += most) {
    const size_t end = std::min(begin + most, tokens.size());
    tree.nodes.push_back({.parent = kNoNode,
                          .author = Author::kPolicy,
                          .tokens = {tokens.begin() + static_cast<long>(begin),
                                     tokens.begin() + static_cast<long>(end)},
                          .policy_version = kDemonstrated,
                          .folded_from = static_cast<NodeId>(tree.nodes.size()) - 1,
                          .rewritten = begin > 0});
  }
  tree.leaves.push_back({.node = static_cast<NodeId>(tree.nodes.size()) - 1});
  return tree;
}

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
