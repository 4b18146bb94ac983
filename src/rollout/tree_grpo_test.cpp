#include "rollout/tree_grpo.h"

#include <set>

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(TreeGrpoTest, ExpandsPlacesOfEachTreeThePromptAmongThem) {
  const auto strategy = NewTreeGrpo({.trees = 2, .expansions = 3, .rounds = 2}).value();
  GroupView view{.leaves = 99, .places = {{}}};
  EXPECT_EQ(strategy->Next(view), std::vector<Extension>({{0, 2}}));
  view.started = view.ended = 2;
  view.places.push_back({.id = 1, .path = "0", .turns = 1});
  view.places.push_back({.id = 2, .path = "1~1", .turns = 1});
  view.places.push_back({.id = 3, .path = "0/1", .turns = 2});
  std::set<int32_t> first, second;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    view.rng = Rng(seed);
    const std::vector<Extension> next = strategy->Next(view);
    ASSERT_EQ(next.size(), 6u);
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(next[i].trajectories, 1);
      (i < 3 ? first : second).insert(next[i].place);
    }
  }
  EXPECT_EQ(first, (std::set<int32_t>{0, 1, 3}));
  EXPECT_EQ(second, (std::set<int32_t>{0, 2}));
}

TEST(TreeGrpoTest, EndsAfterItsRounds) {
  const auto strategy = NewTreeGrpo({.trees = 2, .expansions = 2, .rounds = 2}).value();
  GroupView view{.ended = 6, .started = 6, .places = {{}}};
  EXPECT_FALSE(strategy->Next(view).empty());
  view.started = view.ended = 10;
  EXPECT_TRUE(strategy->Next(view).empty());
  const auto chains = NewTreeGrpo({.trees = 2, .expansions = 0}).value();
  view.started = view.ended = 2;
  EXPECT_TRUE(chains->Next(view).empty());
  EXPECT_FALSE(NewTreeGrpo({.trees = 0}).ok());
}

}  // namespace
}  // namespace hone
