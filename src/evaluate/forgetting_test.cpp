#include "evaluate/forgetting.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Json Group(double success, const std::string& outcomes) {
  return Json::Of({{"success", success}, {"low", 0.0}, {"high", 1.0}, {"outcomes", outcomes}});
}

Json After(const Json& desk, const Json& board) {
  return Json::Of(
      {{"tasks", 8},
       {"figures",
        Json::Of(
            {{"success",
              Json::Of({{"value", 0.5}, {"low", 0.25}, {"high", 0.75}, {"trajectories", 8}})}})},
       {"environments", Json::Of({{"desk", desk}, {"board", board}})}});
}

Json ThreeStages() {
  return Json::Of({{"stage-1-sft/dev/sampled", After(Group(0.5, "1100"), Group(0.25, "1000"))},
                   {"before/test/sampled", After(Group(0.1, "0000"), Group(0.1, "0000"))},
                   {"stage-2-rl/dev/sampled", After(Group(1, "1111"), Group(0.25, "0100"))},
                   {"stage-2-rl/dev/greedy", After(Group(0, "0000"), Group(0, "0000"))},
                   {"stage-3-rl/dev/sampled", After(Group(0.25, "0001"), Group(0.75, "1110"))}});
}

TEST(ForgettingTest, IsTheBestEarlierStageLessTheLast) {
  const ForgettingTable table = ForgettingOf(ThreeStages());
  EXPECT_EQ(table.stages, (std::vector<std::string>{"1 sft", "2 rl", "3 rl"}));
  ASSERT_EQ(table.rows.size(), 2u);
  const ForgettingRow& desk = table.rows[0];
  EXPECT_EQ(desk.environment, "desk");
  ASSERT_EQ(desk.after.size(), 3u);
  EXPECT_DOUBLE_EQ(desk.after[1]->value, 1);
  ASSERT_TRUE(desk.forgotten);
  EXPECT_DOUBLE_EQ(desk.forgotten->value, 0.75);
  ASSERT_TRUE(desk.forgotten->interval);
  EXPECT_LT(desk.forgotten->interval->low, 0.75);
  // What was gained beside is below 0.
  EXPECT_DOUBLE_EQ(table.rows[1].forgotten->value, -0.5);
}

TEST(ForgettingTest, IsPairedByTaskAndLeavesOutWhatNobodyKnows) {
  Json evaluations = ThreeStages();
  evaluations.Set("stage-3-rl/dev/sampled", After(Group(0.25, "0-01"), Group(0.75, "1110")));
  const auto lost = ForgottenByTask(evaluations, "desk");
  ASSERT_EQ(lost.size(), 4u);
  EXPECT_EQ(lost[0], 1.0);
  EXPECT_EQ(lost[1], std::nullopt);
  EXPECT_EQ(lost[3], 0.0);
  EXPECT_TRUE(ForgottenByTask(evaluations, "quiz").empty());
}

TEST(ForgettingTest, OneStageHasForgottenNothingYet) {
  Json evaluations =
      Json::Of({{"stage-1-sft/dev/sampled", After(Group(0.5, "1100"), Group(0.25, "1000"))}});
  const ForgettingTable table = ForgettingOf(evaluations);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_FALSE(table.rows[0].forgotten);
  EXPECT_TRUE(ToJson(table).Find("environments")->Find("desk")->Find("forgotten")->is_null());
}

TEST(ForgettingTest, OneEnvironmentHasNoTable) {
  const Json evaluations =
      Json::Of({{"stage-1-sft/dev/sampled", Json::Of({{"tasks", 4}, {"outcomes", "1100"}})}});
  EXPECT_TRUE(ForgettingOf(evaluations).rows.empty());
  EXPECT_TRUE(ToJson(ForgettingOf(evaluations)).is_null());
  EXPECT_TRUE(ForgettingOf(Json()).rows.empty());
}

TEST(ForgettingTest, DevIsToldApartByEnvironmentWhereThereAreSeveral) {
  Json evaluations = Json::Of({{"dev/dev/sampled", After(Group(0.25, "1000"), Group(1, "1111"))}});
  EXPECT_EQ(DevValues(evaluations),
            (std::map<std::string, double>{
                {"dev/sampled", 0.5}, {"dev/sampled/board", 1}, {"dev/sampled/desk", 0.25}}));
  KeepDevAs("stage-1-rl", &evaluations);
  EXPECT_EQ(*evaluations.Find("stage-1-rl/dev/sampled"), *evaluations.Find("dev/dev/sampled"));
  EXPECT_EQ(evaluations.Find("stage-1-rl/dev/greedy"), nullptr);
}

}  // namespace
}  // namespace hone
