#include "learn/running/running_moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone {
namespace {

// The numbers are those of TRL's RunningMoments (trl/experimental/bco/bco_trainer.py) after each of
// its updates: mean and std.
TEST(RunningMoments, AreThoseOfTrl) {
  RunningMoments moments;
  moments.Add(std::vector<double>{1, 2, 4});
  EXPECT_NEAR(moments.mean(), 2.3333333333333335, 1e-12);
  EXPECT_NEAR(moments.Deviation(), 1.5275252316519468, 1e-12);
  moments.Add(std::vector<double>{10, -3});
  EXPECT_NEAR(moments.mean(), 2.8, 1e-12);
  EXPECT_NEAR(moments.Deviation(), 4.764451699828638, 1e-12);
  moments.Add(std::vector<double>{0.5});
  EXPECT_NEAR(moments.mean(), 2.4166666666666665, 1e-12);
  EXPECT_NEAR(moments.Deviation(), 4.363675820528682, 1e-12);
}

TEST(RunningMoments, OfWhatDoesNotVaryAreNoDivisor) {
  RunningMoments moments;
  EXPECT_EQ(moments.Deviation(), 1);
  EXPECT_EQ(moments.Spread(), 0);
  moments.Add(std::vector<double>{3});
  EXPECT_EQ(moments.Deviation(), 1);
  moments.Add(std::vector<double>{3, 3, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(moments.Deviation(), 1);
  EXPECT_EQ(moments.count(), 3) << "what is no number does not count";
}

TEST(RunningMoments, GoOnAsIfNothingHadHappened) {
  RunningMoments one;
  one.Add(std::vector<double>{0.1, 0.7, 12.25});
  RunningMoments other;
  ASSERT_TRUE(other.Restore(ParseJson(DumpJson(one.ToJson())).value(), "moments").ok());
  one.Add(std::vector<double>{1e-3});
  other.Add(std::vector<double>{1e-3});
  EXPECT_EQ(one.mean(), other.mean());
  EXPECT_EQ(one.Deviation(), other.Deviation());
  EXPECT_FALSE(other.Restore(Json::Of({{"count", 1}}), "moments").ok());
}

}  // namespace
}  // namespace hone
