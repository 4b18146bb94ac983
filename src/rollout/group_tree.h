#pragma once

#include <vector>

#include "record/tree.h"
#include "rollout/trajectory_path.h"

namespace hone {

// The tree of a group while it grows. Nodes come in the order things happen; the finished tree is
// in the order of the paths' names, so that it does not tell who was faster.
class GroupTree {
 public:
  // The new node's place, for Add as a parent and for Node::folded_from; not its id in the finished
  // tree.
  NodeId Add(NodeId parent, Node node);
  const Node& At(NodeId node) const { return nodes_[static_cast<size_t>(node)]; }
  Node& At(NodeId node) { return nodes_[static_cast<size_t>(node)]; }  // until the next Add

  void AddLeaf(TrajectoryPath path, Leaf leaf);
  size_t leaves() const { return leaves_.size(); }

  struct Finished {
    std::vector<Node> nodes;
    std::vector<Leaf> leaves;
    std::vector<std::string> paths;  // per leaf
  };
  // Only what lies on a leaf's path. Leaves nothing behind.
  Finished Finish() &&;

 private:
  NodeId Before(NodeId node) const;

  struct NamedLeaf {
    TrajectoryPath path;
    Leaf leaf;
  };
  std::vector<Node> nodes_;
  std::vector<NamedLeaf> leaves_;
};

}  // namespace hone
