#include "evaluate/conduct.h"

#include <gtest/gtest.h>

#include "support/tree_maker.h"

namespace hone {
namespace {

Json Verdict(bool right) { return Json::Of({{"answer", "x"}, {"verdict", right}}); }

TEST(Conduct, CountsWhenWhichAndHow) {
  TreeMaker maker;
  maker.tree.task.reward =
      *ParseJson(R"({"calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]})");
  maker.Begin().Call("weather", R"({"city": "Oslo"})").End(Ending::kAnswered, Verdict(true));
  maker.Begin().Call("weather", R"({"city": "Rome"})").End(Ending::kAnswered, Verdict(false));
  maker.Begin().Call("clock").Call("weather", R"({"city": "Oslo"})", CallStatus::kToolError, "no");
  maker.End(Ending::kAnswered, Verdict(true));
  maker.Begin().Fault().End(Ending::kTurnLimit, Verdict(false));
  maker.Begin().Call("weather").End(Ending::kFailed, Json(), Blame::kSimulator);  // not counted
  const Result<Conduct> conduct = ConductOf(maker.tree);
  ASSERT_TRUE(conduct.ok()) << conduct.error().message();
  EXPECT_EQ(conduct->trajectories, 4);
  EXPECT_EQ(conduct->Success(), 0.5);
  EXPECT_EQ(conduct->When(), 0.75);
  EXPECT_EQ(conduct->Missed(), 0.25);
  EXPECT_EQ(conduct->Which(), 0.75);
  EXPECT_DOUBLE_EQ(conduct->How(), 2.0 / 3);
  EXPECT_EQ(conduct->CallsPerTask(), 1);
  EXPECT_EQ(conduct->GoldCallsPerTask(), 1);
  EXPECT_EQ(conduct->faults, 1);
  EXPECT_EQ(conduct->failed_calls, 1);
}

TEST(Conduct, ACallWhereNoneIsNeededIsNeedless) {
  TreeMaker maker;
  maker.tree.task.reward = *ParseJson(R"({"calls": []})");
  maker.Begin().Answer("5");
  maker.Begin().Call("calculator").Answer("5");
  Conduct sum;
  sum.Add(*ConductOf(maker.tree));
  sum.Add(*ConductOf(maker.tree));
  EXPECT_EQ(sum.Needless(), 0.5);
  EXPECT_EQ(sum.When(), 0.5);
  EXPECT_EQ(sum.judged, 0) << "no verdict is no failure";
  EXPECT_EQ(sum.ToJson().Find("trajectories")->AsInteger(), 4);
}

TEST(Conduct, LabelsThatCannotBeReadAreAnError) {
  TreeMaker maker;
  maker.tree.task.reward = *ParseJson(R"({"cals": []})");
  maker.Begin().Answer("5");
  EXPECT_FALSE(ConductOf(maker.tree).ok());
}

}  // namespace
}  // namespace hone
