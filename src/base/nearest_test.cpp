#include "base/nearest.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Nearest, FindsTheMistypedWord) {
  const std::vector<std::string> keys = {"learning_rate", "steps", "seed"};
  EXPECT_EQ(Nearest("learnign_rate", keys), "learning_rate");
  EXPECT_EQ(Nearest("step", keys), "steps");
  EXPECT_EQ(Nearest("sede", keys), "seed") << "a swap of neighbours is one edit";
}

TEST(Nearest, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(Nearest("temperature", {"steps", "seed"}), std::nullopt);
  EXPECT_EQ(DidYouMean("temperature", {"steps"}), "");
  EXPECT_EQ(DidYouMean("sed", {"seed"}), " (did you mean \"seed\"?)");
}

}  // namespace
}  // namespace hone
