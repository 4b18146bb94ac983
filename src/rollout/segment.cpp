#include "rollout/segment.h"

namespace hone {

Result<Appending> AppendingOf(const Dialect& dialect) {
  // A user's message after reasoning is what templates that rewrite history stumble over.
  const Message result{.role = Role::kTool, .content = "1", .name = "tool"};
  const Message user{.role = Role::kUser, .content = "go on"};
  Appending appending = Appending::kAlways;
  for (const std::string_view turn : {"a", "<think>\nb\n</think>\n\na"}) {
    for (const auto& messages :
         {std::vector{result}, std::vector{user}, std::vector{result, user}}) {
      Conversation next;
      next.messages = messages;
      const Result<Piece> piece = dialect.Continue(turn, next);
      if (piece.ok()) continue;
      // Templates refuse what their model does not know: a tool's result, a question behind one.
      // Only one that cannot take a question is of no use; the others say so where it happens.
      const bool refused = piece.error().code() != ErrorCode::kUnsupported;
      if (refused && messages.front().role == Role::kUser) return piece.error();
      appending = Appending::kNotAlways;
    }
  }
  return appending;
}

Conversation Said(const TurnCodec& codec, const Conversation& before, const Node& turn,
                  const AgentTurn& agent, const EnvironmentTurn& environment) {
  ParsedTurn parsed =
      codec.dialect().Parse(codec.tokenizer().BytesOf(turn.tokens), TurnEnd::kUnknown);
  Message message = MessageOf(agent);
  if (message.content.empty()) message.content = std::move(parsed.content);
  if (!parsed.reasoning.empty()) message.reasoning = std::move(parsed.reasoning);
  Conversation said = before;
  said.messages.push_back(std::move(message));
  for (Message& next : MessagesAfter(agent, environment)) said.messages.push_back(std::move(next));
  return said;
}

Result<std::vector<Node>> SegmentOf(const TurnCodec& codec, const Conversation& conversation) {
  Conversation going_on = conversation;
  going_on.add_generation_prompt = true;
  HONE_ASSIGN_OR_RETURN(const std::vector<Piece> pieces, codec.dialect().Render(going_on));
  std::vector<Node> nodes;
  for (const Piece& piece : pieces) {
    Node node;
    node.author = piece.author == Author::kPolicy ? Author::kSystem : piece.author;
    const auto before = nodes.empty() ? std::span<const TokenId>() : nodes.back().tokens;
    node.tokens = EncodePiece(codec.tokenizer(), piece, before);
    // Results stand on the node that has them, which is in the segment before.
    if (node.author == Author::kTool) node.author = Author::kUser;
    if (!node.tokens.empty()) nodes.push_back(std::move(node));
  }
  if (nodes.empty()) return Error(ErrorCode::kInvalidArgument, "the opening has no messages");
  return nodes;
}

}  // namespace hone
