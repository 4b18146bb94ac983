#include "learn/training_group.h"

#include <gtest/gtest.h>

#include "credit/methods.h"
#include "support/tiny_training.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

// One value per policy token: its number.
Advantages Numbered(int32_t leaf, size_t count) {
  Advantages one{leaf, {}};
  for (size_t t = 0; t < count; ++t) one.values.push_back(static_cast<float>(t));
  return one;
}

TEST(TrainingGroup, ASequenceHasThePolicysTokensInOrder) {
  TreeMaker maker;
  maker.Begin().Call("weather").Answer("Rain");  // user 3, turn 10, tool 4, turn 5
  maker.Begin().Answer("Sun");
  const std::vector<Advantages> advantages = {Numbered(1, 5), Numbered(0, 15)};
  const TrainingGroup group = MakeTrainingGroup(maker.tree, advantages);
  ASSERT_EQ(group.sequences.size(), 2u);
  const Sequence& first = group.sequences[0];
  EXPECT_EQ(first.leaf, 0);
  ASSERT_EQ(first.size(), 15u);
  EXPECT_EQ(first.places[0], (TokenPlace{0, 3}));
  EXPECT_EQ(first.places[9], (TokenPlace{0, 12}));
  EXPECT_EQ(first.places[10], (TokenPlace{0, 17})) << "the tool's tokens are passed over";
  EXPECT_EQ(first.advantages[10], 10);
  EXPECT_EQ(first.turns, (std::vector<Span>{{0, 10}, {10, 15}}));
  EXPECT_EQ(first.sampled, std::vector<float>(15, -0.5f));
  EXPECT_EQ(first.old, first.sampled);
  EXPECT_EQ(group.sequences[1].places[0], (TokenPlace{1, 3}));
  EXPECT_EQ(group.tokens, CountTokens(maker.tree));
  EXPECT_TRUE(group.tree.nodes[1].calls.empty()) << "nothing that the engine does not read";
}

TEST(TrainingGroup, ResultsAreLearnedAsWhatThePolicySaidLastWhereAskedFor) {
  TreeMaker maker;
  maker.Begin().Call("weather").Answer("Rain");  // user 3, turn 10, tool 4, turn 5
  maker.Begin().Answer("Sun");
  const std::vector<Advantages> advantages = {Numbered(0, 15), Numbered(1, 5)};
  TreeLogprobs now;
  for (const Node& node : maker.tree.nodes) {
    now.push_back({.logprobs = std::vector<float>(node.tokens.size(), -2.0f)});
  }
  const TrainingGroup group = MakeTrainingGroup(maker.tree, advantages, &now);
  const Sequence& first = group.sequences[0];
  ASSERT_EQ(first.size(), 19u) << "the prompt is nobody's to learn";
  EXPECT_EQ(first.turns, (std::vector<Span>{{0, 10}, {10, 14}, {14, 19}}));
  for (size_t t = 10; t < 14; ++t) {
    EXPECT_EQ(first.places[t], (TokenPlace{0, static_cast<int32_t>(t) + 3}));
    EXPECT_EQ(first.advantages[t], 9) << "of the policy's last token before it";
    EXPECT_EQ(first.sampled[t], -2) << "as if drawn now";
  }
  EXPECT_EQ(first.advantages[14], 10);
  EXPECT_EQ(first.sampled[14], -0.5f);
  EXPECT_EQ(group.sequences[1].size(), 5u) << "without a result nothing changes";
}

TEST(TrainingGroup, LeavesWithoutAdvantagesAreNotPaths) {
  TreeMaker maker;
  maker.Begin().Answer("a");
  maker.Begin().Answer("b");
  const std::vector<Advantages> advantages = {Numbered(1, 5)};
  const TrainingGroup group = MakeTrainingGroup(maker.tree, advantages);
  ASSERT_EQ(group.tree.leaves.size(), 1u) << "or shared tokens would be averaged over them";
  EXPECT_EQ(group.tree.leaves[0].node, maker.tree.leaves[1].node);
  EXPECT_EQ(group.sequences[0].places[0].path, 0);
  EXPECT_TRUE(MakeTrainingGroup(maker.tree, {}).sequences.empty());
}

TEST(TrainingGroup, WhatWasNotDrawnIsNotTrainedOn) {
  TreeMaker maker;
  maker.Begin().Call("weather").Answer("Rain");
  maker.tree.nodes[1].sampling.temperature = 0;  // a greedy turn
  const std::vector<Advantages> advantages = {Numbered(0, 15)};
  TrainingGroup group = MakeTrainingGroup(maker.tree, advantages);
  ASSERT_EQ(group.sequences[0].size(), 5u);
  EXPECT_EQ(group.sequences[0].advantages[0], 10) << "advantages stay with their tokens";
  maker.tree.nodes[3].logprobs.clear();
  EXPECT_TRUE(MakeTrainingGroup(maker.tree, advantages).sequences.empty());
  // The first token of a root has no prediction.
  Tree chain = ChainOf({1, 2, 3});
  chain.nodes[0].logprobs = {-1, -1, -1};
  const std::vector<Advantages> three = {Numbered(0, 3)};
  const TrainingGroup rooted = MakeTrainingGroup(chain, three);
  ASSERT_EQ(rooted.sequences[0].size(), 2u);
  EXPECT_EQ(rooted.sequences[0].places[0], (TokenPlace{0, 1}));
  EXPECT_EQ(rooted.sequences[0].advantages[0], 1);
}

