#include "evaluate/compare/comparison_text.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

constexpr QuantityKind kSuccess{"test/sampled", "test, sampled"};

TEST(ComparisonText, TablesLineUpAndCellsCannotBreakThem) {
  EXPECT_EQ(MarkdownTable({{"arm", "é"}, {"a|b", "line\nbreak"}}),
            "| arm  | é          |\n"
            "|------|------------|\n"
            "| a\\|b | line break |\n");
}

TEST(ComparisonText, NumbersAreSpelledAsPeopleReadThem) {
  EXPECT_EQ(QuantityText(kSuccess, {Interval{0.918, 0.901, 0.932}, true}), "91.8 [90.1, 93.2]");
  EXPECT_EQ(QuantityText(kSuccess, {Interval{0.918, 0.918, 0.918}, false}), "91.8");
  EXPECT_EQ(QuantityText(kSuccess, {}), "-");
  const QuantityKind count{"trajectories", "trajectories", QuantityKind::Unit::kCount};
  EXPECT_EQ(QuantityText(count, {Interval{33280, 0, 0}, true}), "33.3 k");
  EXPECT_EQ(QuantityText(count, {Interval{1'234'567, 0, 0}, true}), "1.23 M");
  EXPECT_EQ(QuantityText(count, {Interval{0, 0, 0}, true}), "0");
}

TEST(ComparisonText, ADifferenceWithZeroInItsIntervalShowsNoEffect) {
  Difference difference{
      .mean = Interval{0.018, 0.003, 0.032}, .has_interval = true, .more = 4, .less = 1};
  EXPECT_EQ(DifferenceText(kSuccess, difference), "+1.8 [+0.3, +3.2]");
  EXPECT_EQ(SignText(difference), "4 more, 1 less");
  EXPECT_EQ(VerdictText(difference), "higher");
  difference.more = 1;
  EXPECT_EQ(VerdictText(difference), "too few seeds");
  difference.more = 4;
  difference.mean->low = 0;
  EXPECT_EQ(VerdictText(difference), "no effect shown");
  difference.mean = Interval{-0.0001, -0.01, -0.0001};
  EXPECT_EQ(DifferenceText(kSuccess, difference), "0.0 [-1.0, 0.0]") << "no minus nothing";
  difference.has_interval = false;
  EXPECT_EQ(VerdictText(difference), "no effect shown") << "without an interval";
}

TEST(ComparisonText, AMedianThatIsNotKnownIsNotWrittenAsANumber) {
  GoalTimes goal;
  EXPECT_EQ(GoalText(goal), "-");
  goal.median = MedianReached{.value = 38400, .later = true, .reached = 2, .runs = 5};
  EXPECT_EQ(GoalText(goal), "later than 38.4 k (2 of 5 reached it)");
  goal.median->later = false;
  EXPECT_EQ(GoalText(goal), "38.4 k");
}

TEST(ComparisonText, TheWholeReportNamesEveryRunAndWhatFailed) {
  ComparedRun good, bad;
  good.arm = bad.arm = "grpo";
  good.seed = 1;
  bad.seed = 2;
  good.status = ComparedRun::Status::kFinished;
  good.weights = "0123456789abcdef";
  good.evaluations.Set("after/test/sampled",
                       Json::Of({{"tasks", 2},
                                 {"all", Json::Of({{"success", 0.5}, {"calls_per_task", 1.0}})},
                                 {"outcomes", "10"},
                                 {"calls_by_task", Json::Array{1, 1}}}));
  bad.status = ComparedRun::Status::kFailed;
  bad.why = "no space is left";
  const std::vector<ComparedRun> runs = {good, bad};
  const ComparedSection section{.title = "Credit",
                                .question = "Does it help?",
                                .arms = {{.name = "grpo", .label = "GRPO", .runs = {&runs[0]}}},
                                .seeds = {1, 2}};
  const std::string text =
      ComparisonMarkdown({"Results", "Some words.", "hone compare x.toml"}, {section},
                         {ReportSection(section)}, runs, {"starts differ"});
  for (const char* part :
       {"# Results", "## Credit", "*Does it help?*", "    hone compare x.toml", "| GRPO",
        "50.0 [0.0, 100.0]", "failed: no space is left", "0123456789ab",
        "**Beware:** starts differ.", "GRPO: not finished (seed 2)", "Test: 2 tasks"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("0123456789abc"), std::string::npos) << "twelve digits";
}

}  // namespace
}  // namespace hone
