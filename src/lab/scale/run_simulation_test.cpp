#include "lab/scale/run_simulation.h"

#include <gtest/gtest.h>

#include "lab/scale/scale_table.h"
#include "support/tested_scale.h"

namespace hone::lab {
namespace {

// Lengths and tools that differ, and work for the device.
const std::vector<std::string> kUneven = {"workload.groups=24",
                                          "workload.group=4",
                                          "workload.turns_p99=8",
                                          "workload.turn_tokens_p99=60",
                                          "workload.tool_seconds=0.3",
                                          "workload.tool_seconds_p99=6",
                                          "machine.products=1e8",
                                          "machine.training=2e8",
                                          "machine.leader_seconds=0.2",
                                          "machine.batch_seconds=0.05",
                                          "run.slices=8"};

ScaleForecast Of(std::vector<std::string> changes, const std::vector<std::string>& more = {}) {
  changes.insert(changes.end(), more.begin(), more.end());
  const Result<ScaleOptions> options = ReadTested(changes);
  EXPECT_TRUE(options.ok()) << options.error().message();
  return SimulateRun(*options);
}

TEST(RunSimulation, OneProcessIsTheSumOfItsParts) {
  const ScaleForecast one = Of(kUneven);
  EXPECT_EQ(one.gathering, 0);
  EXPECT_EQ(one.sending, 0);
  EXPECT_NEAR(one.step, one.drawing + one.leading + one.computing + one.reducing.Total(), 1e-9);
  EXPECT_EQ(one.drawing, one.mean_drawing);
}

// Four groups of two trajectories draw 20 tokens each; a prompt and answers cost nothing.
TEST(RunSimulation, AStepCanBeComputedByHand) {
  const ScaleForecast one =
      Of({"machine.training=1e6", "machine.leader_seconds=0.25", "machine.token_seconds=0.001",
          "machine.batch_seconds=0.5", "workload.mini_batches=2"});
  const double parameters = ScaleModel(ReadTested()->model).parameters;
  EXPECT_EQ(one.tree_tokens, 160);
  EXPECT_NEAR(one.drawing, 1.2, 1e-9);
  EXPECT_NEAR(one.leading, 0.25 + 0.16, 1e-9);
  EXPECT_NEAR(one.computing, 160 * 6 * parameters / 1e6 + 2 * 0.5, 1e-6);
  EXPECT_NEAR(one.step, one.drawing + one.leading + one.computing, 1e-6);
}

TEST(RunSimulation, EqualLengthsWithoutToolsAreSplitEvenly) {
  const std::vector<std::string> even = {"workload.groups=16",     "workload.tool_seconds=0",
                                         "machine.step_seconds=0", "machine.products=1e8",
                                         "machine.training=1e8",   "run.slices=8"};
  const ScaleForecast one = Of(even);
  for (const int processes : {2, 4, 8}) {
    const ScaleForecast some = Of(even, {"run.processes=" + std::to_string(processes)});
    EXPECT_NEAR(some.step, one.step / processes, 1e-6 * one.step) << processes;
  }
  const ScaleForecast led = Of(even, {"run.processes=8", "machine.leader_seconds=1"});
  EXPECT_NEAR(led.step, one.step / 8 + 1, 1e-6 * one.step);
}

TEST(RunSimulation, OnlySoManyComputeGradientsAsThereAreSlices) {
  const std::vector<std::string> few = {"run.slices=2", "machine.training=1e6",
                                        "workload.tool_seconds=0"};
  const double two = Of(few, {"run.processes=2"}).computing;
  EXPECT_NEAR(Of(few, {"run.processes=4"}).computing, two, 1e-9);
  EXPECT_NEAR(Of(few, {"run.processes=1"}).computing, 2 * two, 1e-6);
}

TEST(RunSimulation, GroupsWithoutAnythingToLearnAreNotTrainedOn) {
  const std::vector<std::string> costly = {"machine.training=1e6", "workload.tool_seconds=0"};
  const ScaleForecast all = Of(costly), half = Of(costly, {"workload.trained_share=0.5"}),
                      none = Of(costly, {"workload.trained_share=0"});
  EXPECT_NEAR(half.computing, all.computing / 2, 1e-6);
  EXPECT_EQ(none.Training(), 0);
  EXPECT_EQ(none.drawing, all.drawing);
}

TEST(RunSimulation, EachProcessMayHaveASliceOfItsOwn) {
  const ScaleForecast own = Of(kUneven, {"run.processes=5", "run.slices=0"});
  EXPECT_EQ(DumpJson(own.ToJson()),
            DumpJson(Of(kUneven, {"run.processes=5", "run.slices=5"}).ToJson()));
}

TEST(RunSimulation, WhoTakesLongestIsWaitedFor) {
  const ScaleForecast some = Of(kUneven, {"run.processes=6"});
  EXPECT_GT(some.drawing, some.mean_drawing);
  EXPECT_LT(some.drawing, Of(kUneven).drawing);
}

TEST(RunSimulation, TheSeedIsAllThatDiffers) {
  const std::string first = DumpJson(Of(kUneven, {"run.processes=4"}).ToJson());
  EXPECT_EQ(first, DumpJson(Of(kUneven, {"run.processes=4"}).ToJson()));
  EXPECT_NE(first, DumpJson(Of(kUneven, {"run.processes=4", "run.seed=2"}).ToJson()));
}

TEST(RunSimulation, MoreStepsAheadAreNeverSlower) {
  for (const int processes : {1, 3, 8}) {
    for (const int seed : {1, 2, 3}) {
      double before = 0;
      for (const int ahead : {0, 1, 2, 4}) {
        const double step = Of(kUneven, {"run.processes=" + std::to_string(processes),
                                         "run.seed=" + std::to_string(seed), "run.steps=40",
                                         "run.ahead=" + std::to_string(ahead)})
                                .step;
        // Other steps are looked at where more are under way: lengths differ a little.
        if (ahead > 0) {
          EXPECT_LE(step, before * 1.05) << processes << " " << seed << " " << ahead;
        }
        before = step;
      }
    }
  }
}

TEST(RunSimulation, AheadHidesToolsAndNeverWork) {
  const std::vector<std::string> waits = {"machine.training=3e8", "run.steps=20"};
  const ScaleForecast now = Of(waits), ahead = Of(waits, {"run.ahead=8"});
  EXPECT_LT(ahead.step, 0.6 * now.step);
  EXPECT_NEAR(ahead.step, std::max(0.2 + ahead.computing, (1.2 + ahead.computing) / 9), 0.01);
  EXPECT_LE(ahead.busy, 1 + 1e-9);
}

TEST(RunSimulation, TrainersMayLeaveDrawingToOthers) {
  const std::vector<std::string> apart = {
      "run.processes=9",      "run.slices=1",       "run.ahead=1", "run.trainers_draw=false",
      "machine.training=1e6", "workload.groups=16", "run.steps=20"};
  const ScaleForecast forecast = Of(apart);
  // While the one computes, the others draw: its work is all that a step takes.
  EXPECT_NEAR(forecast.step, forecast.computing, 0.01 * forecast.step);
}

TEST(ScaleTable, RowsAreDevicesTimesStepsAhead) {
  ScaleSweepOptions sweep{.base = *ReadTested(kUneven), .devices = {1, 2, 4}, .ahead = {0, 1}};
  const Result<std::vector<ScaleRow>> rows = SweepScale(sweep);
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  ASSERT_EQ(rows->size(), 6u);
  EXPECT_EQ((*rows)[0].efficiency, 1);
  EXPECT_LT((*rows)[4].efficiency, 1);
  EXPECT_EQ((*rows)[5].ahead, 1);
  EXPECT_NE(ScalePlot("tested", *rows).find("1 ahead"), std::string::npos);
  sweep.groups_each = 24;
  EXPECT_EQ((*SweepScale(sweep))[4].forecast.trajectories, 4 * 24 * 4);
}

TEST(ScaleTable, WhatDoesNotFitIsSaid) {
  ScaleSweepOptions sweep{.base = *ReadTested({"machine.memory=1e3"})};
  const std::vector<ScaleRow> rows = *SweepScale(sweep);
  EXPECT_FALSE(rows[0].fits);
  EXPECT_NE(ScaleTable(rows).find(": too much |"), std::string::npos);
  sweep.base.run.tensor_parallel = 4;
  sweep.devices = {6};
  EXPECT_EQ(SweepScale(sweep).error().message(),
            "6 devices are no whole number of processes of 4 (run.tensor_parallel)");
}

}  // namespace
}  // namespace hone::lab