TEST(TrainingGroup, AFoldedTrajectoryIsOneSequenceOverSeveralPaths) {
  TreeMaker maker;
  maker.Begin().Call("weather").Answer("folded");
  maker.tree.leaves.clear();
  maker.tree.nodes.push_back({kNoNode, Author::kUser, {9, 9}});
  maker.tree.nodes.back().folded_from = 3;
  Node turn{4, Author::kPolicy, {5, 5, 5}};
  turn.logprobs = {-1, -2, -3};
  turn.entropies = {1, 1, 1};
  maker.tree.nodes.push_back(turn);
  maker.tree.nodes.push_back(turn);
  maker.tree.leaves = {{.node = 5}, {.node = 6}};
  const std::vector<Advantages> advantages = {Numbered(0, 18), Numbered(1, 18)};
  const TrainingGroup group = MakeTrainingGroup(maker.tree, advantages);
  ASSERT_EQ(group.sequences.size(), 2u);
  ASSERT_EQ(group.tree.leaves.size(), 4u);
  const Sequence& second = group.sequences[1];
  ASSERT_EQ(second.size(), 18u);
  EXPECT_EQ(second.places[0], (TokenPlace{2, 3}));
  EXPECT_EQ(second.places[15], (TokenPlace{3, 2}));
  EXPECT_EQ(second.advantages[15], 15);
  EXPECT_EQ(second.sampled[17], -3);
  EXPECT_EQ(second.turns.size(), 3u);
}

TEST(TrainingGroup, ScoresOfAModelComeToTheirTokens) {
  const Model model = TinyModel(true);
  ThreadPool pool(1);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  const Tree tree = GroupsDrawnNearby(&decoder, 1, 0)[0];
  TrainingGroup group = MakeTrainingGroup(tree, SomeAdvantages(tree));
  const TreeLogprobs scores = decoder.LogProbs({&tree, 1})[0];
  SetReference(scores, &group);
  SetOld(scores, &group);
  const CriticValues before = ValuesBefore(tree, scores);
  for (const Sequence& sequence : group.sequences) {
    EXPECT_EQ(sequence.reference, sequence.sampled) << "of the tokens, to the bit";
    EXPECT_EQ(sequence.old, sequence.sampled);
    std::vector<float> values;
    const auto leaf = static_cast<size_t>(sequence.leaf);
    for (const NodeId id : PathTo(tree, tree.leaves[leaf].node)) {
      const auto node = static_cast<size_t>(id);
      if (tree.nodes[node].author != Author::kPolicy) continue;
      values.insert(values.end(), before[node].begin(), before[node].end());
    }
    EXPECT_EQ(sequence.old_values, values) << "the critic's value before each token";
  }
  EXPECT_EQ(before[0][0], 0) << "nothing was read yet";
  EXPECT_EQ(before[1][0], scores[0].values.back());
  EXPECT_EQ(before[1][1], scores[1].values[0]);
  std::vector<Advantages> returns = SomeAdvantages(tree);
  SetReturns(returns, &group);
  for (const Sequence& sequence : group.sequences) EXPECT_EQ(sequence.returns, sequence.advantages);
}

std::vector<int32_t> LeavesInLoss(const char* method, const ScoredTree& record) {
  const Result<Credit> credit = AssignCredit(*NewMethod(method), record);
  EXPECT_TRUE(credit.ok());
  std::vector<int32_t> leaves;
  for (const Advantages& one : AdvantagesInLoss(*credit)) leaves.push_back(one.leaf);
  return leaves;
}

TEST(TrainingGroup, WhoIsInTheLoss) {
  TreeMaker maker;
  maker.Begin().Answer("a");
  maker.Begin().Answer("b");
  maker.Begin().Call("weather").End(Ending::kFailed, Json(), Blame::kSimulator);
  maker.Begin().Fault(FaultKind::kNoAction).End(Ending::kVoid);
  maker.Begin().Answer("c");
  ScoredTree record{maker.tree, {}, {}};
  auto score = [&](int32_t leaf, double value) {
    record.scores.push_back({leaf, {{"outcome", value}}});
  };
  score(0, 1);
  score(1, 0);
  score(2, 0);
  score(3, 0);  // leaf 4 is not scored
  EXPECT_EQ(LeavesInLoss("grpo", record), (std::vector<int32_t>{0, 1, 3}))
      << "not the one that failed by others' fault, nor the one without a score";
  EXPECT_EQ(LeavesInLoss("simpletir", record), (std::vector<int32_t>{0, 1})) << "void ones masked";
  record.scores[0].terms[0].value = 0;
  EXPECT_EQ(LeavesInLoss("grpo", record), (std::vector<int32_t>{0, 1, 3}))
      << "all equal: no gradient, but in the denominator";
  EXPECT_TRUE(LeavesInLoss("dapo", record).empty()) << "the group is dropped";
  record.scores = {record.scores[0]};
  EXPECT_TRUE(LeavesInLoss("grpo", record).empty()) << "a group that shrank to one";
}

}  // namespace
}  // namespace hone
