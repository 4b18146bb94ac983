#include "train/compare/tuning.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

class TuningTest : public testing::Test {
 protected:
  TuningTest() {
    EXPECT_TRUE(WriteFileAtomic(directory_.path() / "a.toml", TinyRecipe("runs")).ok());
  }

  Result<ComparisonFile> Read(const std::string& text, const ComparisonRequest& request = {}) {
    const std::filesystem::path file = directory_.path() / "all.toml";
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    ComparisonRequest asked = request;
    asked.files = {file.string()};
    return ReadComparison(asked);
  }
  // Finished runs of all settings, with this success on dev by place of the setting and seed.
  static std::vector<ComparedRun> Runs(const ComparisonFile& comparison,
                                       const std::vector<std::vector<double>>& dev) {
    const ComparisonFile tuning = TuningOf(comparison);
    std::vector<ComparedRun> runs;
    for (size_t arm = 0; arm < dev.size(); ++arm) {
      for (size_t i = 0; i < dev[arm].size(); ++i) {
        ComparedRun& run = runs.emplace_back();
        run.arm = tuning.arms[arm].name;
        run.seed = tuning.sections[0].seeds[i];
        run.status = ComparedRun::Status::kFinished;
        run.dev = {{100, dev[arm][i], 0}};
      }
    }
    return runs;
  }

  const TemporaryDirectory directory_;
};

constexpr char kGrid[] = R"(tuning_seeds = [101, 102]
[[arm]]
recipe = "a.toml"
grid = { "stage.1.learning_rate" = [1e-4, 3e-4, 1e-3] }
[[arm]]
name = "b"
recipe = "a.toml"
)";

TEST_F(TuningTest, EverySettingIsTriedWithTheTuningSeedsAndNeverMeasuresTest) {
  const auto comparison = Read(kGrid);
  ASSERT_TRUE(comparison.ok()) << comparison.error().message();
  const auto waiting = PlanRuns(*comparison, "out");
  ASSERT_TRUE(waiting.ok()) << waiting.error().message();
  EXPECT_EQ(waiting->size(), 1u) << "an arm without a setting has no runs yet";
  const ComparisonFile tuning = TuningOf(*comparison);
  ASSERT_EQ(tuning.arms.size(), 3u);
  const auto runs = PlanRuns(tuning, "out");
  ASSERT_TRUE(runs.ok()) << runs.error().message();
  ASSERT_EQ(runs->size(), 6u);
  for (const PlannedRun& run : *runs) {
    EXPECT_TRUE(run.seed == 101 || run.seed == 102);
    EXPECT_EQ(run.recipe.evaluation.test_tasks, 0);
    EXPECT_TRUE(run.recipe.evaluation.more.empty());
    EXPECT_EQ(run.recipe.evaluation.every, 2) << "dev is";
  }
  EXPECT_EQ(tuning.arms[1].name, "a.tune-stage.1.learning_rate_0.0003");
}

TEST_F(TuningTest, GridsAreAllCombinationsTheLastKeyFastest) {
  const auto comparison = Read(R"(tuning_seeds = [101]
[[section]]
[[section.arm]]
recipe = "a.toml"
grid = { "stage.1.learning_rate" = [1e-4, 1e-3], "credit.method" = ["grpo", "rloo"] }
)");
  ASSERT_TRUE(comparison.ok()) << comparison.error().message();
  const auto& grid = comparison->arms[0].grid;
  ASSERT_EQ(grid.size(), 4u);
  EXPECT_EQ(grid[1],
            (std::vector<std::string>{"stage.1.learning_rate=0.0001", "credit.method=\"rloo\""}));
  EXPECT_EQ(grid[2][0], "stage.1.learning_rate=0.001");
  ASSERT_TRUE(PlanRuns(TuningOf(*comparison), "out").ok());
}

TEST_F(TuningTest, ChosenIsTheMostSuccessOnDevAndTheFirstOfEqualOnes) {
  const ComparisonFile comparison = Read(kGrid).value();
  const auto tuned =
      ChooseSettings(comparison, Runs(comparison, {{0.2, 0.4}, {0.5, 0.3}, {0.4, 0.4}}));
  ASSERT_EQ(tuned.size(), 1u);
  EXPECT_EQ(tuned[0].chosen, 1u) << "0.4 twice: the first";
  const ComparisonFile settled = WithChosen(comparison, tuned);
  EXPECT_EQ(settled.arms[0].changes.back(), "stage.1.learning_rate=0.0003");
  const auto runs = PlanRuns(settled, "out");
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[0].recipe.evaluation.test_tasks, 4) << "the real ones measure test";
  EXPECT_EQ((*runs)[0].seed, 1u);
  const ReportTable table = TuningTable(settled, tuned);
  ASSERT_EQ(table.rows.size(), 7u) << "every run";
  EXPECT_EQ(table.rows[3], (std::vector<std::string>{"a", "stage.1.learning_rate=0.0003", "101",
                                                     "finished", "50.0", "40.0", "yes"}));
  EXPECT_EQ(table.rows[5].back(), "no");
  EXPECT_EQ(TuningNotes(settled, settled.sections[0], tuned),
            std::vector<std::string>{"arms were not tuned alike; settings tried: a 3, b 1"});
}

