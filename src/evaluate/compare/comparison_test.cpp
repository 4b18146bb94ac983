#include "evaluate/compare/comparison.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Json EvaluationOf(std::string outcomes, Json::Array calls) {
  double sum = 0, done = 0, known = 0;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] == '-') continue;
    sum += calls[i].AsDouble();
    done += outcomes[i] == '1' ? 1 : 0;
    ++known;
  }
  return Json::Of(
      {{"tasks", static_cast<int64_t>(outcomes.size())},
       {"all", Json::Of({{"success", done / known},
                         {"needless_calls", 0.25},
                         {"which", 0.5},
                         {"calls_per_task", sum / known},
                         {"gold_calls_per_task", 1.5}})},
       {"families", Json::Of({{"one", Json::Of({{"success", 0.5}, {"low", 0.4}, {"high", 0.6}})}})},
       {"outcomes", std::move(outcomes)},
       {"calls_by_task", std::move(calls)}});
}

ComparedRun RunOf(std::string arm, uint64_t seed, std::string outcomes, Json::Array calls) {
  ComparedRun run;
  run.arm = std::move(arm);
  run.seed = seed;
  run.status = ComparedRun::Status::kFinished;
  run.evaluations.Set("after/test/sampled", EvaluationOf(std::move(outcomes), std::move(calls)));
  run.trajectories = 100;
  return run;
}

ComparedSection SectionOf(const std::vector<ComparedRun>& runs, std::vector<uint64_t> seeds) {
  ComparedSection section{.seeds = std::move(seeds)};
  for (const ComparedRun& run : runs) {
    if (section.arms.empty() || section.arms.back().name != run.arm) {
      section.arms.push_back({.name = run.arm, .label = run.arm});
    }
    section.arms.back().runs.push_back(&run);
  }
  return section;
}

