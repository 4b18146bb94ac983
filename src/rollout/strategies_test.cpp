#include "rollout/strategies.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(StrategiesTest, ChainsBeginOnceAndNeverPart) {
  const auto chains = NewStrategy("chains").value();
  EXPECT_FALSE(chains->traits().branches());
  GroupView view{.leaves = 5, .places = {{}}};
  EXPECT_EQ(chains->Next(view), std::vector<Extension>({{0, 5}}));
  view.started = view.ended = 5;
  EXPECT_TRUE(chains->Next(view).empty());
}

TEST(StrategiesTest, AMisspeltNameIsRefusedWithThoseThatThereAre) {
  const auto wrong = NewStrategy("chain");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message().find("there are chains, arpo, portool, tree-grpo"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
