#include "credit/group.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"

namespace hone {
namespace {

constexpr int64_t kMostTokens = int64_t{1} << 30;

NodeId Before(const Node& node) { return node.parent != kNoNode ? node.parent : node.folded_from; }

// Policy tokens of all paths together, without walking the paths: a comb of a million nodes has
// half a million long ones.
int64_t PolicyTokensOfAllPaths(const Tree& tree) {
  std::vector<int64_t> up_to(tree.nodes.size());
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const Node& node = tree.nodes[i];
    const NodeId before = Before(node);
    // A node without tokens of the policy counts one, so that walking paths is bounded too.
    up_to[i] = (before == kNoNode ? 0 : up_to[before]) + 1 +
               (node.author == Author::kPolicy ? static_cast<int64_t>(node.tokens.size()) : 0);
  }
  int64_t sum = 0;
  for (const Leaf& leaf : tree.leaves) sum += up_to[leaf.node];
  return sum;
}

// Whether every call of a turn was answered without an error, as far as the path shows.
bool Executed(const Node& turn, const Node* next) {
  if (turn.calls.empty()) return true;
  if (next == nullptr || next->author != Author::kTool) return false;
  return next->results.size() == turn.calls.size() &&
         std::all_of(next->results.begin(), next->results.end(),
                     [](const ToolResult& result) { return result.status == CallStatus::kOk; });
}

// A thought is that of the action which comes after it, where no other thought comes between. One
// that a fault overlaps is part of what could not be read.
void AddThoughts(const Node& node, Trajectory* trajectory) {
  const Turn& turn = trajectory->turns.back();
  size_t next = 0;  // thought
  int32_t end = 0;  // of the actions so far, in the node
  for (int32_t a = turn.actions.begin; a < turn.actions.end; ++a) {
    Action& action = trajectory->actions[static_cast<size_t>(a)];
    for (; next < node.thoughts.size() && node.thoughts[next].end <= action.span.begin; ++next) {
      const Span& thought = node.thoughts[next];
      if (thought.begin < end) continue;
      action.thought = {turn.tokens.begin + thought.begin, turn.tokens.begin + thought.end};
    }
    end = std::max(end, action.span.end);
  }
}

void AddActions(const Node& node, bool folds, Trajectory* trajectory) {
  Turn& turn = trajectory->turns.back();
  const auto index = static_cast<int32_t>(trajectory->turns.size()) - 1;
  const auto first = static_cast<int32_t>(trajectory->actions.size());
  auto add = [&](ActionKind kind, const Span& span) {
    trajectory->actions.push_back(
        {kind, index, span, {turn.tokens.begin + span.begin, turn.tokens.begin + span.end}});
  };
  for (const Call& call : node.calls) add(ActionKind::kCall, call.span);
  for (const Fault& fault : node.faults) {
    turn.faulty = true;
    // Neither a turn without any action nor a fault of the turn as a whole is a call that could be
    // pointed at.
    if (fault.kind != FaultKind::kNoAction && !fault.span.empty())
      add(ActionKind::kFault, fault.span);
  }
  if (folds && static_cast<int32_t>(trajectory->actions.size()) == first) {
    add(ActionKind::kFold, {0, static_cast<int32_t>(node.tokens.size())});
  }
  std::stable_sort(trajectory->actions.begin() + first, trajectory->actions.end(),
                   [](const Action& a, const Action& b) { return a.span.begin < b.span.begin; });
  turn.actions = {first, static_cast<int32_t>(trajectory->actions.size())};
  AddThoughts(node, trajectory);
}

Trajectory TrajectoryOf(const Tree& tree, int32_t leaf) {
  Trajectory trajectory;
  trajectory.leaf = leaf;
  trajectory.counts = !BrokenByOthers(tree.leaves[leaf]);
  const std::vector<NodeId> path = WholePathTo(tree, tree.leaves[leaf].node);
  int32_t rounds = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    const Node& node = tree.nodes[path[i]];
    const Node* next = i + 1 < path.size() ? &tree.nodes[path[i + 1]] : nullptr;
    const auto size = static_cast<int32_t>(node.tokens.size());
    const bool begun = !trajectory.turns.empty() || node.author == Author::kPolicy;
    if (begun) trajectory.length += size;
    if (IsFold(node)) trajectory.folded = true;
    if (node.author == Author::kUser && begun) ++rounds;
    if (node.author == Author::kTool && begun) trajectory.has_result = true;
    if (node.author != Author::kPolicy) continue;
    const bool folds = next != nullptr && IsFold(*next) && next->folded_from == path[i];
    Turn turn;
    turn.node = path[i];
    turn.tokens = {trajectory.tokens, trajectory.tokens + size};
    turn.round = rounds;
    turn.executed = Executed(node, next);
    trajectory.turns.push_back(turn);
    AddActions(node, folds, &trajectory);
    trajectory.tokens += size;
    if (!trajectory.has_result) trajectory.before_result = trajectory.tokens;
  }
  return trajectory;
}

}  // namespace

