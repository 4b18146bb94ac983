#include "train/compare/outcome_arm.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

class OutcomeArmTest : public testing::Test {
 protected:
  OutcomeArmTest() {
    EXPECT_TRUE(WriteFileAtomic(directory_.path() / "a.toml", TinyRecipe("runs")).ok());
  }

  ComparisonFile Read(const std::string& text) {
    const std::filesystem::path file = directory_.path() / "all.toml";
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    const auto read = ReadComparison({.files = {file.string()}});
    EXPECT_TRUE(read.ok()) << read.error().message();
    return WithOutcomeArms(read.value());
  }

  const TemporaryDirectory directory_;
};

constexpr char kPaid[] = R"([[arm]]
recipe = "a.toml"
[[arm]]
name = "b"
recipe = "a.toml"
set = ["credit.method=smeared"]
)";

TEST_F(OutcomeArmTest, AFileThatDoesNotAskForItGetsANoteAndNoRun) {
  const ComparisonFile comparison = Read(kPaid);
  EXPECT_EQ(comparison.arms.size(), 2u);
  ASSERT_EQ(comparison.sections[0].notes.size(), 1u);
  EXPECT_NE(comparison.sections[0].notes[0].find("no arm here is paid for the outcome alone"),
            std::string::npos);
}

TEST_F(OutcomeArmTest, AFairFileGetsTheArm) {
  const ComparisonFile comparison = Read(std::string("fair = true\n") + kPaid);
  EXPECT_TRUE(comparison.sections[0].notes.empty());
  ASSERT_EQ(comparison.arms.size(), 3u);
  EXPECT_EQ(comparison.arms[2].name, "outcome-only-a");
  EXPECT_EQ(comparison.sections[0].arms, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(comparison.sections[0].baseline, 0u);
  const PlannedRun run = PlanRun(comparison, 2, 1, "").value();
  EXPECT_EQ(run.recipe.credit, "grpo");
  EXPECT_NE(DumpJson(run.recipe.rewards).find("\"terms\":[\"outcome\"]"), std::string::npos);
  EXPECT_EQ(run.start_key, PlanRun(comparison, 0, 1, "")->start_key) << "begins alike";
  const ComparisonFile without =
      Read(std::string("fair = true\noutcome_control = false\n") + kPaid);
  EXPECT_EQ(without.arms.size(), 2u);
}

TEST_F(OutcomeArmTest, WhereOneIsThereOrNobodyIsPaidNothingIsAdded) {
  for (const char* change : {"credit.method=grpo", "rewards.terms=['outcome']"}) {
    const ComparisonFile there =
        Read(std::string("fair = true\n") + kPaid + "[[arm]]\nname = \"c\"\nrecipe = \"a.toml\"\n" +
             "set = [\"credit.method=grpo\", \"" + change + "\"]\n");
    EXPECT_EQ(there.arms.size(), 3u);
    EXPECT_TRUE(there.sections[0].notes.empty());
  }
  const ComparisonFile imitates = Read(
      "fair = true\n[[arm]]\nrecipe = \"a.toml\"\nset = [\"stage=[{kind='sft', steps=5}]\"]\n");
  EXPECT_EQ(imitates.arms.size(), 1u);
  EXPECT_TRUE(imitates.sections[0].notes.empty());
}

TEST_F(OutcomeArmTest, ItIsTunedLikeTheArmItIsMadeFrom) {
  const ComparisonFile comparison = Read(R"(fair = true
tuning_seeds = [101]
[[arm]]
recipe = "a.toml"
grid = { "stage.1.learning_rate" = [1e-4, 1e-3], "credit.method" = ["toolpo", "smeared"] }
)");
  ASSERT_EQ(comparison.arms.size(), 2u);
  EXPECT_EQ(comparison.arms[1].grid,
            (std::vector<std::vector<std::string>>{{"stage.1.learning_rate=0.0001"},
                                                   {"stage.1.learning_rate=0.001"}}));
}

}  // namespace
}  // namespace hone