TEST_F(TuningTest, TheEndOrTheWholeRunDecides) {
  ComparisonFile comparison = Read(kGrid).value();
  std::vector<ComparedRun> runs = Runs(comparison, {{0.5, 0.5}, {0.5, 0.5}, {0.1, 0.1}});
  for (ComparedRun& run : runs) {
    // The last setting begins low and ends high.
    const bool last = run.dev[0].sampled == 0.1;
    run.dev.push_back({200, last ? 0.6 : 0.5, 0});
  }
  EXPECT_EQ(ChooseSettings(comparison, runs)[0].chosen, 0u);
  comparison.choose = "dev/end";
  EXPECT_EQ(ChooseSettings(comparison, runs)[0].chosen, 2u);
  EXPECT_EQ(Read(std::string("choose = \"dev/end\"\n") + kGrid)->choose, "dev/end");
  EXPECT_FALSE(Read(std::string("choose = \"test\"\n") + kGrid).ok());
}

TEST_F(TuningTest, NothingIsChosenWhileRunsAreMissingAndFailedSettingsAreNotTaken) {
  const ComparisonFile comparison = Read(kGrid).value();
  std::vector<ComparedRun> runs = Runs(comparison, {{0.2, 0.4}, {0.5, 0.3}, {0.9, 0.9}});
  runs.back().status = ComparedRun::Status::kFailed;
  EXPECT_EQ(ChooseSettings(comparison, runs)[0].chosen, 1u);
  runs.pop_back();
  const auto tuned = ChooseSettings(comparison, runs);
  EXPECT_FALSE(tuned[0].chosen);
  EXPECT_EQ(tuned[0].why, "1 of 6 tuning runs are missing");
  const ComparisonFile settled = WithChosen(comparison, tuned);
  EXPECT_EQ(PlanRuns(settled, "out")->size(), 1u);
  EXPECT_EQ(TuningNotes(settled, settled.sections[0], tuned)[0],
            "a: no setting is chosen: 1 of 6 tuning runs are missing");
  EXPECT_EQ(TuningJson(settled, tuned).AsArray()[0].Find("settings")->AsArray().size(), 3u);
  EXPECT_TRUE(TuningTable(comparison, {}).rows.empty());
}

TEST_F(TuningTest, SeedsThatOverlapAndGridsThatAreNoneAreRefused) {
  const auto says = [&](const std::string& text, const ComparisonRequest& request = {}) {
    const auto read = Read(text, request);
    return read.ok() ? std::string("nothing") : read.error().message();
  };
  const std::string overlap = says(kGrid, {.seeds = 3, .seed_from = 100});
  EXPECT_NE(overlap.find("seed 101 is in tuning_seeds (101, 102) and in seeds (100, 101, 102)"),
            std::string::npos)
      << overlap;
  const std::string arm = "[[arm]]\nrecipe = \"a.toml\"\n";
  EXPECT_NE(says(arm + "grid = { \"stage.1.steps\" = [1, 2] }\n").find("\"a\" has a grid"),
            std::string::npos);
  const std::string seeds = "tuning_seeds = [9]\n" + arm;
  EXPECT_NE(says(seeds + "grid = [1]\n").find("grid: wants {"), std::string::npos);
  EXPECT_NE(says(seeds + "grid = { a = 1 }\n").find("a: wants an array"), std::string::npos);
  EXPECT_NE(says("tuning_seeds = [1.5]\n" + arm).find("1.5 is no seed"), std::string::npos);
}

TEST_F(TuningTest, AnArmThatIsLikeAnotherTakesWhatIsChosenForIt) {
  const std::string like =
      "[[arm]]\nname = \"c\"\nrecipe = \"a.toml\"\nlike = \"a\"\nset = [\"alarms.mode=off\"]\n";
  const auto comparison = Read(kGrid + like);
  ASSERT_TRUE(comparison.ok()) << comparison.error().message();
  EXPECT_EQ(PlanRuns(*comparison, "out")->size(), 1u) << "neither a nor c is settled";
  EXPECT_EQ(TuningOf(*comparison).arms.size(), 3u) << "nothing is tried for c";
  const auto runs = Runs(*comparison, {{0.1, 0.1}, {0.5, 0.5}, {0.2, 0.2}});
  const ComparisonFile chosen = WithChosen(*comparison, ChooseSettings(*comparison, runs));
  EXPECT_EQ(chosen.arms[0].changes.back(), chosen.arms[2].changes.front());
  EXPECT_NE(chosen.arms[2].changes.front().find("learning_rate"), std::string::npos);
  EXPECT_EQ(chosen.arms[2].changes.back(), "alarms.mode=off") << "what it says itself holds";
  EXPECT_EQ(PlanRuns(chosen, "out")->size(), 3u);
  EXPECT_EQ(PlanRuns(WithFirstSettings(*comparison), "out")->size(), 3u);
  const auto nobody =
      Read(kGrid + std::string("[[arm]]\nname = \"c\"\nrecipe = \"a.toml\"\nlike = \"b\"\n"));
  ASSERT_FALSE(nobody.ok());
  EXPECT_NE(nobody.error().message().find("with a grid before this one"), std::string::npos);
}

}  // namespace
}  // namespace hone
