#include "rewards/flipped.h"

#include <gtest/gtest.h>

#include "rewards/compose.h"

namespace hone {
namespace {

// Every leaf earns 1 for its one call and for its outcome.
class Giving final : public Rewarder {
 public:
  Result<std::vector<Score>> ScoreTree(const Tree& tree, const RewardContext&) override {
    std::vector<Score> scores;
    for (size_t leaf = 0; leaf < tree.leaves.size(); ++leaf) {
      scores.push_back({static_cast<int32_t>(leaf),
                        {{"outcome", 1.0},
                         {"call", 1.0, 1, tree.leaves[leaf].node, Span{0, 1}},
                         {"call", std::nullopt, 1, tree.leaves[leaf].node, Span{2, 3}}}});
    }
    return scores;
  }
};

// Pairs of leaves share their node.
Tree GroupOf(uint64_t seed, int leaves) {
  Tree tree;
  tree.task.id = "t";
  tree.seed = seed;
  for (int i = 0; i < leaves; ++i) tree.leaves.push_back({.node = i / 2});
  return tree;
}

std::vector<double> Calls(double share, const Tree& tree, uint64_t seed = 1) {
  const auto rewarder =
      NewFlippedRewarder(std::make_unique<Giving>(), {.share = share, .seed = seed});
  std::vector<double> values;
  const auto scores = rewarder->ScoreTree(tree, {});
  for (const Score& score : *scores) {
    EXPECT_EQ(score.terms[0].value, 1.0) << "only what is named is turned round";
    EXPECT_EQ(score.terms[2].value, std::nullopt) << "not scored stays not scored";
    values.push_back(*score.terms[1].value);
  }
  return values;
}

TEST(Flipped, TurnsRoundTheShareThatIsSaid) {
  double flipped = 0, all = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    for (const double value : Calls(0.2, GroupOf(seed, 20))) {
      flipped += value < 0 ? 1 : 0;
      ++all;
    }
  }
  EXPECT_NEAR(flipped / all, 0.2, 0.02);
}

TEST(Flipped, AllOrNoneAtTheEnds) {
  EXPECT_EQ(Calls(0, GroupOf(1, 4)), std::vector<double>(4, 1.0));
  EXPECT_EQ(Calls(1, GroupOf(1, 4)), std::vector<double>(4, -1.0));
}

TEST(Flipped, IsTheSameEachTimeAndForAllWhoShareACall) {
  const Tree tree = GroupOf(5, 40);
  const std::vector<double> once = Calls(0.5, tree);
  EXPECT_EQ(once, Calls(0.5, tree));
  EXPECT_NE(once, Calls(0.5, tree, 2));
  EXPECT_NE(once, Calls(0.5, GroupOf(6, 40)));
  for (size_t i = 0; i < once.size(); i += 2) EXPECT_EQ(once[i], once[i + 1]);
}

TEST(Flipped, IsSaidAsDataAndChecked) {
  EXPECT_TRUE(RewarderFromJson(*ParseJson(R"({"preset": "desk", "flip": {"share": 0.2}})")).ok());
  for (const char* bad :
       {R"({"preset": "desk", "flip": {"share": 1.5}})", R"({"preset": "desk", "flip": {}})",
        R"({"preset": "desk", "flip": {"share": 0.1, "sed": 3}})"}) {
    EXPECT_FALSE(RewarderFromJson(*ParseJson(bad)).ok()) << bad;
  }
}

}  // namespace
}  // namespace hone
