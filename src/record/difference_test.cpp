#include "record/difference.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "support/random_record.h"

namespace hone {
namespace {

// A prompt, a call, its answer, two endings.
ScoredTree Sample() {
  ScoredTree record;
  Tree& tree = record.tree;
  tree.task.id = "t";
  const auto add = [&](NodeId parent, Author author, std::vector<TokenId> tokens) {
    Node node;
    node.parent = parent;
    node.author = author;
    if (author == Author::kPolicy) {
      node.logprobs.assign(tokens.size(), -0.5f);
      node.entropies.assign(tokens.size(), 0.7f);
    }
    node.tokens = std::move(tokens);
    tree.nodes.push_back(std::move(node));
    return static_cast<NodeId>(tree.nodes.size()) - 1;
  };
  const NodeId prompt = add(kNoNode, Author::kUser, {1, 2});
  const NodeId call = add(prompt, Author::kPolicy, {3, 4, 5});
  tree.nodes.back().calls.push_back({"clock", Json::Of({{"city", "Oslo"}}), {0, 2}});
  const NodeId result = add(call, Author::kTool, {6});
  tree.nodes.back().results.push_back({.content = "9", .latency_us = 40});
  tree.leaves.push_back({.node = add(result, Author::kPolicy, {7, 8})});
  tree.leaves.push_back({.node = add(result, Author::kPolicy, {9})});
  record.scores = {{0, {{"outcome", 1.0}, {"call", 1.0, 1, call, Span{0, 2}}}},
                   {1, {{"outcome", 0.0}, {"call", 1.0, 1, call, Span{0, 2}}}}};
  record.advantages = {{0, {1, 1, 1, 1, 1}}, {1, {-1, -1, -1, -1}}};
  return record;
}

TEST(Difference, EqualRecordsHaveNone) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const ScoredTree record = RandomRecord(Rng(seed));
    EXPECT_EQ(FirstDifference(record, record), std::nullopt) << seed;
  }
}

TEST(Difference, OfATokenNamesTrajectoryNodeAndToken) {
  ScoredTree stored = Sample();
  stored.tree.nodes[4].tokens[0] ^= 1;
  const auto found = FirstDifference(Sample(), stored);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->part, "tokens");
  EXPECT_EQ(found->Place(), "trajectory 1, node 4, token 0");
  EXPECT_EQ(found->derived, "9");
  EXPECT_EQ(found->stored, "8");
}

TEST(Difference, OneBitOfALogProbabilityIsSeen) {
  ScoredTree stored = Sample();
  float& value = stored.tree.nodes[1].logprobs[2];
  value = std::nextafter(value, 0.0f);
  const auto found = FirstDifference(Sample(), stored);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->part, "logprobs");
  EXPECT_EQ(found->Place(), "trajectory 0, node 1, token 2");
}

TEST(Difference, WhatAToolSaidComesBeforeTheTokensOfIt) {
  ScoredTree stored = Sample();
  stored.tree.nodes[2].results[0].content = "8";
  stored.tree.nodes[2].tokens[0] = 60;
  const auto found = FirstDifference(Sample(), stored);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->part, "results");
  EXPECT_EQ(found->Place(), "trajectory 0, node 2, call 0");
  EXPECT_NE(found->stored.find("\"8\""), std::string::npos) << found->stored;
}

TEST(Difference, HowLongACallTookIsNone) {
  ScoredTree stored = Sample();
  stored.tree.nodes[2].results[0].latency_us = 41;
  EXPECT_EQ(FirstDifference(Sample(), stored), std::nullopt);
}

TEST(Difference, OfARewardNamesTheTermAndItsCall) {
  ScoredTree stored = Sample();
  stored.scores[1].terms[1].value = -0.25;
  const auto found = FirstDifference(Sample(), stored);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->part, "rewards");
  EXPECT_EQ(found->Place(), "trajectory 1, node 1, reward 1");
  EXPECT_NE(found->stored.find("-0.25"), std::string::npos) << found->stored;
}

TEST(Difference, OfAnAdvantageNamesTheTokenItBelongsTo) {
  ScoredTree stored = Sample();
  stored.advantages[1].values[3] = -2;  // behind the three tokens of the call
  const auto found = FirstDifference(Sample(), stored);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->part, "advantages");
  EXPECT_EQ(found->Place(), "trajectory 1, node 4, token 0");
}

TEST(Difference, ThoughtsAreComparedWhereTheRecordHasThem) {
  ScoredTree derived = Sample(), stored = Sample();
  derived.tree.nodes[1].thoughts = {{0, 1}};
  EXPECT_EQ(FirstDifference(derived, stored), std::nullopt) << "it is of an earlier version";
  stored.tree.nodes[1].thoughts = {{0, 2}};
  const auto found = FirstDifference(derived, stored);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->part, "thoughts");
  EXPECT_EQ(found->Place(), "trajectory 0, node 1, thought 0");
}

TEST(Difference, MissingAndAdditionalThingsAreSeen) {
  const auto part_after = [](auto change) {
    ScoredTree stored = Sample();
    change(&stored);
    const auto there = FirstDifference(Sample(), stored);
    const auto back = FirstDifference(stored, Sample());
    EXPECT_TRUE(there && back);
    return there && back && there->part == back->part ? there->part : "";
  };
  EXPECT_EQ(part_after([](ScoredTree* one) { one->tree.nodes[1].tokens.pop_back(); }), "tokens");
  EXPECT_EQ(part_after([](ScoredTree* one) { one->tree.nodes[1].calls.clear(); }), "calls");
  EXPECT_EQ(part_after([](ScoredTree* one) { one->tree.nodes.pop_back(); }), "number of turns");
  EXPECT_EQ(part_after([](ScoredTree* one) { one->tree.leaves.pop_back(); }),
            "number of trajectories");
  EXPECT_EQ(part_after([](ScoredTree* one) { one->scores.pop_back(); }),
            "number of scored trajectories");
  EXPECT_EQ(part_after([](ScoredTree* one) { one->scores[0].terms.pop_back(); }),
            "number of rewards");
  EXPECT_EQ(part_after([](ScoredTree* one) { one->advantages.clear(); }),
            "number of credited trajectories");
  EXPECT_EQ(part_after([](ScoredTree* one) { one->tree.task.id = "u"; }), "task");
  EXPECT_EQ(part_after([](ScoredTree* one) { one->tree.seed = 7; }), "seed");
  EXPECT_EQ(part_after([](ScoredTree* one) { one->tree.leaves[0].ending = Ending::kVoid; }),
            "ending");
}

}  // namespace
}  // namespace hone
