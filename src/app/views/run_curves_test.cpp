#include "app/views/run_curves.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(RunCurvesTest, ShowsWhatWasLoggedAndNothingElse) {
  RunHistory run;
  EXPECT_TRUE(CurvesOf(run).empty());
  run.steps = {{20, {{"sft/loss", 0.5}}},
               {21, {{"success", 0.25}, {"reward/mean", 1}, {"reward/call", 0.5}}},
               {22, {{"success", 0.5}, {"reward/mean", 2}, {"dev/greedy", 0.75}}}};
  run.state.emplace();
  run.state->alarms.push_back(Json::Of({{"step", 1}, {"name", "entropy"}}));
  const std::vector<Plot> plots = CurvesOf(run);
  ASSERT_EQ(plots.size(), 3u);
  EXPECT_EQ(plots[0].title, "Success");
  ASSERT_EQ(plots[0].curves.size(), 2u) << "dev was not sampled";
  EXPECT_EQ(plots[0].curves[0].points.size(), 2u);
  EXPECT_TRUE(plots[0].curves[1].dots);
  ASSERT_EQ(plots[0].marks.size(), 1u);
  EXPECT_EQ(plots[0].marks[0].x, 22) << "the second step of rl";
  EXPECT_EQ(plots[1].title, "Reward");
  EXPECT_EQ(plots[1].curves[1].name, "call");
  EXPECT_EQ(plots[2].title, "Imitation");
}

}  // namespace
}  // namespace hone
