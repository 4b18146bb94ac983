#include "evaluate/log_rank.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "base/json.h"

namespace hone {
namespace {

std::vector<Reached> RunsOf(const Json& times, const Json& arrived) {
  std::vector<Reached> runs;
  for (size_t i = 0; i < times.AsArray().size(); ++i) {
    const double time = times.AsArray()[i].AsDouble();
    runs.push_back({.watched = time});
    if (arrived.AsArray()[i].AsDouble() != 0) runs.back().at = time;
  }
  return runs;
}

TEST(LogRankTest, AgreesWithSurvdiffOfR) {
  const auto lines =
      ParseJsonLines(ReadFile(HONE_SOURCE_DIR "/tests/golden/log_rank/r.jsonl").value()).value();
  ASSERT_EQ(lines.size(), 6u);
  for (const Json& line : lines) {
    SCOPED_TRACE(line.Find("name")->AsString());
    const auto number = [&](const char* key) { return line.Find(key)->AsDouble(); };
    const std::vector<Reached> a = RunsOf(*line.Find("a"), *line.Find("a_arrived"));
    const std::vector<Reached> b = RunsOf(*line.Find("b"), *line.Find("b_arrived"));
    const LogRank test = LogRankTest(a, b);
    EXPECT_EQ(test.observed, number("observed"));
    EXPECT_NEAR(test.expected, number("expected"), 1e-12);
    EXPECT_NEAR(test.variance, number("variance"), 1e-12);
    EXPECT_NEAR(test.chi_square, number("chi_square"), 1e-9);
    EXPECT_EQ(test.swaps, number("swaps"));
    EXPECT_DOUBLE_EQ(test.p, number("p"));
    const LogRank other = LogRankTest(b, a);
    EXPECT_DOUBLE_EQ(other.p, test.p) << "whoever is named first";
    EXPECT_NEAR(other.chi_square, test.chi_square, 1e-9);
  }
}

TEST(LogRankTest, NothingIsFoundWhereNobodyArrivesOrNobodyIsThere) {
  const std::vector<Reached> never(5, {.watched = 100});
  const LogRank test = LogRankTest(never, never);
  EXPECT_EQ(test.p, 1);
  EXPECT_EQ(test.chi_square, 0);
  EXPECT_EQ(LogRankTest({}, {}).p, 1);
}

// Where the sign test sees only who was first, this one sees by how much.
TEST(LogRankTest, OneLateRunAmongManyEarlyOnesWeighsLittle) {
  std::vector<Reached> a, b;
  for (int i = 0; i < 8; ++i) {
    a.push_back({i == 0 ? 100.0 : 10.0 + i, 1000});
    b.push_back({i == 0 ? 99.0 : 200.0 + i, 1000});
  }
  EXPECT_LT(LogRankTest(a, b).p, 0.02);
  EXPECT_GT(Race(a, b).p, 0.07);
}

TEST(LogRankTest, PairsOfOneStartAreSwappedTogether) {
  const std::vector<Reached> a(6, {10, 100}), b(6, {.watched = 100});
  EXPECT_DOUBLE_EQ(LogRankTest(a, b).p, 2.0 / 64);
  EXPECT_DOUBLE_EQ(LogRankTest(a, b, {0, 0, 1, 1, 2, 2}).p, 2.0 / 8) << "three starts";
  EXPECT_DOUBLE_EQ(LogRankTest(a, b, {0, 0, 0, 0, 0, 0}).p, 1) << "one start says nothing";
}

// With nothing to find, p is below 0.05 in at most one of twenty cases, censored or not.
TEST(LogRankTest, ChanceAloneIsFoundAsOftenAsPSays) {
  Rng rng(3);
  int found = 0;
  constexpr int kTrials = 1000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<Reached> a, b;
    for (int i = 0; i < 8; ++i) {
      const double common = rng.NextNormal();  // pairs share their start
      for (std::vector<Reached>* arm : {&a, &b}) {
        const double time = std::exp(common + rng.NextNormal());
        arm->push_back(time < 3 ? Reached{time, 3} : Reached{{}, 3});
      }
    }
    found += LogRankTest(a, b).p <= 0.05 ? 1 : 0;
  }
  EXPECT_LT(found, 0.07 * kTrials);
  EXPECT_GT(found, 0.02 * kTrials);
}

TEST(LogRankTest, ManyPairsAreDrawnAndTheSameEveryTime) {
  std::vector<Reached> a, b;
  Rng rng(4);
  for (int i = 0; i < 20; ++i) {
    a.push_back({rng.NextDouble(), 2});
    b.push_back({rng.NextDouble() + 0.2, 2});
  }
  const LogRank test = LogRankTest(a, b);
  EXPECT_FALSE(test.exact);
  EXPECT_EQ(test.p, LogRankTest(a, b).p);
  EXPECT_GT(test.p, 0);
  // Close to chi-square's, which is right for many pairs that have nothing in common.
  EXPECT_NEAR(test.p, std::erfc(std::sqrt(test.chi_square / 2)), 0.03);
}

}  // namespace
}  // namespace hone
