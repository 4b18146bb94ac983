#include "rollout/strategy.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(StrategyTest, ChainsBeginOnceAndNeverPart) {
  const auto chains = NewChains();
  EXPECT_FALSE(chains->traits().branches());
  GroupView view{.leaves = 5, .places = {{}}};
  EXPECT_EQ(chains->Next(view), std::vector<Extension>({{0, 5}}));
  view.started = view.ended = 5;
  EXPECT_TRUE(chains->Next(view).empty());
}

TEST(StrategyTest, EveryBuiltInCanBeHadByItsName) {
  for (const auto& [name, about] : BuiltInStrategies()) {
    const auto strategy = NewStrategy(name);
    ASSERT_TRUE(strategy.ok()) << name;
    EXPECT_EQ((*strategy)->traits().name, name);
    EXPECT_FALSE(about.empty());
  }
  EXPECT_NE(NewStrategy("chain").error().message().find("chains"), std::string::npos);
}

}  // namespace
}  // namespace hone
