#include "rollout/group_tree.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Node Of(TokenId token) {
  Node node;
  node.tokens = {token};
  return node;
}

TEST(GroupTreeTest, TheFinishedTreeDoesNotTellWhoWasFaster) {
  const TrajectoryPath prompt;
  GroupTree one, other;
  {
    const NodeId root = one.Add(kNoNode, Of(1));
    const NodeId first = one.Add(root, Of(2));
    const NodeId second = one.Add(root, Of(3));
    one.AddLeaf(prompt.Child(0), {.node = first});
    one.AddLeaf(prompt.Child(10), {.node = second, .ending = Ending::kVoid});
  }
  {
    const NodeId root = other.Add(kNoNode, Of(1));
    const NodeId second = other.Add(root, Of(3));
    other.AddLeaf(prompt.Child(10), {.node = second, .ending = Ending::kVoid});
    other.AddLeaf(prompt.Child(0), {.node = other.Add(root, Of(2))});
  }
  const GroupTree::Finished a = std::move(one).Finish(), b = std::move(other).Finish();
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.leaves, b.leaves);
  EXPECT_EQ(a.paths, std::vector<std::string>({"0", "10"}));
  EXPECT_EQ(b.paths, a.paths);
  EXPECT_EQ(a.nodes[2].tokens, std::vector<TokenId>({3}));
  EXPECT_EQ(a.leaves[1].node, 2);
}

TEST(GroupTreeTest, WhatLeadsToNoLeafIsLeftOut) {
  GroupTree tree;
  const NodeId root = tree.Add(kNoNode, Of(1));
  const NodeId shared = tree.Add(root, Of(2));
  tree.Add(shared, Of(3));
  const NodeId kept = tree.Add(shared, Of(4));
  tree.Add(root, Of(5));
  tree.AddLeaf(TrajectoryPath().Child(0).Child(1), {.node = kept});
  EXPECT_EQ(tree.leaves(), 1u);
  const GroupTree::Finished finished = std::move(tree).Finish();
  ASSERT_EQ(finished.nodes.size(), 3u);
  EXPECT_EQ(finished.nodes[2].tokens, std::vector<TokenId>({4}));
  EXPECT_EQ(finished.nodes[2].parent, 1);
  EXPECT_EQ(finished.paths, std::vector<std::string>({"0/1"}));
}

TEST(GroupTreeTest, WithoutLeavesThereIsNothing) {
  GroupTree tree;
  tree.Add(kNoNode, Of(1));
  EXPECT_TRUE(std::move(tree).Finish().nodes.empty());
}

}  // namespace
}  // namespace hone
