#include "record/tree.h"

#include <algorithm>

#include "base/check.h"

namespace hone {

bool BrokenByOthers(const Leaf& leaf) {
  if (leaf.ending == Ending::kInterrupted) return true;
  if (leaf.blame != Blame::kNone) return leaf.blame != Blame::kAgent;
  return leaf.ending == Ending::kFailed;
}

std::vector<NodeId> PathTo(const Tree& tree, NodeId node) {
  std::vector<NodeId> path;
  for (; node != kNoNode; node = tree.nodes[node].parent) path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<NodeId> WholePathTo(const Tree& tree, NodeId node) {
  std::vector<NodeId> path;
  while (node != kNoNode) {
    path.push_back(node);
    const Node& at = tree.nodes[node];
    node = at.parent != kNoNode ? at.parent : at.folded_from;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<TokenId> TokensOf(const Tree& tree, const std::vector<NodeId>& path) {
  std::vector<TokenId> tokens;
  for (const NodeId id : path) {
    const std::vector<TokenId>& more = tree.nodes[id].tokens;
    tokens.insert(tokens.end(), more.begin(), more.end());
  }
  return tokens;
}

int64_t CountTokens(const Tree& tree) {
  int64_t tokens = 0;
  for (const Node& node : tree.nodes) tokens += static_cast<int64_t>(node.tokens.size());
  return tokens;
}

int64_t ThoughtTokens(const Node& node) {
  int64_t tokens = 0;
  for (const Span& thought : node.thoughts) tokens += thought.end - thought.begin;
  return tokens;
}

std::string_view AuthorName(Author author) {
  switch (author) {
    case Author::kSystem: return "system";
    case Author::kUser: return "user";
    case Author::kPolicy: return "policy";
    case Author::kTool: return "tool";
  }
  return "unknown";
}

std::string_view EndingName(Ending ending) {
  switch (ending) {
    case Ending::kAnswered: return "answered";
    case Ending::kEos: return "eos";
    case Ending::kTurnLimit: return "turn_limit";
    case Ending::kTokenLimit: return "token_limit";
    case Ending::kBudget: return "budget";
    case Ending::kUserStop: return "user_stop";
    case Ending::kVoid: return "void";
    case Ending::kInvalid: return "invalid";
    case Ending::kInterrupted: return "interrupted";
    case Ending::kFailed: return "failed";
  }
  return "unknown";
}

std::string_view FaultKindName(FaultKind kind) {
  switch (kind) {
    case FaultKind::kIncomplete: return "incomplete";
    case FaultKind::kBadJson: return "bad_json";
    case FaultKind::kBadCall: return "bad_call";
    case FaultKind::kUnexpectedText: return "unexpected_text";
    case FaultKind::kNoAction: return "no_action";
  }
  return "unknown";
}

std::string_view BlameName(Blame blame) {
  switch (blame) {
    case Blame::kNone: return "none";
    case Blame::kAgent: return "agent";
    case Blame::kTool: return "tool";
    case Blame::kSimulator: return "simulator";
    case Blame::kUserSimulator: return "user_simulator";
    case Blame::kJudge: return "judge";
    case Blame::kEnvironment: return "environment";
    case Blame::kInfrastructure: return "infrastructure";
  }
  return "unknown";
}

std::string_view CallSourceName(CallSource source) {
  switch (source) {
    case CallSource::kComputed: return "computed";
    case CallSource::kExecutor: return "executor";
    case CallSource::kJournal: return "journal";
    case CallSource::kSimulator: return "simulator";
    case CallSource::kTool: return "tool";
  }
  return "unknown";
}

std::string_view CallStatusName(CallStatus status) {
  switch (status) {
    case CallStatus::kOk: return "ok";
    case CallStatus::kToolError: return "tool_error";
    case CallStatus::kUnknownTool: return "unknown_tool";
    case CallStatus::kInvalidArguments: return "invalid_arguments";
    case CallStatus::kDenied: return "denied";
    case CallStatus::kTimeout: return "timeout";
    case CallStatus::kUnavailable: return "unavailable";
    case CallStatus::kInterrupted: return "interrupted";
  }
  return "unknown";
}

}  // namespace hone
