#include "credit/shapers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "credit/methods.h"
#include "support/credit_groups.h"

namespace hone {
namespace {

TEST(Shapers, WhiteTokensHaveMeanZeroAndDeviationOne) {
  const Credit credit = CreditOf("reinforce++", GroupOfPlain({"3", "1", "null", "2"}));
  double sum = 0, squares = 0;
  for (const size_t i : {0, 1, 3}) {
    for (const float value : credit.advantages[i].values) sum += value, squares += value * value;
  }
  EXPECT_NEAR(sum, 0, 1e-5);
  EXPECT_NEAR(squares / 5, 1, 1e-5);
  for (const float value : credit.advantages[2].values) EXPECT_EQ(value, 0) << "was not scored";
}

TEST(Shapers, TrajectoriesAreNormalisedOnceEachWhateverTheirLength) {
  const std::string group = "{\"group\":[" + Plain("1", 1) + "," + Plain("0", 50) + "]}";
  const Credit credit = CreditOf("gdpo", group);
  EXPECT_NEAR(credit.advantages[0].values[0], 0.707106, 1e-4);
}

TEST(Shapers, ClippedToTheLimit) {
  std::vector<std::string> outcomes(30, "0");
  outcomes[0] = "1";
  EXPECT_EQ(CreditOf("toolorchestra", GroupOfPlain(outcomes)).advantages[0].values[0], 3);
  EXPECT_NEAR(CreditOf("toolorchestra:clip=9", GroupOfPlain(outcomes)).advantages[0].values[0],
              5.2948, 1e-3);
}

TEST(Shapers, OnlyTheMostUncertainTokensLearn) {
  const Credit credit = CreditOf("entropy-mask:share=0.5", R"({"group":[
      {"terms":{"outcome":1},"turns":[{"tokens":2,"entropies":[0.1,2]}]},
      {"terms":{"outcome":0},"turns":[{"tokens":2,"entropies":[1,0.2]}]}]})");
  EXPECT_EQ(credit.advantages[0].values[0], 0);
  EXPECT_GT(credit.advantages[0].values[1], 0.7);
  EXPECT_LT(credit.advantages[1].values[0], -0.7);
  EXPECT_EQ(credit.advantages[1].values[1], 0);
}

TEST(Shapers, SharedTokensGetTheMeanOfTheirPaths) {
  ScoredTree record;
  record.tree.task.id = "t";
  auto add = [&](NodeId parent, Author author) {
    Node node;
    node.parent = parent;
    node.author = author;
    node.tokens = {1};
    if (author == Author::kPolicy) node.logprobs = node.entropies = {0};
    record.tree.nodes.push_back(node);
    return static_cast<NodeId>(record.tree.nodes.size()) - 1;
  };
  const NodeId tool = add(add(add(kNoNode, Author::kSystem), Author::kPolicy), Author::kTool);
  for (const double reward : {1.0, 0.0, 0.0}) {
    const auto leaf = static_cast<int32_t>(record.tree.leaves.size());
    record.tree.leaves.push_back(
        {add(leaf == 2 ? 0 : tool, Author::kPolicy), Ending::kAnswered, Blame::kNone, {}});
    record.scores.push_back({leaf, {{"outcome", reward, 1, kNoNode, {}}}});
  }
  const Credit soft = *AssignCredit(*NewMethod("arpo-soft"), record),
               hard = *AssignCredit(*NewMethod("arpo-hard"), record);
  const float mean = (soft.advantages[0].values[0] + soft.advantages[1].values[0]) / 2;
  EXPECT_NEAR(hard.advantages[0].values[0], mean, 1e-6);
  EXPECT_NEAR(hard.advantages[1].values[0], mean, 1e-6);
  EXPECT_EQ(hard.advantages[0].values[1], soft.advantages[0].values[1]);
}

}  // namespace
}  // namespace hone
