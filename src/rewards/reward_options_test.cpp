#include "rewards/reward_options.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Result<RewardOptions> Read(const char* json) {
  return RewardOptionsFromJson(*ParseJson(json), "reward");
}

std::string ProblemOf(const char* json) {
  const auto options = Read(json);
  return options.ok() ? "" : options.error().message();
}

// The same part as a recipe and as JSON.
constexpr const char* kAll = R"(
terms = ["outcome", "call"]
preset = "desk"
gate = {term = "outcome", at_least = 0.5}
flip = {share = 0.25, terms = ["call"], seed = 7}
schedule = {from = 2, to = 0.5, begin = 3, steps = 10, shape = "cosine"}
)";
constexpr const char* kAllAsJson =
    R"({"preset": "desk", "terms": ["outcome", "call"], "gate": {"term": "outcome", "at_least": 0.5},
        "flip": {"share": 0.25, "terms": ["call"], "seed": 7},
        "weight": {"from": 2.0, "to": 0.5, "begin": 3, "steps": 10, "shape": "cosine"}})";

TEST(RewardOptions, ARecipeAndJsonSayTheSame) {
  Recipe recipe = Recipe::Parse(kAll, "r.toml").value();
  RecipeTable root = recipe.Root();
  const RewardOptions read = ReadRewardPart(&root);
  ASSERT_TRUE(recipe.Finish().ok());
  EXPECT_EQ(ToJson(read), *ParseJson(kAllAsJson));
  EXPECT_EQ(ToJson(Read(kAllAsJson).value()), ToJson(read));
}

TEST(RewardOptions, EverySourceSurvivesBeingWritten) {
  for (const char* json :
       {R"({"preset": "outcome"})", R"({"preset": "outcome", "weight": 0.5})",
        R"({"command": ["true", "x"], "term": "mine", "deadline_ms": 5, "processes": 3})",
        R"({"costs": {"per_call": 0.5, "per_token": 0.0, "per_second": 0.0, "money": 0.0,
            "over_budget": 1.0}})",
        R"({"thoughts": {"most": 96, "buffer": 32, "overlong": 0.5, "shorter": 0.25}})",
        R"({"sum": [{"preset": "outcome"}, {"preset": "tapo", "weight": 2.0}], "terms": ["x"]})"}) {
    EXPECT_EQ(ToJson(Read(json).value()), *ParseJson(json));
  }
  EXPECT_EQ(ToJson(Read("\"outcome\"").value()), *ParseJson(R"({"preset": "outcome"})"));
}

TEST(RewardOptions, MistakesInJsonAreNamedWithTheirPlace) {
  EXPECT_EQ(ProblemOf(R"({"costs": {"per_call": -1}})"),
            "reward.costs.per_call: must be at least 0");
  EXPECT_EQ(ProblemOf(R"({"thoughts": {"most": 9, "buffer": 10}})"),
            "reward.thoughts.buffer: must be from 1 to most");
  EXPECT_NE(ProblemOf(R"({"thoughts": {}})").find("reward.thoughts.most: or shorter"),
            std::string::npos);
  EXPECT_NE(ProblemOf(R"({"costs": {"per_cal": 1}})").find("per_call"), std::string::npos);
  EXPECT_EQ(ProblemOf(R"({"sum": ["outcome", {"preset": "x", "flip": {"share": 2}}]})"),
            "reward.sum[1].flip.share: must be from 0 to 1");
  EXPECT_NE(ProblemOf(R"({"preset": "x", "gate": {"at_least": 1}})").find("reward.gate.term"),
            std::string::npos);
}

TEST(RewardOptions, AWeightIsANumberOrASchedule) {
  EXPECT_EQ(ScheduleFromJson(0.5, "weight")->At(77), 0.5);
  EXPECT_EQ(ScheduleFromJson(*ParseJson(R"({"from": 1, "to": 0, "steps": 10})"), "weight")->At(5),
            0.5);
  for (const char* bad : {"\"x\"", "{}", R"({"from": 1, "to": 0, "steps": -1})",
                          R"({"from": 1, "to": 0, "steps": 1, "shape": "round"})",
                          R"({"from": 1, "to": 0, "steps": 1, "begn": 1})"}) {
    EXPECT_FALSE(ScheduleFromJson(*ParseJson(bad), "weight").ok()) << bad;
  }
}

TEST(RewardOptions, TheDefaultRewardsPaysAreKeys) {
  Recipe recipe = Recipe::Parse(R"(
preset = "default"
components = {outcome = [8, 1], which = [2, 0.25], weights = ["outcome=0.5", "when=2"]}
)",
                                "r.toml")
                      .value();
  RecipeTable root = recipe.Root();
  const RewardOptions read = ReadRewardPart(&root);
  ASSERT_TRUE(recipe.Finish().ok());
  ComponentPays wanted;
  wanted.outcome = {8, 1};
  wanted.which = {2, 0.25};
  wanted.weights = {{"outcome", 0.5}, {"when", 2}};
  EXPECT_EQ(read.components, wanted);
  EXPECT_EQ(RewardOptionsFromJson(ToJson(read), "reward")->components, wanted);
  EXPECT_EQ(ProblemOf(R"({"preset": "default", "components": {}})"), "");
}

TEST(RewardOptions, PaysThatCannotBeAreRefused) {
  const std::pair<const char*, const char*> problems[] = {
      {R"({"preset": "desk", "components": {"outcome": [1, 0]}})", "only the preset"},
      {R"({"preset": "default", "components": {"outcome": [1]}})", "two numbers from 0 on"},
      {R"({"preset": "default", "components": {"outcome": [1, -1]}})", "two numbers from 0 on"},
      {R"({"preset": "default", "components": {"outcomes": [1, 1]}})", "outcomes"},
      {R"({"preset": "default", "components": {"weights": ["preference=2"]}})", "preference"},
      {R"({"preset": "default", "components": {"weights": ["which=x"]}})", "component=weight"},
      {R"({"preset": "default", "components": {"weights": ["which"]}})", "component=weight"},
      {R"({"preset": "default", "components": {"weights": ["which=1", "which=2"]}})", "once"},
  };
  for (const auto& [json, wanted] : problems) {
    EXPECT_NE(ProblemOf(json).find(wanted), std::string::npos) << json << ": " << ProblemOf(json);
  }
}

}  // namespace
}  // namespace hone
