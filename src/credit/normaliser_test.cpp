#include "credit/normaliser.h"

#include <gtest/gtest.h>

#include <vector>

namespace hone {
namespace {

std::vector<double> Of(const Normaliser& normaliser, std::vector<double> values,
                       std::vector<double> lengths = {}, double divisor = 1) {
  lengths.resize(values.size(), 1);
  Normalise(normaliser, lengths, divisor, normaliser.alone, values);
  return values;
}

TEST(Normaliser, AGroupOfOneGetsWhatItSays) {
  EXPECT_EQ(Of({.alone = Alone::kZero}, {3}), std::vector<double>{0});
  EXPECT_EQ(Of({.alone = Alone::kRaw}, {3}), std::vector<double>{3});
  EXPECT_EQ(Of({.centre = Centre::kNone}, {3}), std::vector<double>{3});
}

TEST(Normaliser, RoundingNeverBecomesCredit) {
  // 0.1 * 3 and 0.3 differ by a bit.
  EXPECT_EQ(Of({.scale = Scale::kGroupDeviation}, {0.1 * 3, 0.3, 0.3}),
            (std::vector<double>{0, 0, 0}));
}

TEST(Normaliser, TooSmallGroupsGetNothing) {
  EXPECT_EQ(Of({.least = 5}, {1, 0, 1, 0}), (std::vector<double>{0, 0, 0, 0}));
}

TEST(Normaliser, LeaveOneOutIsTheMeanOfTheOthers) {
  const std::vector<double> got = Of({.centre = Centre::kLeaveOneOut}, {4, 1, 1});
  EXPECT_NEAR(got[0], 3, 1e-12);
  EXPECT_NEAR(got[1], -1.5, 1e-12);
}

TEST(Normaliser, LengthsWeigh) {
  EXPECT_EQ(Of({.centre = Centre::kLengthMean}, {1, 0}, {3, 1}),
            (std::vector<double>{0.25, -0.75}));
  EXPECT_EQ(Of({.centre = Centre::kLengthMean}, {1, 0}, {0, 0}), (std::vector<double>{0.5, -0.5}));
}

TEST(Normaliser, OnlyTheBestAboveTheNext) {
  EXPECT_EQ(Of({.centre = Centre::kBestOverNext}, {1, 4, 2}), (std::vector<double>{0, 2, 0}));
  EXPECT_EQ(Of({.centre = Centre::kBestOverNext}, {1, 4, 4}), (std::vector<double>{0, 0, 0}));
}

TEST(Normaliser, TheBatchMayScale) {
  EXPECT_EQ(Of({.scale = Scale::kNonzeroShare}, {2, 0}, {}, 0.5), (std::vector<double>{2, -2}));
}

TEST(Normaliser, DeviationIsTheSamples) {
  const std::vector<double> values = {1, 0, 0, 1};
  const Deviation deviation = DeviationOf(values);
  EXPECT_NEAR(deviation.deviation, 0.577350, 1e-6);
  EXPECT_FALSE(deviation.equal);
  EXPECT_EQ(DeviationOf({}).deviation, 0);
}

}  // namespace
}  // namespace hone
