#include "evaluate/compare/claims.h"

#include <cmath>
#include <deque>

#include <gtest/gtest.h>

namespace hone {
namespace {

// Made-up runs of two arms, so that the analysis is known to find what is there before there is
// anything to find.
struct MadeUp {
  // When each seed's run arrives (0: never, within 4,000), and what share of test it does.
  void Add(const std::string& arm, const std::vector<double>& arrivals, double success,
           const std::vector<std::string>& starts = {}) {
    section.arms.push_back({.name = arm, .label = arm});
    for (size_t i = 0; i < arrivals.size(); ++i) {
      ComparedRun& run = runs.emplace_back();
      run.arm = arm;
      run.seed = i + 1;
      run.status = ComparedRun::Status::kFinished;
      run.trajectories = 4000;
      run.start = starts.empty() ? "start-" + std::to_string(i) : starts[i];
      if (arrivals[i] > 0) run.dev.push_back({.trajectories = arrivals[i], .sampled = 0.5});
      run.dev.push_back({.trajectories = 4000, .sampled = arrivals[i] > 0 ? 0.9 : 0.1});
      std::string outcomes;
      for (int task = 0; task < 50; ++task) outcomes += task < 50 * success ? '1' : '0';
      run.evaluations.Set("after/test/sampled", Json::Of({{"tasks", int64_t{50}},
                                                          {"all", Json::Of({{"success", success}})},
                                                          {"outcomes", std::move(outcomes)}}));
      section.seeds.resize(std::max(section.seeds.size(), i + 1));
      section.seeds[i] = i + 1;
    }
    for (ComparedArm& one : section.arms) {
      one.runs.clear();
      for (const ComparedRun& run : runs) {
        if (run.arm == one.name) one.runs.push_back(&run);
      }
    }
  }
  ClaimFinding Find(const Claim& claim) const { return FindingOf(claim, {section}); }

