#include "rollout/arpo.h"

#include <cmath>

#include <gtest/gtest.h>

namespace hone {
namespace {

constexpr int64_t kVocabulary = 1000;

// A turn of the policy with so much entropy, in units of the logarithm of the vocabulary.
Node TurnOf(double entropy) {
  Node turn;
  turn.entropies = {static_cast<float>(entropy * std::log(kVocabulary))};
  return turn;
}

// So many open trajectories, whose entropy went from that of the first turn to that of the last.
GroupView Open(int64_t leaves, int64_t open, const Node& first, const Node& last) {
  GroupView view{
      .rng = Rng(1), .leaves = leaves, .started = open, .vocabulary = kVocabulary, .places = {{}}};
  for (int32_t i = 0; i < open; ++i) {
    view.places.push_back({.id = i + 1,
                           .path = std::to_string(i),
                           .turns = 1,
                           .open = true,
                           .after_results = true,
                           .last_turn = &last,
                           .first_turn = &first});
  }
  return view;
}

int64_t Extra(const std::vector<Extension>& next) {
  int64_t extra = 0;
  for (const Extension& extension : next) extra += extension.trajectories - 1;
  return extra;
}

TEST(ArpoTest, HalfOfTheLeavesBeginUnlessSaidOtherwise) {
  const GroupView view{.leaves = 16, .places = {{}}};
  EXPECT_EQ(NewArpo({}).value()->Next(view), std::vector<Extension>({{0, 8}}));
  EXPECT_EQ(NewArpo({.initial = 3}).value()->Next(view), std::vector<Extension>({{0, 3}}));
  EXPECT_EQ(NewArpo({.initial = 99}).value()->Next(view), std::vector<Extension>({{0, 16}}));
}

TEST(ArpoTest, BranchesMoreOftenWhereTheEntropyRose) {
  const auto arpo = NewArpo({}).value();
  const Node low = TurnOf(1), high = TurnOf(3.6);
  // u <= 0.5 + 0.2 rise: about half, all, none.
  const int64_t flat = Extra(arpo->Next(Open(4000, 1000, low, low)));
  EXPECT_GT(flat, 450);
  EXPECT_LT(flat, 550);
  EXPECT_EQ(Extra(arpo->Next(Open(4000, 1000, low, high))), 1000);
  EXPECT_EQ(Extra(arpo->Next(Open(4000, 1000, high, low))), 0);
  EXPECT_EQ(Extra(NewArpo({.beam = 4}).value()->Next(Open(4000, 1000, low, high))), 3000);
}

TEST(ArpoTest, OnlyTheFirstTwentyTokensOfATurnCount) {
  const auto arpo = NewArpo({}).value();
  Node first, last;
  first.entropies.assign(20, 0.0f);
  last.entropies.assign(20, 0.0f);
  last.entropies.resize(200, 5.0f);
  EXPECT_EQ(arpo->Next(Open(4000, 1000, first, last)), arpo->Next(Open(4000, 1000, first, first)));
}

TEST(ArpoTest, TheBudgetHoldsAndOpenOnesAlwaysGoOn) {
  const Node turn = TurnOf(1);
  const auto arpo = NewArpo({.branch_probability = 1}).value();
  const std::vector<Extension> next = arpo->Next(Open(10, 8, turn, turn));
  EXPECT_EQ(next.size(), 8u);
  EXPECT_EQ(Extra(next), 2);
  EXPECT_EQ(Extra(arpo->Next(Open(8, 8, turn, turn))), 0);
}

TEST(ArpoTest, OnlyResultsMakeItBranch) {
  const Node low = TurnOf(1), high = TurnOf(4);
  GroupView view = Open(100, 10, low, high);
  for (Place& place : view.places) place.after_results = false;
  EXPECT_EQ(Extra(NewArpo({}).value()->Next(view)), 0);
}

TEST(ArpoTest, WhatIsMissingInTheEndBeginsAfresh) {
  const auto arpo = NewArpo({}).value();
  GroupView view{.leaves = 16, .ended = 11, .started = 11, .places = {{}}};
  EXPECT_EQ(arpo->Next(view), std::vector<Extension>({{0, 5}}));
  view.started = view.ended = 16;
  EXPECT_TRUE(arpo->Next(view).empty());
}

TEST(ArpoTest, SettingsThatCannotBeAreRefused) {
  EXPECT_FALSE(NewArpo({.beam = 0}).ok());
  EXPECT_FALSE(NewArpo({.branch_probability = 1.5}).ok());
}

}  // namespace
}  // namespace hone
