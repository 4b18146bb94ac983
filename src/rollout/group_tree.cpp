#include "rollout/group_tree.h"

#include <algorithm>

#include "base/check.h"

namespace hone {

NodeId GroupTree::Add(NodeId parent, Node node) {
  node.parent = parent;
  nodes_.push_back(std::move(node));
  return static_cast<NodeId>(nodes_.size()) - 1;
}

void GroupTree::AddLeaf(TrajectoryPath path, Leaf leaf) {
  leaves_.push_back({std::move(path), std::move(leaf)});
}

// What comes before a node, in its segment or the one before.
NodeId GroupTree::Before(NodeId node) const {
  const Node& at = At(node);
  return at.parent != kNoNode ? at.parent : at.folded_from;
}

GroupTree::Finished GroupTree::Finish() && {
  std::sort(leaves_.begin(), leaves_.end(),
            [](const NamedLeaf& a, const NamedLeaf& b) { return a.path < b.path; });
  Finished finished;
  std::vector<NodeId> ids(nodes_.size(), kNoNode);  // in the finished tree
  std::vector<NodeId> path;
  for (NamedLeaf& named : leaves_) {
    path.clear();
    for (NodeId at = named.leaf.node; at != kNoNode && ids[static_cast<size_t>(at)] == kNoNode;
         at = Before(at)) {
      path.push_back(at);
    }
    CHECK(!path.empty(), "two trajectories ended at one node");
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      Node& node = nodes_[static_cast<size_t>(*at)];
      for (NodeId* before : {&node.parent, &node.folded_from}) {
        if (*before != kNoNode) *before = ids[static_cast<size_t>(*before)];
      }
      ids[static_cast<size_t>(*at)] = static_cast<NodeId>(finished.nodes.size());
      finished.nodes.push_back(std::move(node));
    }
    named.leaf.node = ids[static_cast<size_t>(named.leaf.node)];
    finished.leaves.push_back(std::move(named.leaf));
    finished.paths.push_back(named.path.Text());
  }
  return finished;
}

}  // namespace hone
