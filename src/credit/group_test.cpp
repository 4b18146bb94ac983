#include "credit/group.h"

#include <gtest/gtest.h>

#include "support/credit_groups.h"
#include "support/random_record.h"

namespace hone {
namespace {

TEST(CreditGroup, TurnsAndActionsKnowTheirFlatTokens) {
  const ShortGroup made = GroupFrom(R"({"group":[{"terms":{"outcome":1},"turns":[
      {"tokens":4,"calls":[{"begin":1,"end":3}],"faults":[{"begin":3,"end":4}]},
      {"author":"tool","tokens":5},
      {"tokens":3},{"author":"user","tokens":2},
      {"tokens":6,"calls":[{"begin":0,"end":2}]}]}]})");
  const Result<Group> group = GroupOf(made.record);
  ASSERT_TRUE(group.ok());
  const Trajectory& one = group->trajectories[0];
  EXPECT_EQ(one.tokens, 13);
  EXPECT_EQ(one.length, 20);
  EXPECT_EQ(one.before_result, 4);
  ASSERT_EQ(one.turns.size(), 3u);
  EXPECT_EQ(one.turns[2].tokens, (Span{7, 13}));
  EXPECT_EQ(one.turns[2].round, 1);
  EXPECT_TRUE(one.turns[0].faulty);
  EXPECT_TRUE(one.turns[0].executed);
  EXPECT_FALSE(one.turns[2].executed) << "its call was never answered";
  ASSERT_EQ(one.actions.size(), 3u);
  EXPECT_EQ(one.actions[0].tokens, (Span{1, 3}));
  EXPECT_EQ(one.actions[1].kind, ActionKind::kFault);
  EXPECT_EQ(one.actions[2].tokens, (Span{7, 9}));
  EXPECT_EQ(one.Calls(), 3);
}

TEST(CreditGroup, TermsAreEarnedWhereTheySay) {
  const ShortGroup made = GroupFrom(R"({"group":[{"terms":{"outcome":1},"turns":[
      {"tokens":4,"calls":[{"begin":1,"end":3,"terms":{"call":1}}]},
      {"author":"tool","tokens":5,"terms":{"found":1}},
      {"tokens":3,"terms":{"style":1}}]}]})");
  const Group group = *GroupOf(made.record);
  auto place = [&](const std::string& name) {
    for (const RewardTerm& term : made.record.scores[0].terms) {
      if (term.name == name) return PlaceOf(term, group.trajectories[0]);
    }
    return TermPlace{-9, -9};
  };
  EXPECT_EQ(place("outcome").turn, -1);
  EXPECT_EQ(place("call").action, 0);
  EXPECT_EQ(place("found").turn, 0) << "a tool's result belongs to the turn before it";
  EXPECT_EQ(place("style").turn, 1);
  EXPECT_EQ(place("style").action, -1);
}

TEST(CreditGroup, OthersFaultsAndInterruptionsDoNotCount) {
  const ShortGroup made = GroupFrom(R"({"group":[
      {"turns":[{"tokens":1}],"ending":"failed","blame":"judge"},
      {"turns":[{"tokens":1}],"ending":"interrupted"},
      {"turns":[{"tokens":1}],"ending":"failed","blame":"agent"},
      {"turns":[{"tokens":1}],"ending":"invalid"}]})");
  const Group group = *GroupOf(made.record);
  EXPECT_FALSE(group.trajectories[0].counts);
  EXPECT_FALSE(group.trajectories[1].counts);
  EXPECT_TRUE(group.trajectories[2].counts);
  EXPECT_TRUE(group.trajectories[3].counts);
}

