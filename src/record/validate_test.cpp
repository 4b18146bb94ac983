#include "record/validate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/random_record.h"

namespace hone {
namespace {

// system → policy (one call) → tool → policy (answer)
ScoredTree Valid() {
  ScoredTree record;
  Tree& tree = record.tree;
  tree.task.id = "t";
  tree.nodes.resize(4);
  tree.nodes[0].tokens = {1, 2, 3};
  tree.nodes[1] = {.parent = 0,
                   .author = Author::kPolicy,
                   .tokens = {4, 5, 6},
                   .logprobs = {-1, -2, 0},
                   .entropies = {1, 0, 2}};
  tree.nodes[1].calls = {{"weather", Json::Object(), {0, 2}}};
  tree.nodes[2] = {.parent = 1, .author = Author::kTool, .tokens = {7}};
  tree.nodes[2].results = {{.call = 0, .content = "sun"}};
  tree.nodes[3] = {
      .parent = 2, .author = Author::kPolicy, .tokens = {8}, .logprobs = {-1}, .entropies = {1}};
  tree.leaves = {{.node = 3}};
  record.scores = {{0, {{"outcome", 1.0, 1.0, kNoNode, {}}, {"how", 0.5, 1.0, 1, Span{0, 2}}}}};
  record.advantages = {{0, {1, 1, 1, 0.5}}};
  return record;
}

std::string FirstProblem(const std::function<void(ScoredTree&)>& spoil) {
  ScoredTree record = Valid();
  spoil(record);
  const auto problems = Validate(record);
  return problems.empty() ? "" : problems.front();
}

TEST(Validate, ASoundRecordHasNoProblems) {
  EXPECT_EQ(Validate(Valid()), std::vector<std::string>());
  for (uint64_t seed = 0; seed < 200; ++seed) {
    EXPECT_EQ(Validate(RandomRecord(Rng(seed))), std::vector<std::string>()) << seed;
  }
}

TEST(Validate, EveryRuleFires) {
  using R = ScoredTree;
  const std::vector<std::pair<std::function<void(R&)>, std::string>> cases = {
      {[](R& r) { r.tree.task.id = ""; }, "task: has no id"},
      {[](R& r) { r.tree.nodes.clear(); }, "nodes: there is none"},
      {[](R& r) { r.tree.nodes[1].parent = 1; }, "nodes[1]: parent 1 does not come before it"},
      {[](R& r) { r.tree.nodes[1].parent = -7; }, "nodes[1]: parent -7 does not come before it"},
      {[](R& r) { r.tree.nodes[2].parent = kNoNode; },
       "nodes[2]: a second root must say which segment it folds (folded_from)"},
      {[](R& r) { r.tree.nodes[2].folded_from = 1; },
       "nodes[2]: only a root can point back to a folded segment"},
      {[](R& r) { r.tree.nodes[2].rewritten = true; },
       "nodes[2]: only a root that takes the place of a segment can be rewritten"},
      {[](R& r) { r.tree.nodes[0].tokens[1] = -1; }, "nodes[0]: a token id is negative"},
      {[](R& r) { r.tree.nodes[0].logprobs = {0}; },
       "nodes[0]: a system node has what only a policy node can have"},
      {[](R& r) { r.tree.nodes[1].results = r.tree.nodes[2].results; },
       "nodes[1]: only a tool node can have results"},
      {[](R& r) { r.tree.nodes[1].logprobs.pop_back(); },
       "nodes[1]: logprobs has 2 entries for 3 tokens"},
      {[](R& r) { r.tree.nodes[1].entropies.clear(); },
       "nodes[1]: entropies has 0 entries for 3 tokens"},
      {[](R& r) { r.tree.nodes[1].logprobs[0] = 0.1f; },
       "nodes[1]: a log-probability is not a finite number of at most 0"},
      {[](R& r) { r.tree.nodes[1].logprobs[0] = -INFINITY; },
       "nodes[1]: a log-probability is not a finite number of at most 0"},
      {[](R& r) { r.tree.nodes[1].entropies[0] = NAN; },
       "nodes[1]: an entropy is not a finite number of at least 0"},
      {[](R& r) { r.tree.nodes[1].sampling.top_p = 0; },
       "nodes[1].sampling: top_p must be in (0, 1]"},
      {[](R& r) {
         r.tree.nodes[1].supports = {{{4}}, {{6, 5}}, {{6}}};
       },
       "nodes[1].supports[1]: is not in ascending order"},
      {[](R& r) {
         r.tree.nodes[1].supports = {{{4}}, {{4, 9}}, {{6}}};
       },
       "nodes[1].supports[1]: does not hold the token that was drawn"},
      {[](R& r) { r.tree.nodes[1].token_versions = {1}; },
       "nodes[1]: token_versions has 1 entries for 3 tokens"},
      {[](R& r) { r.tree.nodes[1].calls[0].span.end = 4; },
       "nodes[1].calls[0]: its span lies outside the node's tokens"},
      {[](R& r) { r.tree.nodes[1].calls.push_back(r.tree.nodes[1].calls[0]); },
       "nodes[1].calls[1]: its span overlaps the call before it"},
      {[](R& r) { r.tree.nodes[1].calls[0].arguments = 3; },
       "nodes[1].calls[0]: arguments is not an object"},
      {[](R& r) {
         r.tree.nodes[1].faults = {{FaultKind::kBadJson, "", {2, 9}}};
       },
       "nodes[1].faults[0]: its span lies outside the node's tokens"},
      {[](R& r) {
         r.tree.nodes[1].thoughts = {{1, 4}};
       },
       "nodes[1].thoughts[0]: its span lies outside the node's tokens"},
      {[](R& r) {
         r.tree.nodes[1].thoughts = {{2, 2}};
       },
       "nodes[1].thoughts[0]: its span lies outside the node's tokens"},
      {[](R& r) {
         r.tree.nodes[1].thoughts = {{0, 2}, {1, 3}};
       },
       "nodes[1].thoughts[1]: its span overlaps the thought before it"},
      {[](R& r) {
         r.tree.nodes[1].thoughts = {{0, 2}};
         r.tree.nodes[1].closed_thoughts = 2;
       },
       "nodes[1]: 2 of its 1 thoughts cannot have been closed by a limit"},
      {[](R& r) {
         r.tree.nodes[2].thoughts = {{0, 1}};
       },
       "nodes[2]: a tool node has what only a policy node can have"},
      {[](R& r) { r.tree.nodes[2].results[0].call = 1; },
       "nodes[2].results[0]: call 1 is not a call of the parent node"},
      {[](R& r) { r.tree.nodes[2].results.push_back({.call = 0}); },
       "nodes[2].results[1]: call 0 is answered twice"},
      {[](R& r) { r.tree.leaves[0].node = 9; }, "leaves[0]: node 9 does not exist"},
      {[](R& r) { r.tree.leaves[0].node = 2; }, "leaves[0]: node 2 has children"},
      {[](R& r) { r.tree.leaves.push_back(r.tree.leaves[0]); },
       "leaves[1]: node 3 is a leaf already"},
      {[](R& r) { r.tree.leaves.clear(); }, "nodes[3]: ends a path but is no leaf"},
      {[](R& r) { r.tree.leaves[0].ending = Ending::kFailed; },
       "leaves[0]: ended as failed but nobody is blamed"},
      {[](R& r) { r.scores[0].leaf = 5; }, "scores[0]: leaf 5 does not exist"},
      {[](R& r) { r.scores.push_back(r.scores[0]); }, "scores[1]: leaf 0 has one already"},
      {[](R& r) { r.scores[0].terms[0].value = NAN; }, "scores[0].terms[0]: value is not finite"},
      {[](R& r) {
         r.scores[0].terms[0].fault = TermFault{Blame::kJudge, "late"};
       },
       "scores[0].terms[0]: has a value and a fault: it can have only one"},
      {[](R& r) {
         r.scores[0].terms[0].value.reset();
         r.scores[0].terms[0].fault = TermFault{Blame::kNone, "late"};
       },
       "scores[0].terms[0]: its fault blames nobody"},
      {[](R& r) { r.scores[0].terms[1].node = 7; },
       "scores[0].terms[1]: node 7 is not on the leaf's path"},
      {[](R& r) {
         r.scores[0].terms[1].span = Span{0, 4};
       },
       "scores[0].terms[1]: its span lies outside the node's tokens"},
      {[](R& r) { r.advantages[0].values.pop_back(); },
       "advantages[0]: has 3 values for 4 policy tokens"},
      {[](R& r) { r.advantages[0].values[0] = INFINITY; }, "advantages[0]: a value is not finite"},
  };
  for (const auto& [spoil, problem] : cases) EXPECT_EQ(FirstProblem(spoil), problem);
}

TEST(Validate, ListsManyProblemsButNotEndlessly) {
  ScoredTree record = Valid();
  record.tree.nodes[0].tokens[0] = -1;
  record.tree.nodes[1].logprobs.clear();
  EXPECT_EQ(Validate(record).size(), 2u);
  record.tree.nodes.resize(500);
  EXPECT_EQ(Validate(record).size(), 100u);
}

// A comb of 200,000 nodes has 100,000 paths with ten thousand million nodes in all.
TEST(Validate, DoesNotWalkEveryPathOfAHugeTree) {
  ScoredTree record;
  record.tree.task.id = "comb";
  record.tree.nodes.resize(1);
  record.tree.nodes[0].tokens = {1};
  NodeId spine = 0;
  for (int32_t i = 0; i < 100000; ++i) {
    Node node;
    node.parent = spine;
    node.author = Author::kTool;
    node.tokens = {1};
    record.tree.nodes.push_back(node);
    record.tree.nodes.push_back(node);
    const auto end = static_cast<NodeId>(record.tree.nodes.size()) - 1;
    record.tree.leaves.push_back({end, Ending::kEos, Blame::kNone, Json()});
    record.scores.push_back({i, {{"x", 1.0, 1.0, spine, {}}}});
    spine = end - 1;
  }
  record.tree.leaves.push_back({spine, Ending::kEos, Blame::kNone, Json()});
  EXPECT_EQ(Validate(record), std::vector<std::string>());
  // The leaf of the first tooth does not lie behind the second node of the spine.
  record.scores[0].terms[0].node = record.scores[2].terms[0].node;
  EXPECT_EQ(Validate(record),
            std::vector<std::string>{"scores[0].terms[0]: node 3 is not on the leaf's path"});
}

TEST(Validate, KnowsExactlyTheNodesOfAPath) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    ScoredTree record = RandomRecord(Rng(seed));
    record.advantages.clear();
    for (size_t leaf = 0; leaf < record.tree.leaves.size(); ++leaf) {
      const auto path = WholePathTo(record.tree, record.tree.leaves[leaf].node);
      for (NodeId node = 0; node < static_cast<NodeId>(record.tree.nodes.size()); ++node) {
        record.scores = {{static_cast<int32_t>(leaf), {{"x", 1.0, 1.0, node, {}}}}};
        const bool on_path = std::find(path.begin(), path.end(), node) != path.end();
        ASSERT_EQ(Validate(record).empty(), on_path) << "seed " << seed << " node " << node;
      }
    }
  }
}

}  // namespace
}  // namespace hone
