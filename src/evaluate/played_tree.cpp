#include "evaluate/played_tree.h"

namespace hone {

Tree PlayedTree(const Task& task, uint64_t seed, const Playthrough& played) {
  Tree tree;
  tree.task = task;
  tree.seed = seed;
  tree.nodes.push_back({.author = Author::kUser});
  const auto append = [&](Node node) {
    node.parent = static_cast<NodeId>(tree.nodes.size()) - 1;
    tree.nodes.push_back(std::move(node));
  };
  for (const PlayedTurn& turn : played.turns) {
    Node said{.author = Author::kPolicy, .calls = turn.agent.calls, .faults = turn.agent.faults};
    append(std::move(said));
    if (turn.agent.results.empty()) continue;
    append({.author = Author::kTool, .results = turn.agent.results});
  }
  tree.leaves.push_back({.node = static_cast<NodeId>(tree.nodes.size()) - 1,
                         .ending = played.ending,
                         .blame = played.blame,
                         .final_state = played.final_state});
  return tree;
}

}  // namespace hone
