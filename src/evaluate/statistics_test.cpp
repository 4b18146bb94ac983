#include "evaluate/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

TEST(StatisticsTest, TheIntervalOfAShareIsAboutThatOfTheBinomial) {
  std::vector<double> right(400, 0), ones(400, 1);
  for (size_t i = 0; i < 100; ++i) right[i] = 1;
  const Interval share = BootstrapRatio(right, ones, Rng(1)).value();
  EXPECT_EQ(share.value, 0.25);
  const double deviation = std::sqrt(0.25 * 0.75 / 400);
  EXPECT_NEAR(share.low, 0.25 - 1.96 * deviation, 0.006);
  EXPECT_NEAR(share.high, 0.25 + 1.96 * deviation, 0.006);
  EXPECT_EQ(BootstrapRatio(right, ones, Rng(1)).value(), share) << "the same randomness";
}

// Of a hundred samples of a known mean, about 95 intervals must hold it.
TEST(StatisticsTest, IntervalsHoldTheTruthAsOftenAsTheySay) {
  int held = 0;
  for (uint64_t n = 0; n < 200; ++n) {
    Rng rng = Rng(7).Split(n);
    std::vector<double> values(60), ones(60, 1);
    for (double& value : values) value = rng.NextDouble();
    const Interval mean =
        BootstrapRatio(values, ones, rng.Split("bootstrap"), {.resamples = 400}).value();
    held += mean.low <= 0.5 && 0.5 <= mean.high;
  }
  EXPECT_GE(held, 178);  // 190 expected, deviation 3.1
  EXPECT_LE(held, 199);
}

TEST(StatisticsTest, ARatioWithoutAnythingBelowIsAbsent) {
  EXPECT_FALSE(BootstrapRatio(std::vector<double>{1, 2}, std::vector<double>{0, 0}, Rng(1)));
  EXPECT_FALSE(BootstrapRatio({}, {}, Rng(1)));
  // A third of the units say something: the others change nothing.
  const Interval one =
      BootstrapRatio(std::vector<double>{2, 0, 0}, std::vector<double>{1, 0, 0}, Rng(1)).value();
  EXPECT_EQ(one, (Interval{2, 2, 2}));
}

TEST(StatisticsTest, SeedsAreResampledToo) {
  // Two seeds far apart: tasks alone would give an interval of nothing.
  const Table values = {std::vector<double>(100, 0.0), std::vector<double>(100, 1.0)};
  const Interval mean = BootstrapMean(values, Rng(1));
  EXPECT_EQ(mean.value, 0.5);
  EXPECT_NEAR(mean.low, 0.5 - 12.706 * 0.5, 1e-3) << "as far as two seeds let it be";
  EXPECT_NEAR(mean.high, 0.5 + 12.706 * 0.5, 1e-3);
  const Interval one = BootstrapMean({std::vector<double>(100, 0.3)}, Rng(1));
  EXPECT_NEAR(one.low, 0.3, 1e-9);
}

TEST(StatisticsTest, StudentsDistribution) {
  // Any printed table.
  EXPECT_NEAR(StudentReach(0.95, 1), 12.706, 1e-3);
  EXPECT_NEAR(StudentReach(0.95, 2), 4.303, 1e-3);
  EXPECT_NEAR(StudentReach(0.95, 4), 2.776, 1e-3);
  EXPECT_NEAR(StudentReach(0.95, 7), 2.365, 1e-3);
  EXPECT_NEAR(StudentReach(0.99, 9), 3.250, 1e-3);
  EXPECT_NEAR(StudentReach(0.5, 120), 0.677, 1e-3);
}

