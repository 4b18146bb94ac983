#include "evaluate/compare/stability.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

ComparedRun RunWith(const std::vector<double>& dev, std::vector<FirstAlarm> alarms = {}) {
  ComparedRun run;
  run.status = ComparedRun::Status::kFinished;
  double trajectories = 0;
  for (const double sampled : dev) run.dev.push_back({trajectories += 100, sampled, sampled});
  run.alarms = std::move(alarms);
  return run;
}

TEST(Stability, ARunThatLosesHalfForGoodHasFallenWhenItWasFirstLow) {
  const RunFate fate = FateOf(RunWith({0.1, 0.6, 0.2, 0.5, 0.2, 0.1})).value();
  EXPECT_EQ(fate.best, 0.6);
  EXPECT_EQ(fate.end, 0.1);
  EXPECT_EQ(fate.fell_at, 500) << "it recovered from the first fall";
  EXPECT_FALSE(FateOf(RunWith({0.1, 0.6, 0.2, 0.5}))->fell_at);
  EXPECT_FALSE(FateOf(RunWith({0.09, 0.0}))->fell_at) << "there was nothing to lose";
  EXPECT_EQ(FateOf(RunWith({0.5, 0.0}))->fell_at, 200);
  EXPECT_FALSE(FateOf(RunWith({})));
  ComparedRun unfinished = RunWith({0.5, 0.0});
  unfinished.status = ComparedRun::Status::kUnfinished;
  EXPECT_FALSE(FateOf(unfinished));
}

TEST(Stability, AlarmsAfterTheFallWarnedNobody) {
  const ComparedRun warned = RunWith({0.5, 0.5, 0.0}, {{"entropy", 150}, {"late", 301}});
  EXPECT_TRUE(FateOf(warned)->warned);
  const ComparedRun unwarned = RunWith({0.5, 0.0, 0.0}, {{"late", 250}});
  EXPECT_FALSE(FateOf(unwarned)->warned);
  const ComparedRun fine = RunWith({0.2, 0.6}, {{"entropy", 100}});
  EXPECT_FALSE(FateOf(fine)->warned) << "of nothing";
  const ReportTable table =
      StabilityTable({{"one", "rate=1", {&warned, &unwarned, &fine}}, {"none", "rate=2", {}}}, 0.5);
  ASSERT_EQ(table.rows.size(), 2u) << "a heading and one arm";
  EXPECT_EQ(table.rows[1], (std::vector<std::string>{"one", "rate=1", "3", "3", "1", "20.0", "2",
                                                     "1", "entropy 2, late 2"}));
  EXPECT_TRUE(StabilityTable({}, 0.5).rows.empty());
}

}  // namespace
}  // namespace hone