int32_t Trajectory::Calls() const {
  return static_cast<int32_t>(
      std::count_if(actions.begin(), actions.end(),
                    [](const Action& action) { return action.kind != ActionKind::kFold; }));
}

Result<Group> GroupOf(const ScoredTree& record, const CriticValues* values) {
  if (const int64_t tokens = PolicyTokensOfAllPaths(record.tree); tokens > kMostTokens) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("the paths of tree \"{}\" hold {} tokens and nodes in all, more than "
                             "2^30; split the group",
                             record.tree.task.id, tokens));
  }
  Group group{&record, values, {}};
  if (values != nullptr && values->size() != record.tree.nodes.size()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the critic has values for {} nodes, the tree has {}", values->size(),
                             record.tree.nodes.size()));
  }
  for (size_t i = 0; values != nullptr && i < values->size(); ++i) {
    const size_t size = (*values)[i].size(), tokens = record.tree.nodes[i].tokens.size();
    if (size == 0 || size == tokens) continue;
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the critic has {} values for the {} tokens of nodes[{}]", size, tokens, i));
  }
  for (size_t i = 0; i < record.tree.leaves.size(); ++i) {
    group.trajectories.push_back(TrajectoryOf(record.tree, static_cast<int32_t>(i)));
  }
  for (const Score& score : record.scores) group.trajectories[score.leaf].score = &score;
  return group;
}

TermPlace PlaceOf(const RewardTerm& term, const Trajectory& trajectory) {
  TermPlace place;
  if (term.node == kNoNode) return place;
  // Nodes of a path ascend. What was earned on a tool's or the user's node belongs to the turn
  // that came before it.
  const auto after =
      std::upper_bound(trajectory.turns.begin(), trajectory.turns.end(), term.node,
                       [](NodeId node, const Turn& turn) { return node < turn.node; });
  if (after == trajectory.turns.begin()) return place;
  const Turn& turn = *(after - 1);
  place.turn = static_cast<int32_t>(after - trajectory.turns.begin()) - 1;
  const Span& actions = turn.actions;
  if (turn.node != term.node || !term.span) {
    // Without a span it is the action's only where there is no doubt which.
    if (actions.end - actions.begin == 1) place.action = actions.begin;
    return place;
  }
  for (int32_t a = actions.begin; a < actions.end; ++a) {
    const Span& span = trajectory.actions[a].span;
    if (term.span->begin < span.end && span.begin < term.span->end) {
      place.action = a;
      break;
    }
  }
  return place;
}

uint64_t ObservationHash(const Group& group, const Trajectory& trajectory, int32_t turn) {
  const Tree& tree = group.tree();
  std::vector<NodeId> read;
  const NodeId stop = turn == 0 ? kNoNode : trajectory.turns[turn - 1].node;
  for (NodeId id = Before(tree.nodes[trajectory.turns[turn].node]); id != stop && id != kNoNode;
       id = Before(tree.nodes[id])) {
    read.push_back(id);
  }
  std::string bytes;
  for (auto id = read.rbegin(); id != read.rend(); ++id) {
    const std::vector<TokenId>& tokens = tree.nodes[*id].tokens;
    bytes.append(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(TokenId));
  }
  return Hash64(bytes);
}

}  // namespace hone
