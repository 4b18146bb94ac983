#include "rollout/portool.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

GroupView Open(int64_t leaves, int64_t open, uint64_t seed) {
  GroupView view{.rng = Rng(seed), .leaves = leaves, .started = leaves, .places = {{}}};
  for (int32_t i = 0; i < open; ++i) {
    view.places.push_back({.id = i + 1, .path = std::to_string(i), .turns = 1, .open = true});
  }
  return view;
}

TEST(PortoolTest, AsManyGoOnAsAreOpenAndNoneMoreOftenThanItMayFork) {
  const auto portool = NewPortool({.forks = 3}).value();
  EXPECT_EQ(portool->Next({.leaves = 7, .places = {{}}}), std::vector<Extension>({{0, 7}}));
  bool forked = false, given_up = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<Extension> next = portool->Next(Open(7, 5, seed));
    int64_t sum = 0;
    for (const Extension& extension : next) {
      sum += extension.trajectories;
      EXPECT_LE(extension.trajectories, 3);
      forked |= extension.trajectories > 1;
    }
    given_up |= next.size() < 5;
    EXPECT_EQ(sum, 5);
  }
  EXPECT_TRUE(forked);
  EXPECT_TRUE(given_up);
}

TEST(PortoolTest, EveryTrajectoryIsKeptAboutAsOften) {
  const auto portool = NewPortool({}).value();
  std::vector<int64_t> kept(4);
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    for (const Extension& extension : portool->Next(Open(4, 4, seed))) {
      kept[static_cast<size_t>(extension.place) - 1] += extension.trajectories;
    }
  }
  for (const int64_t count : kept) EXPECT_NEAR(static_cast<double>(count), 2000, 100);
}

TEST(PortoolTest, WithOneForkItIsChainsAndAtTheEndNothingIsLeft) {
  const auto portool = NewPortool({.forks = 1}).value();
  EXPECT_EQ(portool->Next(Open(3, 3, 1)), std::vector<Extension>({{1, 1}, {2, 1}, {3, 1}}));
  EXPECT_TRUE(portool->Next(Open(3, 0, 1)).empty());
  EXPECT_FALSE(NewPortool({.forks = 0}).ok());
}

}  // namespace
}  // namespace hone
