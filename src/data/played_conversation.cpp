#include "data/played_conversation.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone {
namespace {

Json TurnMessage(const ParsedTurn& turn, size_t number) {
  Json message =
      Json::Of({{"role", "assistant"}, {"content", turn.answer ? *turn.answer : turn.content}});
  if (!turn.reasoning.empty()) message.Set("reasoning_content", turn.reasoning);
  if (turn.calls.empty()) return message;
  Json::Array calls;
  for (size_t c = 0; c < turn.calls.size(); ++c) {
    calls.push_back(
        Json::Of({{"id", fmt::format("call_{}_{}", number, c)},
                  {"type", "function"},
                  {"function", Json::Of({{"name", turn.calls[c].name},
                                         {"arguments", DumpJson(turn.calls[c].arguments)}})}}));
  }
  message.Set("tool_calls", std::move(calls));
  return message;
}

// What a user said behind a turn and its results: what stands where the dialect would put it.
std::optional<std::string> UserIn(const Dialect& dialect, std::string_view turn,
                                  std::string_view written, std::vector<Message> results) {
  constexpr char kMark[] = "HONE_MARK_7f3a";
  results.push_back({.role = Role::kUser, .content = kMark});
  Conversation next;
  next.messages = std::move(results);
  const Result<Piece> piece = dialect.Continue(turn, next);
  if (!piece.ok()) return std::nullopt;
  const size_t mark = piece->text.find(kMark);
  if (mark == std::string::npos) return std::nullopt;
  const std::string_view before = std::string_view(piece->text).substr(0, mark);
  const std::string_view after = std::string_view(piece->text).substr(mark + sizeof(kMark) - 1);
  if (!written.starts_with(before) || !written.ends_with(after) ||
      written.size() < before.size() + after.size()) {
    return std::nullopt;
  }
  written.remove_prefix(before.size());
  written.remove_suffix(after.size());
  return std::string(written);
}

}  // namespace

Result<Json> PlayedConversation(const Tree& tree, const Leaf& leaf, const SeenFirst& seen,
                                const Dialect& dialect, const Tokenizer& tokenizer) {
  const auto cannot = [&](std::string_view why) {
    return Error(ErrorCode::kUnsupported, fmt::format("task \"{}\": {}", tree.task.id, why));
  };
  Json::Array messages = seen.messages.AsArray();
  std::string turn;   // what the policy wrote last
  ParsedTurn parsed;  // what it says
  size_t turns = 0;   // of the policy
  for (const NodeId id : WholePathTo(tree, leaf.node)) {
    const Node& node = tree.nodes[static_cast<size_t>(id)];
    if (node.folded_from != kNoNode) return cannot("its history was folded");
    if (node.author == Author::kPolicy) {
      turn = tokenizer.BytesOf(node.tokens);
      parsed = dialect.Parse(turn, TurnEnd::kUnknown);
      if (!parsed.faults.empty()) return cannot("a turn could not be read");
      messages.push_back(TurnMessage(parsed, turns++));
      continue;
    }
    if (turns == 0) continue;  // the prompt
    std::vector<Message> results;
    for (const ToolResult& result : node.results) {
      const auto call = static_cast<size_t>(result.call);
      if (call >= parsed.calls.size()) return cannot("a result is of no call");
      results.push_back(
          {.role = Role::kTool, .content = result.content, .name = parsed.calls[call].name});
      messages.push_back(Json::Of({{"role", "tool"},
                                   {"tool_call_id", fmt::format("call_{}_{}", turns - 1, call)},
                                   {"name", parsed.calls[call].name},
                                   {"content", result.content}}));
    }
    if (node.tokens.empty()) continue;  // nobody read them
    const std::string written = tokenizer.BytesOf(node.tokens);
    Conversation only;
    only.messages = results;
    if (!results.empty()) {
      const Result<Piece> piece = dialect.Continue(turn, only);
      if (piece.ok() && piece->text == written) continue;
    }
    const std::optional<std::string> user = UserIn(dialect, turn, written, std::move(results));
    if (!user) return cannot("what was said between its turns cannot be told apart");
    messages.push_back(Json::Of({{"role", "user"}, {"content", *user}}));
  }
  if (turns == 0) return cannot("nothing was said");
  Json conversation = Json::Of({{"messages", std::move(messages)}});
  if (seen.tools.is_array() && !seen.tools.AsArray().empty()) {
    conversation.Set("tools", seen.tools);
  }
  return conversation;
}

}  // namespace hone
