#include "rollout/practice_options.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

struct Read {
  PracticeOptions settings;
  std::string problems;
};
Read Of(std::string_view toml, bool training = true) {
  Recipe recipe = Recipe::Parse(toml, "test.toml").value();
  PracticeOptions settings = ReadPractice(recipe.Root().Table("rollout"), training);
  const Result<void> finished = recipe.Finish();
  return {std::move(settings), finished.ok() ? "" : finished.error().message()};
}

TEST(RolloutSettingsTest, WithoutATableEverythingIsAsUsual) {
  const Read read = Of("");
  EXPECT_EQ(read.problems, "");
  EXPECT_EQ(read.settings.strategy->traits().name, "chains");
  EXPECT_EQ(read.settings.options.max_live, 256);
  EXPECT_EQ(read.settings.policy.sampling, (Sampling{.forbidden_set = 1}));
}

TEST(RolloutSettingsTest, AStrategyHasATableOfItsOwn) {
  const Read read = Of(R"(
[rollout]
strategy = "tree-grpo"
live = 8
temperature = 0.7
top_k = 50
top_p = 0.9
forbid_markers = false
[rollout.tree-grpo]
trees = 3
expansions = 0
)");
  EXPECT_EQ(read.problems, "");
  EXPECT_EQ(read.settings.strategy->Next({.leaves = 9, .places = {{}}}),
            std::vector<Extension>({{0, 3}}));
  EXPECT_EQ(read.settings.options.max_live, 8);
  EXPECT_EQ(read.settings.policy.sampling,
            (Sampling{.temperature = 0.7f, .top_k = 50, .top_p = 0.9f}));
  for (const RegisteredStrategy& known : BuiltInStrategies()) {
    const Read one = Of("[rollout]\nstrategy = \"" + known.name + "\"\n");
    EXPECT_EQ(one.problems, "");
    EXPECT_EQ(one.settings.strategy->traits().name, known.name);
  }
}

TEST(RolloutSettingsTest, ThoughtsHaveLimitsWhereTheyAreSet) {
  EXPECT_FALSE(Of("").settings.policy.thoughts.any());
  const Read read = Of("[rollout]\nthought_tokens = 64\nthought_repeats = 3\n");
  EXPECT_EQ(read.problems, "");
  EXPECT_EQ(read.settings.policy.thoughts, (ThoughtLimits{.tokens = 64, .repeats = 3}));
  EXPECT_NE(Of("[rollout]\nthought_tokens = 256\n").problems.find("thought_tokens: must be less"),
            std::string::npos);
  EXPECT_NE(Of("[rollout]\nthought_repeats = 1\n").problems.find("must be 0 or at least 2"),
            std::string::npos);
}

TEST(RolloutSettingsTest, ProblemsAreReportedAllAtOnce) {
  const Read read = Of(R"(
[rollout]
strategy = "arpo"
live = 0
top_p = 0.9
tempurature = 1.0
[rollout.arpo]
beam = 0
)");
  for (const char* key : {"live", "top_k", "tempurature", "beam"}) {
    EXPECT_NE(read.problems.find(key), std::string::npos) << key << " in " << read.problems;
  }
  EXPECT_NE(Of("[rollout]\ntemperature = 0.0\n").problems, "");
  EXPECT_EQ(Of("[rollout]\ntemperature = 0.0\n", false).problems, "");
  EXPECT_NE(Of("[rollout]\nstrategy = \"chian\"\n").problems, "");
}

}  // namespace
}  // namespace hone