size_t PlaceOf(const SectionReport& report, std::string_view name) {
  for (size_t k = 0; k < report.kinds.size(); ++k) {
    if (report.kinds[k].name == name) return k;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(Comparison, MeansAndPairedDifferencesOfHandMadeRuns) {
  const std::vector<ComparedRun> runs = {
      RunOf("base", 1, "1000", {1, 1, 1, 1}), RunOf("base", 2, "1100", {1, 1, 1, 1}),
      RunOf("new", 1, "1110", {2, 1, 1, 1}), RunOf("new", 2, "1111", {2, 1, 1, 1})};
  const ComparedSection section = SectionOf(runs, {1, 2});
  const SectionReport report = ReportSection(section);
  const size_t sampled = PlaceOf(report, "test/sampled");
  EXPECT_DOUBLE_EQ(report.quantities[0][sampled].mean->value, 3.0 / 8);
  EXPECT_DOUBLE_EQ(report.quantities[1][sampled].mean->value, 7.0 / 8);
  EXPECT_EQ(report.quantities[1][sampled].by_seed, (std::vector<std::optional<double>>{0.75, 1.0}));
  EXPECT_EQ(report.quantities[1][sampled].lowest, 0.75);
  const Difference& difference = report.differences[1][sampled];
  EXPECT_DOUBLE_EQ(difference.mean->value, 0.5);
  EXPECT_EQ(difference.by_seed, (std::vector<std::optional<double>>{0.5, 0.5}));
  EXPECT_EQ(difference.more, 2);
  EXPECT_EQ(difference.less, 0);
  EXPECT_GE(difference.mean->low, 0) << "no task got worse";
  EXPECT_LT(difference.mean->low, 0.5) << "one of them never differs";
  const Difference& calls = report.differences[1][PlaceOf(report, "calls")];
  EXPECT_DOUBLE_EQ(calls.mean->value, 0.25);
  EXPECT_TRUE(calls.NoEffectShown());
  EXPECT_EQ(report.gold_calls, 1.5);
  // 1.25 calls of which half stand for a gold call.
  EXPECT_DOUBLE_EQ(report.quantities[1][PlaceOf(report, "wasted_calls")].mean->value, 1.25 * 0.5);
  EXPECT_DOUBLE_EQ(report.quantities[0][PlaceOf(report, "family/one")].mean->value, 0.5);
  EXPECT_TRUE(report.differences[0].empty()) << "the baseline against itself";
  EXPECT_TRUE(report.warnings.empty());
}

TEST(Comparison, AnEffectOnEveryTaskOfEverySeedIsShown) {
  const auto runs_of = [](const std::vector<uint64_t>& seeds) {
    std::vector<ComparedRun> runs;
    for (const char* arm : {"base", "new"}) {
      const char* outcomes = std::string_view(arm) == "base" ? "0000" : "1111";
      for (const uint64_t seed : seeds) runs.push_back(RunOf(arm, seed, outcomes, {1, 1, 1, 1}));
    }
    return runs;
  };
  const std::vector<ComparedRun> runs = runs_of({1, 2, 3}), few = runs_of({1, 2});
  const SectionReport report = ReportSection(SectionOf(runs, {1, 2, 3}));
  const Difference& difference = report.differences[1][PlaceOf(report, "test/sampled")];
  EXPECT_EQ(difference.mean, (Interval{1, 1, 1}));
  EXPECT_FALSE(difference.NoEffectShown());
  EXPECT_TRUE(report.differences[1][PlaceOf(report, "calls")].NoEffectShown());
  // The same of two seeds is not.
  const SectionReport two = ReportSection(SectionOf(few, {1, 2}));
  EXPECT_TRUE(two.differences[1][PlaceOf(two, "test/sampled")].TooFewSeeds());
  EXPECT_TRUE(two.differences[1][PlaceOf(two, "test/sampled")].NoEffectShown());
}

TEST(Comparison, TasksThatOthersBrokeAreLeftOutOfBothSides) {
  const std::vector<ComparedRun> runs = {RunOf("base", 1, "-110", {9, 1, 1, 1}),
                                         RunOf("new", 1, "1-10", {1, 9, 1, 1})};
  const SectionReport report = ReportSection(SectionOf(runs, {1}));
  const size_t sampled = PlaceOf(report, "test/sampled");
  EXPECT_DOUBLE_EQ(report.quantities[0][sampled].mean->value, 2.0 / 3) << "its own tasks";
  EXPECT_DOUBLE_EQ(report.differences[1][sampled].mean->value, 0) << "the two that both have";
  EXPECT_DOUBLE_EQ(report.differences[1][PlaceOf(report, "calls")].mean->value, 0);
}

TEST(Comparison, RunsThatAreMissingAreSaidAndPairsAreOfSeedsThatBothHave) {
  const std::vector<ComparedRun> runs = {RunOf("base", 1, "1000", {1, 1, 1, 1}),
                                         RunOf("base", 2, "1111", {1, 1, 1, 1}),
                                         RunOf("new", 2, "1110", {1, 1, 1, 1})};
  const SectionReport report = ReportSection(SectionOf(runs, {1, 2}));
  const Difference& difference = report.differences[1][PlaceOf(report, "test/sampled")];
  EXPECT_DOUBLE_EQ(difference.mean->value, -0.25);
  EXPECT_EQ(difference.by_seed, (std::vector<std::optional<double>>{std::nullopt, -0.25}));
  ASSERT_EQ(report.warnings.size(), 1);
  EXPECT_EQ(report.warnings[0], "new: not finished (seed 1)");
}

TEST(Comparison, EvaluationsWithoutTasksAreOneValuePerSeed) {
  ComparedRun old = RunOf("base", 1, "10", {1, 1});
  old.evaluations = Json();
  old.evaluations.Set("after/test/sampled", Json::Of({{"all", Json::Of({{"success", 0.75}})}}));
  const std::vector<ComparedRun> runs = {old};
  const SectionReport report = ReportSection(SectionOf(runs, {1}));
  const Quantity& quantity = report.quantities[0][PlaceOf(report, "test/sampled")];
  EXPECT_DOUBLE_EQ(quantity.mean->value, 0.75);
  EXPECT_FALSE(quantity.has_interval);
  EXPECT_FALSE(report.quantities[0][PlaceOf(report, "test/greedy")].mean.has_value());
}

TEST(Comparison, GoalsAreReachedBetweenTwoLooksAndNeverIsNoNumber) {
  ComparedRun fast = RunOf("new", 1, "1", {1}), slow = RunOf("base", 1, "1", {1});
  fast.dev = {{100, 0.5, 0.6}, {200, 0.85, 0.9}, {300, 0.7, 0.9}};
  slow.dev = {{100, 0.5, 0.6}, {200, 0.7, 0.9}, {400, 0.8, 0.9}};
  ComparedRun fast2 = fast, never = slow;
  fast2.seed = never.seed = 2;
  never.dev.back().sampled = 0.79;
  const std::vector<ComparedRun> one = {slow, fast};
  const SectionReport report = ReportSection(SectionOf(one, {1}));
  EXPECT_DOUBLE_EQ(report.goals[1].median->value, 100 + 100 * 0.3 / 0.35);
  EXPECT_DOUBLE_EQ(*report.goals[1].ratio, (100 + 100 * 0.3 / 0.35) / 400);
  EXPECT_EQ(report.goals[1].race->a_first, 1);

  const std::vector<ComparedRun> two = {slow, never, fast, fast2};
  const SectionReport both = ReportSection(SectionOf(two, {1, 2}));
  EXPECT_TRUE(both.goals[0].median->later);
  EXPECT_EQ(both.goals[1].ratio, std::nullopt) << "of an unknown median";
  EXPECT_EQ(both.goals[1].race->a_first, 2);
  // Two arrivals at 186, then one of the others: 0.5 + 0.5 were expected of the new arm.
  EXPECT_DOUBLE_EQ(both.goals[1].log_rank->observed - both.goals[1].log_rank->expected, 1);
  EXPECT_DOUBLE_EQ(both.goals[1].log_rank->p, 0.5) << "two of the four ways of swapping";
  EXPECT_FALSE(both.goals[0].log_rank) << "the baseline against itself";
  EXPECT_EQ(ReachedOn(ComparedRun{}, 0.8), std::nullopt);
  // From the start on, where it is known; not where it was above the goal.
  ComparedRun soon = fast;
  soon.dev = {{100, 0.9, 0.9}};
  EXPECT_EQ(ReachedOn(soon, 0.8)->at, 100);
  const auto started = [&](double success) {
    soon.evaluations.Set("before/test/sampled",
                         Json::Of({{"all", Json::Of({{"success", success}})}}));
    return *ReachedOn(soon, 0.8)->at;
  };
  EXPECT_DOUBLE_EQ(started(0.4), 80);
  EXPECT_EQ(started(0.85), 100);
}

TEST(Comparison, DevOverTheRunIsAMeanOverTrajectoriesFromTheStartOn) {
  ComparedRun run = RunOf("base", 1, "1", {1});
  run.dev = {{100, 0.5, 0.6}, {300, 0.9, 0.9}};
  run.evaluations.Set("before/test/sampled", Json::Of({{"all", Json::Of({{"success", 0.25}})}}));
  ComparedRun finer = run;
  finer.dev = {{50, 0.375, 0.6}, {100, 0.5, 0.6}, {200, 0.7, 0.6}, {300, 0.9, 0.9}};
  for (const ComparedRun& one : {run, finer}) {
    const std::vector<ComparedRun> runs = {one};
    const SectionReport report = ReportSection(SectionOf(runs, {1}));
    const Quantity& mean = report.quantities[0][PlaceOf(report, "dev/mean")];
    EXPECT_NEAR(mean.mean->value, (100 * 0.375 + 200 * 0.7) / 300, 1e-12);
  }
}

TEST(Comparison, StartsThatShouldBeTheSameAreChecked) {
  ComparedRun a = RunOf("a", 1, "1", {1}), b = RunOf("b", 1, "1", {1}), c = RunOf("c", 1, "1", {1});
  a.start_key = b.start_key = "k";
  c.start_key = "another recipe's";
  a.start = b.start = "abc";
  c.start = "def";
  EXPECT_TRUE(CheckStarts(std::vector<ComparedRun>{a, b, c}).empty());
  b.start = "def";
  const std::vector<std::string> problems = CheckStarts(std::vector<ComparedRun>{a, b, c});
  ASSERT_EQ(problems.size(), 1);
  EXPECT_NE(problems[0].find("a and b of seed 1"), std::string::npos) << problems[0];
}

std::vector<ComparedRun> FiveSeeds() {
  std::vector<ComparedRun> runs;
  const char* outcomes[] = {"100010", "110010", "100110", "101010", "110011"};
  const char* better[] = {"111110", "110111", "111110", "101110", "111111"};
  for (const bool is_new : {false, true}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      runs.push_back(RunOf(is_new ? "new" : "base", seed, (is_new ? better : outcomes)[seed - 1],
                           {1, 1, 1, 1, 1, 1}));
      runs.back().start = "start " + std::to_string(seed);
    }
  }
  return runs;
}

TEST(Comparison, StartsOfTheirOwnChangeNoFigureAndSharedOnesCountOnce) {
  std::vector<ComparedRun> runs = FiveSeeds(), unknown = FiveSeeds(), shared = FiveSeeds();
  for (ComparedRun& run : unknown) run.start.clear();
  for (ComparedRun& run : shared) {
    if (run.seed > 2) run.start = "start 2";
  }
  const auto report_of = [](const std::vector<ComparedRun>& of, bool given = false) {
    ComparedSection section = SectionOf(of, {1, 2, 3, 4, 5});
    section.given_start = given;
    return ReportSection(section);
  };
  const SectionReport own = report_of(runs), without = report_of(unknown), two = report_of(shared);
  const size_t sampled = PlaceOf(own, "test/sampled");
  EXPECT_EQ(own.differences[1][sampled].mean, without.differences[1][sampled].mean);
  EXPECT_EQ(own.quantities[1][sampled].mean, without.quantities[1][sampled].mean);
  EXPECT_FALSE(own.differences[1][sampled].NoEffectShown());
  EXPECT_TRUE(own.warnings.empty());

  const Difference& difference = two.differences[1][sampled];
  EXPECT_EQ(difference.clusters, (Clusters{0, 1, 1, 1, 1}));
  EXPECT_DOUBLE_EQ(difference.mean->value, own.differences[1][sampled].mean->value);
  EXPECT_TRUE(difference.TooFewSeeds()) << "five seeds of two starts";
  EXPECT_FALSE(two.quantities[1][sampled].has_interval);
  ASSERT_EQ(two.warnings.size(), 2);
  EXPECT_EQ(
      two.warnings[0],
      "base: its 5 runs begin with 2 policies; runs that share one count as one in intervals");
  // Where the start is given and not drawn, seeds are the sample.
  const SectionReport given = report_of(shared, true);
  EXPECT_EQ(given.differences[1][sampled].mean, own.differences[1][sampled].mean);
  EXPECT_FALSE(given.differences[1][sampled].TooFewSeeds());
}

TEST(Comparison, ClustersAreJoinedByWayOfEitherArm) {
  using Starts = std::vector<std::vector<std::string>>;
  EXPECT_TRUE(ClustersByStart(Starts{{"a", "a"}, {"b", "b"}, {"", ""}, {"", ""}}).empty());
  EXPECT_EQ(ClustersByStart(Starts{{"a", "x"}, {"b", "y"}, {"c", "x"}, {"d", "e"}, {"f", "y"}}),
            (Clusters{0, 1, 0, 2, 1}));
  EXPECT_EQ(ClustersByStart(Starts{{"a", "x"}, {"b", "y"}, {"a", "y"}}), (Clusters{0, 0, 0}));
}

TEST(Comparison, JsonHasEverythingAndIsTheSameEveryTime) {
  const std::vector<ComparedRun> runs = {RunOf("base", 1, "1000", {1, 1, 1, 1}),
                                         RunOf("new", 1, "1110", {2, 1, 1, 1})};
  const ComparedSection section = SectionOf(runs, {1});
  const Json json = ToJson(section, ReportSection(section));
  EXPECT_EQ(DumpJson(json), DumpJson(ToJson(section, ReportSection(section))));
  const Json& arm = json.Find("arms")->AsArray()[1];
  EXPECT_EQ(arm.Find("differences")->Find("test/sampled")->Find("value")->AsDouble(), 0.5);
  EXPECT_EQ(arm.Find("quantities")->Find("trajectories")->Find("value")->AsDouble(), 100);
  EXPECT_EQ(ToJson(runs[0]).Find("status")->AsString(), "finished");
}

}  // namespace
}  // namespace hone
