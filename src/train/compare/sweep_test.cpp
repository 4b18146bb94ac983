#include "train/compare/sweep.h"

#include <gtest/gtest.h>

#include <set>

namespace hone {
namespace {

using Texts = std::vector<std::string>;

SweptKey Key(const std::string& text) {
  const auto parsed = ParseSweptKey(text);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message());
  return parsed.ok() ? *parsed : SweptKey();
}
std::string KeyError(const std::string& text) {
  const auto parsed = ParseSweptKey(text);
  return parsed.ok() ? "" : parsed.error().message();
}

TEST(SweepTest, KeysHaveListsOrRanges) {
  EXPECT_EQ(Key("stage.1.learning_rate=1e-4,3e-4").values, (Texts{"1e-4", "3e-4"}));
  EXPECT_EQ(Key("stage.1.learning_rate=1e-4").key, "stage.1.learning_rate");
  EXPECT_EQ(Key(R"(terms=["a", "b"],["c"],"x,y")").values,
            (Texts{R"(["a", "b"])", R"(["c"])", R"("x,y")"}));
  EXPECT_EQ(Key("file=\"../a\"").values, Texts{"\"../a\""}) << "dots in a text are no range";
  const SweptKey range = Key("x=1e-5..1e-3:log");
  EXPECT_TRUE(range.values.empty() && range.logarithmic && !range.whole);
  EXPECT_DOUBLE_EQ(range.low, 1e-5);
  EXPECT_DOUBLE_EQ(range.high, 1e-3);
  EXPECT_TRUE(Key("x=4..16").whole);
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"x", "there is no KEY="},
           {"x=1,,2", "a value is missing"},
           {"x=1,2,1", "1 is there twice"},
           {"x=a..b", "the ends of a range are numbers"},
           {"x=3..2", "from the smaller number"},
           {"x=0..1:log", "above 0"}}) {
    EXPECT_NE(KeyError(text).find("--try " + text + ": "), std::string::npos) << KeyError(text);
    EXPECT_NE(KeyError(text).find(why), std::string::npos) << KeyError(text);
  }
}

TEST(SweepTest, AGridIsEveryCombinationAsAnArm) {
  const auto sweep = MakeSweep({.recipe = "r.toml",
                                .keys = {Key("stage.1.learning_rate=1e-4,3e-4"), Key("group=4,8")},
                                .set = {"run.threads=1"},
                                .seeds = 2,
                                .seed_from = 5});
  ASSERT_TRUE(sweep.ok());
  ASSERT_EQ(sweep->arms.size(), 4u);
  EXPECT_EQ(sweep->arms[1].changes,
            (Texts{"run.threads=1", "stage.1.learning_rate=1e-4", "group=8"}));
  EXPECT_EQ(sweep->arms[1].label, "learning_rate=1e-4, group=8");
  EXPECT_EQ(sweep->arms[1].name, "learning_rate_1e-4-group_8");
  EXPECT_EQ(sweep->sections.at(0).seeds, (std::vector<uint64_t>{5, 6}));
  EXPECT_EQ(sweep->sections[0].arms.size(), 4u);
}

TEST(SweepTest, SettingsAreDrawnAlikeEveryTimeAndDiffer) {
  const SweepRequest request{.recipe = "r.toml",
                             .keys = {Key("a.x=1e-5..1e-3:log"), Key("b.x=2..9"), Key("c=u,v")},
                             .random = 20};
  const auto sweep = MakeSweep(request);
  ASSERT_TRUE(sweep.ok());
  ASSERT_EQ(sweep->arms.size(), 20u);
  EXPECT_EQ(MakeSweep(request)->arms, sweep->arms);
  std::set<std::string> names;
  int small = 0;
  for (const ComparisonArm& arm : sweep->arms) {
    names.insert(arm.name);
    const double value = std::stod(arm.changes[0].substr(4));
    EXPECT_TRUE(value >= 1e-5 && value <= 1e-3) << arm.changes[0];
    small += value < 1e-4;
    const int whole = std::stoi(arm.changes[1].substr(4));
    EXPECT_TRUE(whole >= 2 && whole <= 9) << arm.changes[1];
    EXPECT_TRUE(arm.name.starts_with("a.x_")) << "keys that end alike are told whole: " << arm.name;
  }
  EXPECT_EQ(names.size(), 20u);
  EXPECT_TRUE(small > 3 && small < 17) << "half of them below the middle by size: " << small;
  SweepRequest other = request;
  other.draw_seed = 2;
  EXPECT_NE(MakeSweep(other)->arms, sweep->arms);
}

TEST(SweepTest, MoreThanThereAreCannotBeDrawn) {
  EXPECT_EQ(MakeSweep({.keys = {Key("a=1,2,3")}, .random = 10})->arms.size(), 3u);
}

TEST(SweepTest, ABudgetLeavesSomeOfTheGrid) {
  const SweepRequest request{
      .keys = {Key("a=1,2,3,4,5,6"), Key("b=1,2")}, .seeds = 3, .most_runs = 10};
  EXPECT_EQ(MakeSweep(request)->arms.size(), 3u);
  SweepRequest small = request;
  small.most_runs = 2;
  EXPECT_NE(MakeSweep(small).error().message().find("does not allow one setting with 3 seeds"),
            std::string::npos);
  EXPECT_NE(MakeSweep({.keys = {Key("a=1..2")}}).error().message().find("--random N"),
            std::string::npos);
  EXPECT_FALSE(MakeSweep({}).ok());
}

TEST(SweepTest, SettingsAreRankedByDevAndUnfinishedOnesComeLast) {
  const SweepRequest request{.keys = {Key("a=1,2,3")}, .seeds = 2};
  const auto sweep = MakeSweep(request);
  ASSERT_TRUE(sweep.ok());
  std::vector<ComparedRun> runs;
  const auto add = [&](size_t arm, uint64_t seed, std::optional<double> dev) {
    ComparedRun run;
    run.arm = sweep->arms[arm].name;
    run.seed = seed;
    run.status = dev ? ComparedRun::Status::kFinished : ComparedRun::Status::kFailed;
    if (dev) run.dev.push_back({100, *dev, *dev});
    runs.push_back(std::move(run));
  };
  add(0, 1, 0.5);
  add(0, 2, 0.6);
  add(1, 1, 0.9);
  add(1, 2, 0.7);
  add(2, 1, 1.0);
  add(2, 2, std::nullopt);
  const auto ranked = RankSettings(*sweep, runs);
  EXPECT_EQ(ranked[0].arm, 1u);
  EXPECT_NEAR(ranked[0].mean.value(), 0.8, 1e-12);
  EXPECT_EQ(ranked[1].arm, 0u);
  EXPECT_EQ(ranked[2].arm, 2u) << "one seed of two is not enough to be the best";
  const ReportTable table = RankTable(request, *sweep, ranked);
  EXPECT_EQ(table.rows[0], (Texts{"rank", "a", "dev at the end, %", "least to most",
                                  "test at the end, %", "runs finished"}));
  EXPECT_EQ(table.rows[1], (Texts{"1", "2", "80.0", "70.0 to 90.0", "-", "2 of 2"}));
  EXPECT_EQ(table.rows[3], (Texts{"-", "3", "-", "100.0 to 100.0", "-", "1 of 2"}));
}

}  // namespace
}  // namespace hone
