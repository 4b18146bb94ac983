#include "record/tree.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Tree Forest() {
  Tree tree;
  tree.nodes.resize(5);
  tree.nodes[0].tokens = {1, 2};
  tree.nodes[1] = {.parent = 0, .author = Author::kPolicy, .tokens = {3}};
  tree.nodes[2] = {.parent = 0, .author = Author::kPolicy, .tokens = {4}};
  tree.nodes[3].folded_from = 2;
  tree.nodes[3].tokens = {5};
  tree.nodes[4] = {.parent = 3, .author = Author::kPolicy, .tokens = {6, 7}};
  return tree;
}

TEST(Tree, APathGoesFromTheRootToTheNode) {
  const Tree tree = Forest();
  EXPECT_EQ(PathTo(tree, 1), (std::vector<NodeId>{0, 1}));
  EXPECT_EQ(TokensOf(tree, PathTo(tree, 1)), (std::vector<TokenId>{1, 2, 3}));
}

TEST(Tree, WhatOthersBrokeSaysNothingOfThePolicy) {
  const auto broken = [](Ending ending, Blame blame) {
    return BrokenByOthers({.ending = ending, .blame = blame});
  };
  EXPECT_FALSE(broken(Ending::kAnswered, Blame::kNone));
  EXPECT_FALSE(broken(Ending::kTokenLimit, Blame::kNone));
  EXPECT_FALSE(broken(Ending::kFailed, Blame::kAgent));
  EXPECT_TRUE(broken(Ending::kFailed, Blame::kNone)) << "nobody is blamed: not the agent";
  EXPECT_TRUE(broken(Ending::kFailed, Blame::kTool));
  EXPECT_TRUE(broken(Ending::kAnswered, Blame::kSimulator));
  EXPECT_TRUE(broken(Ending::kInterrupted, Blame::kNone));
}

TEST(Tree, AFoldStartsAFreshContextButCreditFlowsAcross) {
  const Tree tree = Forest();
  EXPECT_EQ(PathTo(tree, 4), (std::vector<NodeId>{3, 4})) << "what the policy saw";
  EXPECT_EQ(WholePathTo(tree, 4), (std::vector<NodeId>{0, 2, 3, 4})) << "what led there";
}

}  // namespace
}  // namespace hone
