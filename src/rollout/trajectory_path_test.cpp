#include "rollout/trajectory_path.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(TrajectoryPathTest, NamesSayWhereATrajectoryPartedAndWhichRepetitionItIs) {
  const TrajectoryPath prompt;
  const TrajectoryPath third = prompt.Child(3);
  EXPECT_EQ(prompt.Text(), "");
  EXPECT_EQ(third.Text(), "3");
  EXPECT_EQ(third.Child(1).Text(), "3/1");
  EXPECT_EQ(third.Again().Text(), "3~1");
  EXPECT_EQ(third.Again().Again().Child(2).Again().Text(), "3~2/2~1");
}

TEST(TrajectoryPathTest, TheOrderIsThatOfTheNumbersNotOfTheText) {
  const TrajectoryPath prompt;
  EXPECT_LT(prompt.Child(2), prompt.Child(10));
  EXPECT_LT(prompt.Child(2), prompt.Child(2).Child(1));
  EXPECT_LT(prompt.Child(2).Child(9), prompt.Child(2).Again());
  EXPECT_LT(prompt.Child(2).Again(), prompt.Child(3));
}

}  // namespace
}  // namespace hone