// A turn, and a second segment that takes its place.
ScoredTree TwoSegments(bool rewritten) {
  ScoredTree record;
  record.tree.task.id = "t";
  auto add = [&](NodeId parent, NodeId folded, Author author) {
    Node node;
    node.parent = parent;
    node.folded_from = folded;
    node.author = author;
    node.tokens = {1, 2};
    if (author == Author::kPolicy) node.logprobs = node.entropies = {0, 0};
    record.tree.nodes.push_back(node);
  };
  add(kNoNode, kNoNode, Author::kSystem);
  add(0, kNoNode, Author::kPolicy);
  add(kNoNode, 1, Author::kSystem);
  add(2, kNoNode, Author::kPolicy);
  record.tree.nodes[2].rewritten = rewritten;
  record.tree.leaves = {{3, Ending::kAnswered, Blame::kNone, {}}};
  return record;
}

TEST(CreditGroup, AFoldIsAnAction) {
  const ScoredTree record = TwoSegments(false);
  const Group group = *GroupOf(record);
  const Trajectory& one = group.trajectories[0];
  EXPECT_TRUE(one.folded);
  EXPECT_EQ(one.tokens, 4);
  ASSERT_EQ(one.actions.size(), 1u);
  EXPECT_EQ(one.actions[0].kind, ActionKind::kFold);
  EXPECT_EQ(one.actions[0].tokens, (Span{0, 2}));
  EXPECT_EQ(one.Calls(), 0);
}

TEST(CreditGroup, ASegmentThatATemplateRewroteIsNoFold) {
  const ScoredTree record = TwoSegments(true);
  const Group group = *GroupOf(record);
  EXPECT_FALSE(group.trajectories[0].folded);
  EXPECT_TRUE(group.trajectories[0].actions.empty());
  EXPECT_EQ(group.trajectories[0].tokens, 4) << "credit flows across all the same";
}

TEST(CreditGroup, EqualObservationsHaveEqualHashes) {
  const ShortGroup made = GroupFrom(R"({"group":[
      {"turns":[{"tokens":1},{"author":"tool","tokens":[5,6]},{"tokens":1}]},
      {"turns":[{"tokens":3},{"author":"tool","tokens":[5,6]},{"tokens":1}]},
      {"turns":[{"tokens":1},{"author":"tool","tokens":[5,7]},{"tokens":1}]}]})");
  const Group group = *GroupOf(made.record);
  auto hash = [&](size_t i, int turn) {
    return ObservationHash(group, group.trajectories[i], turn);
  };
  EXPECT_EQ(hash(0, 1), hash(1, 1));
  EXPECT_NE(hash(0, 1), hash(2, 1));
  EXPECT_EQ(hash(0, 0), hash(2, 0));
}

TEST(CreditGroup, ACombOfManyLongPathsIsRefusedInWords) {
  ScoredTree record;
  record.tree.task.id = "comb";
  record.tree.nodes.resize(1);
  record.tree.nodes[0].tokens = {1};
  NodeId spine = 0;
  for (int i = 0; i < 50000; ++i) {
    for (const bool leaf : {false, true}) {
      Node node;
      node.parent = spine;
      node.author = Author::kTool;
      node.tokens = {1};
      record.tree.nodes.push_back(std::move(node));
      if (leaf) {
        record.tree.leaves.push_back(
            {static_cast<NodeId>(record.tree.nodes.size()) - 1, Ending::kEos, Blame::kNone, {}});
      }
    }
    spine = static_cast<NodeId>(record.tree.nodes.size()) - 2;
  }
  const Result<Group> group = GroupOf(record);
  ASSERT_FALSE(group.ok());
  EXPECT_NE(group.error().message().find("split the group"), std::string::npos);
}

TEST(CreditGroup, CriticValuesMustFit) {
  const ShortGroup made = GroupFrom(GroupOfPlain({"1"}));
  const CriticValues few(1), wrong = {{}, {0.5f}};
  EXPECT_FALSE(GroupOf(made.record, &few).ok());
  EXPECT_FALSE(GroupOf(made.record, &wrong).ok());
}

TEST(CreditGroup, EveryValidRecordHasAGroup) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const ScoredTree record = RandomRecord(Rng(seed));
    const Result<Group> group = GroupOf(record);
    ASSERT_TRUE(group.ok());
    EXPECT_EQ(group->trajectories.size(), record.tree.leaves.size());
  }
}

}  // namespace
}  // namespace hone
