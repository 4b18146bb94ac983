#include <gtest/gtest.h>

#include "rollout/strategy.h"

namespace hone {
namespace {

// So many open trajectories, whose entropy rose by so much.
GroupView Open(int64_t leaves, int64_t open, double rise) {
  GroupView view{.rng = Rng(1), .leaves = leaves, .started = open, .places = {{}}};
  for (int32_t i = 0; i < open; ++i) {
    view.places.push_back({.id = i + 1,
                           .path = std::to_string(i),
                           .turns = 1,
                           .open = true,
                           .after_results = true,
                           .entropy = 1 + rise,
                           .first_entropy = 1});
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
  // u <= 0.5 + 0.2 rise: about half, all, none.
  const int64_t flat = Extra(arpo->Next(Open(4000, 1000, 0)));
  EXPECT_GT(flat, 450);
  EXPECT_LT(flat, 550);
  EXPECT_EQ(Extra(arpo->Next(Open(4000, 1000, 2.6))), 1000);
  EXPECT_EQ(Extra(arpo->Next(Open(4000, 1000, -2.6))), 0);
  EXPECT_EQ(Extra(NewArpo({.beam = 4}).value()->Next(Open(4000, 1000, 2.6))), 3000);
}

TEST(ArpoTest, TheBudgetHoldsAndOpenOnesAlwaysGoOn) {
  const auto arpo = NewArpo({.branch_probability = 1}).value();
  const std::vector<Extension> next = arpo->Next(Open(10, 8, 0));
  EXPECT_EQ(next.size(), 8u);
  EXPECT_EQ(Extra(next), 2);
  EXPECT_EQ(Extra(arpo->Next(Open(8, 8, 0))), 0);
}

TEST(ArpoTest, OnlyResultsMakeItBranch) {
  GroupView view = Open(100, 10, 3);
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