// Where there is nothing to find, something is found in one of twenty cases at most.
TEST(StatisticsTest, FewSeedsDoNotMakeNarrowIntervals) {
  for (const size_t seeds : {3u, 5u, 8u}) {
    Rng rng(seeds);
    int excluded = 0;
    constexpr int kTrials = 1000;
    for (int trial = 0; trial < kTrials; ++trial) {
      Table table;
      for (size_t i = 0; i < seeds; ++i) table.push_back({rng.NextNormal()});
      const Interval interval = BootstrapMean(table, rng.Split("draws"), {.resamples = 200});
      excluded += interval.low > 0 || interval.high < 0 ? 1 : 0;
    }
    EXPECT_LT(excluded, 0.07 * kTrials) << seeds << " seeds";
    EXPECT_GT(excluded, 0.02 * kTrials) << seeds << " seeds: too wide";
  }
}

Table RandomTable(size_t rows, size_t columns, Rng rng) {
  Table table(rows, std::vector<double>(columns));
  for (std::vector<double>& row : table) {
    for (double& cell : row) cell = rng.NextDouble();
  }
  return table;
}

TEST(StatisticsTest, ClustersOfOneRowEachChangeNoBitOfAnInterval) {
  const Table values = RandomTable(5, 40, Rng(5));
  const Interval before = BootstrapMean(values, Rng(1));
  EXPECT_EQ(BootstrapMean(values, Rng(1), {}, {0, 1, 2, 3, 4}), before);
  EXPECT_NE(BootstrapMean(values, Rng(1), {}, {0, 0, 1, 2, 3}), before);
}

TEST(StatisticsTest, RowsOfAClusterCountOnceHoweverOftenTheyAreRepeated) {
  const Table three = {{0.2, 0.4}, {0.6, 0.3}, {0.9, 0.8}};
  Table repeated;
  for (const std::vector<double>& row : three) repeated.insert(repeated.end(), 4, row);
  const Clusters clusters = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
  const Interval once = BootstrapMean(three, Rng(1));
  const Interval many = BootstrapMean(repeated, Rng(1), {}, clusters);
  EXPECT_NEAR(many.value, once.value, 1e-12);
  EXPECT_NEAR(many.low, once.low, 1e-12);
  EXPECT_NEAR(many.high, once.high, 1e-12);
  const Interval as_if_twelve = BootstrapMean(repeated, Rng(1));
  EXPECT_LT(as_if_twelve.high - as_if_twelve.low, (once.high - once.low) / 2);
}

TEST(StatisticsTest, AClusterOfManyRowsWeighsAsMuchAsItsRows) {
  // Means 0 (three rows) and 1 (one row): the centre is a quarter, as in the mean over everything.
  const Table values = {{0}, {0}, {0}, {1}};
  const Interval mean = BootstrapMean(values, Rng(1), {}, {0, 0, 0, 1});
  EXPECT_DOUBLE_EQ(mean.value, 0.25);
  EXPECT_NEAR((mean.low + mean.high) / 2, 0.25, 1e-9);
  // One cluster says nothing about others: only tasks are drawn.
  const Interval one = BootstrapMean(values, Rng(1), {}, {0, 0, 0, 0});
  EXPECT_EQ(one, (Interval{0.25, 0.25, 0.25}));
}

// Runs of one start are alike: with nothing to find, counting runs finds something far too often.
TEST(StatisticsTest, SharedStartsDoNotMakeNarrowIntervals) {
  Rng rng(11);
  int counted_starts = 0, counted_runs = 0;
  constexpr int kTrials = 600;
  const Clusters clusters = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
  for (int trial = 0; trial < kTrials; ++trial) {
    Table table;
    for (int start = 0; start < 4; ++start) {
      const double common = rng.NextNormal();
      for (int run = 0; run < 3; ++run) table.push_back({common + 0.3 * rng.NextNormal()});
    }
    const auto excludes = [](const Interval& one) { return one.low > 0 || one.high < 0 ? 1 : 0; };
    counted_starts +=
        excludes(BootstrapMean(table, rng.Split("draws"), {.resamples = 200}, clusters));
    counted_runs += excludes(BootstrapMean(table, rng.Split("draws"), {.resamples = 200}));
  }
  EXPECT_LT(counted_starts, 0.07 * kTrials);
  EXPECT_GT(counted_starts, 0.02 * kTrials);
  EXPECT_GT(counted_runs, 0.15 * kTrials) << "what this is there for";
}

