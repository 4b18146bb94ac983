#include "record/economy.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Economy, EveryCallMakesARightAnswerWorthLess) {
  const double expected[] = {1, 0.866025, 0.707107, 0.587785, 0.5};
  for (int calls = 0; calls <= 4; ++calls) {
    EXPECT_NEAR(OtcPpoFactor(calls, 4), expected[calls], 1e-5) << calls;
  }
}

TEST(Economy, TheFewestCallsThatAreEnoughAreWorthMost) {
  const double expected[] = {0.866025, 1, 0.951057, 0.866025, 0.781831};
  for (int calls = 1; calls <= 5; ++calls) {
    EXPECT_NEAR(OtcGrpoFactor(calls, 2, 4), expected[calls - 1], 1e-5) << calls;
  }
  EXPECT_EQ(OtcGrpoFactor(0, 2, 4), 0);
}

TEST(Economy, WhereNoCallIsEnoughOnlyTheCallsMadeCount) {
  EXPECT_EQ(OtcGrpoFactor(0, 0, 4), 1);
  EXPECT_NEAR(OtcGrpoFactor(2, 0, 4), 0.707107, 1e-5);
  EXPECT_NEAR(OtcGrpoFactor(4, 0, 4), 0.5, 1e-12);
}

TEST(Economy, FoldingIsPreferredByWhatItSaves) {
  EXPECT_NEAR(FoldPreference(12000, 8000), 0.2, 1e-12);
  EXPECT_NEAR(FoldPreference(8000, 12000), -0.2, 1e-12);
  EXPECT_EQ(FoldPreference(0, 0), 0);
}

}  // namespace
}  // namespace hone
