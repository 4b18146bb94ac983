#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "record/call.h"
#include "record/sampling.h"
#include "record/task.h"

// The record of a group of samples of one task.
//
// The samples share their prompt, and branches share their prefix, so a group is a tree of turns.
// Each node holds exactly the tokens that were added to the context, once, with who wrote them.
// Text is a view of the tokens; nothing is ever decoded and encoded again. A path from a root to a
// leaf is a trajectory.

namespace hone {

using NodeId = int32_t;  // index into Tree::nodes
inline constexpr NodeId kNoNode = -1;

enum class Author { kSystem, kUser, kPolicy, kTool };
std::string_view AuthorName(Author author);

struct Node {
  NodeId parent = kNoNode;  // always smaller than the node's own id; kNoNode for a root
  Author author = Author::kSystem;
  std::vector<TokenId> tokens;

  // Policy nodes only.
  std::vector<float> logprobs;   // per token, of the distribution that was sampled from
  std::vector<float> entropies;  // per token, of the same distribution, in nats
  Sampling sampling;
  std::vector<Support> supports;  // per token; empty when every support is the whole vocabulary
  std::vector<Call> calls;        // in the order they were written
  std::vector<Fault> faults;      // actions that could not be read
  std::vector<Span> thoughts;     // where it thinks, markers included, in order
  int32_t closed_thoughts = 0;    // of them, those that a limit closed instead of the policy
  int64_t policy_version = 0;     // the update the weights came from
  std::vector<int64_t> token_versions;  // per token, when the turn crossed an update; else empty

  // Tool nodes only: one result per answered call of the parent.
  std::vector<ToolResult> results;

  // A root that takes the place of the segment which ended here: the agent folded its history, or,
  // if `rewritten`, the chat template writes what was said before otherwise as it goes on.
  NodeId folded_from = kNoNode;
  bool rewritten = false;

  bool operator==(const Node&) const = default;
};

// Why a trajectory ended. Filters go by this, never by the text.
enum class Ending {
  kAnswered,  // an answer action
  kEos,       // the policy stopped without one
  kTurnLimit,
  kTokenLimit,
  kBudget,       // calls, money or time of the episode
  kUserStop,     // the (simulated) user ended it
  kVoid,         // a turn with neither call nor answer, where that ends the episode
  kInvalid,      // an action that could not be read, where that ends the episode
  kInterrupted,  // the run was stopped
  kFailed,       // something other than the agent broke; see blame
};
std::string_view EndingName(Ending ending);

struct Leaf {
  NodeId node = kNoNode;
  Ending ending = Ending::kAnswered;
  Blame blame = Blame::kNone;
  Json final_state;  // what the environment says of the end, its verdict included

  bool operator==(const Leaf&) const = default;
};

// Whether somebody other than the agent broke the trajectory: it says nothing about the policy and
// counts nowhere.
bool BrokenByOthers(const Leaf& leaf);

struct Tree {
  Task task;
  uint64_t seed = 0;
  std::vector<Node> nodes;
  std::vector<Leaf> leaves;

  bool operator==(const Tree&) const = default;
};

// A token on several paths has a credit, and a derivative, on each of them. Every path's counts, as
// if it had been trained on its own: they are added up, in the order of the leaves. Or the token
// counts once: they are averaged over the paths through it.
enum class SharedTokens { kRepeat, kAverage };

// Whether the agent folded its history here. Records from before templates were told apart say so
// of every second root.
inline bool IsFold(const Node& node) { return node.folded_from != kNoNode && !node.rewritten; }

// The node and its ancestors, root first. Does not cross a fold.
std::vector<NodeId> PathTo(const Tree& tree, NodeId node);

// The same, with every segment that was folded into it in front.
std::vector<NodeId> WholePathTo(const Tree& tree, NodeId node);

// The path's tokens one after the other: the context as the policy saw it.
std::vector<TokenId> TokensOf(const Tree& tree, const std::vector<NodeId>& path);

// Tokens of all nodes, each counted once; and those of a node's thoughts.
int64_t CountTokens(const Tree& tree);
int64_t ThoughtTokens(const Node& node);

}  // namespace hone