TEST(StatisticsTest, PairingTakesOutWhatThePairsShare) {
  Table a, b;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Rng rng = Rng(3).Split(seed);
    a.emplace_back();
    b.emplace_back();
    for (int task = 0; task < 200; ++task) {
      const double common = 10 * rng.NextDouble();
      a.back().push_back(common + 0.1);
      b.back().push_back(common);
    }
  }
  const Interval difference = PairedDifference(a, b, Rng(1));
  EXPECT_NEAR(difference.value, 0.1, 1e-9);
  EXPECT_NEAR(difference.low, 0.1, 1e-9);
  EXPECT_GT(BootstrapMean(a, Rng(1)).high - BootstrapMean(a, Rng(1)).low, 0.3);
}

TEST(StatisticsTest, NeverIsLaterThanWatchedAndNoNumber) {
  using Runs = std::vector<Reached>;
  EXPECT_EQ(MedianOf(Runs{{10, 100}, {30, 100}, {20, 100}}).Text(), "20");
  EXPECT_EQ(MedianOf(Runs{{10, 100}, {30, 100}, {{}, 100}}).Text(), "30");
  EXPECT_EQ(MedianOf(Runs{{10, 100}, {{}, 100}, {{}, 100}}).Text(),
            "later than 100 (1 of 3 reached it)");
  // The one that was stopped at 5 may have been the first of all.
  EXPECT_EQ(MedianOf(Runs{{10, 100}, {30, 100}, {{}, 5}}).Text(),
            "later than 10 (2 of 3 reached it)");
  EXPECT_EQ(MedianOf(Runs{{100, 300}, {200, 300}, {{}, 300}, {{}, 300}}).Text(),
            "later than 250 (2 of 4 reached it)");
  EXPECT_EQ(MedianOf(Runs{{10, 100}, {30, 100}}).value, 20);
}

TEST(StatisticsTest, ARaceOfPairs) {
  const std::vector<Reached> a = {{10, 50}, {10, 50}, {{}, 50}, {{}, 5}, {20, 50}};
  const std::vector<Reached> b = {{20, 50}, {{}, 50}, {{}, 50}, {20, 50}, {10, 50}};
  const PairedRace race = Race(a, b);
  EXPECT_EQ(race.a_first, 2);
  EXPECT_EQ(race.b_first, 1);
  EXPECT_EQ(race.ties, 2);  // both never; and one that was not watched long enough
  EXPECT_DOUBLE_EQ(race.p, 1);
  // Reached at the last look, where the other had not.
  EXPECT_EQ(Race(std::vector<Reached>{{50, 50}}, std::vector<Reached>{{{}, 50}}).a_first, 1);
  EXPECT_NEAR(SignTest(5, 0), 0.0625, 1e-12);
  EXPECT_NEAR(SignTest(9, 1), 22.0 / 1024, 1e-12);
  EXPECT_EQ(SignTest(0, 0), 1);
}

TEST(StatisticsTest, RatiosTogetherAreThoseAlone) {
  const std::vector<Ratio> ratios = {
      {{1, 0, 1, 1}, {1, 1, 1, 1}}, {{1, 2, 3, 4}, {0, 0, 0, 0}}, {{1, 2, 3, 4}, {0, 1, 0, 1}}};
  const auto together = BootstrapRatios(ratios, Rng(3), {.resamples = 100});
  ASSERT_EQ(together.size(), 3u);
  for (size_t i = 0; i < ratios.size(); ++i) {
    EXPECT_EQ(together[i],
              BootstrapRatio(ratios[i].above, ratios[i].below, Rng(3), {.resamples = 100}));
  }
  EXPECT_FALSE(together[1]) << "nothing to divide by";
  EXPECT_EQ(together[2]->value, 5);
}

}  // namespace
}  // namespace hone