  std::deque<ComparedRun> runs;
  ComparedSection section{.title = "made up", .goal = 0.5};
};

Claim Times(double large = 1.3) {
  return {.title = "sooner",
          .arm = "new",
          .against = "old",
          .measure = "trajectories",
          .primary = true,
          .predicted = 2,
          .large = large};
}

TEST(Claims, TheRatioIsTheGeometricMeanOverPairs) {
  MadeUp made;
  made.Add("old", {1000, 2000, 800, 1600}, 0.5);
  made.Add("new", {500, 1000, 400, 800}, 0.6);
  const ClaimFinding found = made.Find(Times());
  ASSERT_TRUE(found.value);
  EXPECT_NEAR(found.value->value, 2, 1e-12);
  EXPECT_NEAR(found.value->low, 2, 1e-12) << "all pairs say the same";
  EXPECT_EQ(found.pairs, 4);
  EXPECT_EQ(found.arrived, 4);
  EXPECT_EQ(ClaimVerdict(Times(), found), "shown, large");
  EXPECT_EQ(ClaimVerdict(Times(3), found), "shown");
  Claim other = Times();
  std::swap(other.arm, other.against);
  EXPECT_EQ(ClaimVerdict(other, made.Find(other)), "the other way");
}

TEST(Claims, WhoNeverArrivesCountsAsTheEndOfItsRun) {
  MadeUp made;
  made.Add("old", {0, 0, 0}, 0.1);
  made.Add("new", {500, 1000, 2000}, 0.6);
  const ClaimFinding found = made.Find(Times());
  EXPECT_NEAR(found.value->value, std::cbrt(8.0 * 4 * 2), 1e-9);
  EXPECT_EQ(found.arrived, 3);
  EXPECT_EQ(found.arrived_against, 0);
  ASSERT_TRUE(found.log_rank);
  EXPECT_GT(found.log_rank->observed, found.log_rank->expected);
}

// Runs that are watched for different efforts: a cheap arm that never arrives is not the better
// one.
TEST(Claims, WhereItIsOpenWhoWasFirstTheRatioIsOne) {
  MadeUp made;
  made.Add("old", {0, 0, 0}, 0.1);
  made.Add("new", {0, 0, 0}, 0.1);
  for (ComparedRun& run : made.runs) {
    run.dollars = run.arm == "old" ? 65 : 2.5;
    for (DevPoint& point : run.dev) point.dollars = *run.dollars;
  }
  Claim claim = Times();
  claim.measure = "dollars";
  EXPECT_DOUBLE_EQ(made.Find(claim).value->value, 1);
  EXPECT_EQ(ClaimVerdict(claim, made.Find(claim)), "no effect shown");
  for (ComparedRun& run : made.runs) {
    if (run.arm == "old") run.dev.back().sampled = 0.9;  // the dear one arrives
  }
  EXPECT_DOUBLE_EQ(made.Find(claim).value->value, 1)
      << "the cheap one may arrive for less, or never";
}

TEST(Claims, LessCanBeWhatWasPredicted) {
  MadeUp made;
  made.Add("old", {1000, 1000, 1000}, 0.9);
  made.Add("new", {1000, 1000, 1000}, 0.2);
  Claim claim{.title = "teaches nothing",
              .arm = "new",
              .against = "old",
              .measure = "test/sampled",
              .predicted = -70,
              .large = 50};
  EXPECT_EQ(ClaimVerdict(claim, made.Find(claim)), "shown, large");
  claim.predicted = 5;
  EXPECT_EQ(ClaimVerdict(claim, made.Find(claim)), "the other way");
}

TEST(Claims, NothingIsShownWhereThereIsNothing) {
  MadeUp made;
  made.Add("old", {1000, 500, 900, 600}, 0.5);
  made.Add("new", {500, 1000, 600, 900}, 0.5);
  EXPECT_EQ(ClaimVerdict(Times(), made.Find(Times())), "no effect shown");
  Claim points{.title = "higher", .arm = "new", .against = "old", .measure = "test/sampled"};
  EXPECT_EQ(ClaimVerdict(points, made.Find(points)), "no effect shown");
}

TEST(Claims, DifferencesAreInPointsAndPredictedSo) {
  MadeUp made;
  made.Add("old", {1000, 1000, 1000}, 0.5);
  made.Add("new", {1000, 1000, 1000}, 0.7);
  const Claim claim{.title = "higher",
                    .arm = "new",
                    .against = "old",
                    .measure = "test/sampled",
                    .predicted = 20,
                    .large = 5};
  const ClaimFinding found = made.Find(claim);
  EXPECT_NEAR(found.value->value, 0.2, 1e-9);
  EXPECT_EQ(ClaimVerdict(claim, found), "shown, large");
  const std::vector<ReportTable> tables = ClaimTables({claim}, {found}, {made.section});
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].heading, "What else was predicted");
  EXPECT_EQ(tables[0].rows[1][3], "+20.0");
  EXPECT_TRUE(tables[0].rows[1][4].starts_with("+20.0 [")) << tables[0].rows[1][4];
  EXPECT_EQ(tables[0].rows[1][5], "yes");
}

TEST(Claims, RunsThatShareTheirStartCountOnce) {
  MadeUp made;
  made.Add("old", {1000, 1000, 1000, 1000}, 0.5, {"a", "a", "b", "b"});
  made.Add("new", {500, 500, 500, 500}, 0.5, {"a", "a", "b", "b"});
  EXPECT_EQ(made.Find(Times()).clusters, 2u);
  EXPECT_EQ(ClaimVerdict(Times(), made.Find(Times())), "too few seeds");
}

TEST(Claims, UnknownArmsFindNothing) {
  MadeUp made;
  made.Add("old", {1000}, 0.5);
  EXPECT_EQ(ClaimVerdict(Times(), made.Find(Times())), "not measured");
  const Json json = ToJson(Times(), made.Find(Times()));
  EXPECT_TRUE(json.Find("measured")->is_null());
  EXPECT_EQ(json.Find("verdict")->AsString(), "not measured");
}

}  // namespace
}  // namespace hone
