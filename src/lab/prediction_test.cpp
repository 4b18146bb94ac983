#include "lab/prediction.h"

#include <cmath>

#include <gtest/gtest.h>

namespace hone::lab {
namespace {

const std::vector<std::string> kMethods = {"smeared:norm=mean_std",
                                           "toolpo-per-call:norm=mean_std"};

TEST(Prediction, AChainOfASkillHasTheProbabilitiesThatItSays) {
  for (const int length : {1, 2, 4}) {
    const DecisionProcess process = ChainAt(length, 0.7, 0.9, 0.8);
    double all = 0, success = 0;
    for (const Path& path : process.paths) {
      all += path.probability;
      success += path.probability * path.outcome;
    }
    EXPECT_NEAR(all, 1, 1e-12);
    EXPECT_NEAR(success, std::pow(0.7, length) * 0.9, 1e-12);
    EXPECT_NEAR(process.policy[0][static_cast<size_t>(Choice::kWrongCall)], 0.3 * 0.8, 1e-12);
  }
}

TEST(Prediction, TheSkillOfAnImitatorFollowsFromTheTeacher) {
  EXPECT_EQ(SkillOf(0), 1);
  EXPECT_NEAR(SkillOf(0.5), (0.5 + 0.5 * 0.44) * 0.95, 1e-12);
  // What is not right is early (0.05) or a wrong call after which nothing is mended.
  EXPECT_NEAR(WrongShareOf(0.5), 0.95 * 0.28 / (0.05 + 0.95 * 0.28), 1e-12);
  EXPECT_NEAR((1 - SkillOf(0.5)) * (1 - WrongShareOf(0.5)), 0.05, 1e-12);
}

TEST(Prediction, AllLengthsBeginWithAboutTheSameSuccess) {
  for (const auto& [length, teacher_error] : ProvenChains()) {
    EXPECT_NEAR(std::pow(SkillOf(teacher_error), length), 0.46, 0.06) << length;
  }
}

TEST(Prediction, TheWayEndsWhereTheGoalIs) {
  const auto chains = PredictChains({{1, 0.8}, {2, 0.5}}, kMethods, {.points = 3}).value();
  ASSERT_EQ(chains.size(), 2u);
  EXPECT_NEAR(std::pow(chains[1].skills.back(), 2) * 0.95, 0.8, 1e-12);
  EXPECT_NEAR(chains[1].skills.front(), SkillOf(0.5), 1e-12);
  EXPECT_NEAR(chains[1].start, std::pow(SkillOf(0.5), 2) * 0.95, 1e-12);
  EXPECT_EQ(chains[1].methods[0].noise.size(), 3u);
}

TEST(Prediction, LongerChainsAreNoisierForEveryMethod) {
  const auto chains =
      PredictChains({{1, 0.5}, {2, 0.5}, {4, 0.5}}, kMethods, {.points = 3}).value();
  for (size_t method = 0; method < kMethods.size(); ++method) {
    for (size_t i = 1; i < chains.size(); ++i) {
      EXPECT_GT(chains[i].methods[method].noise[0], chains[i - 1].methods[method].noise[0])
          << kMethods[method] << " at " << chains[i].length;
    }
  }
}

// A method against itself takes as long; one that goes down the gradient never arrives.
TEST(Prediction, RatiosAreOfWhatTheMethodsTake) {
  const std::vector<std::string> twice = {"grpo", "grpo", "placebo"};
  const auto chains = PredictChains({{8, 0.15}}, twice, {.points = 2}).value();
  EXPECT_EQ(chains[0].Ratio(0, 1), 1);
  EXPECT_GT(chains[0].Ratio(2, 1), 1);
}

TEST(Prediction, IsReadAsItWasWritten) {
  const PredictionOptions options{.points = 2};
  const auto chains = PredictChains({{1, 0.8}, {2, 0.5}}, kMethods, options).value();
  const auto again = PredictionsFromJson(*ParseJson(DumpJson(ToJson(chains, options)))).value();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[1].teacher_error, 0.5);
  EXPECT_EQ(again[1].Ratio(0, 1), chains[1].Ratio(0, 1));
  EXPECT_EQ(again[1].RootRatio(0, 1), chains[1].RootRatio(0, 1));
  EXPECT_EQ(DumpJson(ToJson(again, options)), DumpJson(ToJson(chains, options)));
  EXPECT_FALSE(PredictionsFromJson(*ParseJson("{}")).ok());
  EXPECT_FALSE(PredictionsFromJson(*ParseJson(R"({"goal":0.8,"chains":[{"length":1}]})")).ok());
  Json no_goal = ToJson(chains, options);
  no_goal.Set("goal", Json());
  EXPECT_FALSE(PredictionsFromJson(no_goal).ok());
  const auto twice = PredictionsFromJson(ToJson({chains[0], chains[0]}, options));
  EXPECT_NE(twice.error().message().find("length 1 once"), std::string::npos);
  Json broken = ToJson(chains, options);
  broken.Set(
      "chains",
      Json::ArrayOf(std::vector<Json>{Json::Of(
          {{"length", 1},
           {"teacher_error", 0.5},
           {"start", 0.5},
           {"skills", Json::Array{}},
           {"methods", Json::Array{Json::Of(
                           {{"method", "grpo"}, {"noise", Json::Array{}}, {"sum", "much"}})}}})}));
  EXPECT_FALSE(PredictionsFromJson(broken).ok());
  EXPECT_FALSE(PredictChains({{1, 0.5}}, {"no-such-method"}).ok());
}

}  // namespace
}  // namespace hone::lab
