#include "lab/scale/play_simulation.h"

#include <gtest/gtest.h>

#include "support/tested_scale.h"

namespace hone::lab {
namespace {

PlayTimes PlayAll(const ScaleOptions& options) {
  const std::vector<PlayedGroup> groups = DrawLengths(options.workload, Rng(1));
  std::vector<const PlayedGroup*> all;
  for (const PlayedGroup& group : groups) all.push_back(&group);
  return SimulatePlay(DeviceCosts(options), options.workload, all);
}

// Ten steps, the tool, ten steps.
TEST(PlaySimulation, AllAreDrawnTogetherAndWaitForTheirTools) {
  const PlayTimes times = PlayAll(*ReadTested());
  EXPECT_NEAR(times.span, 0.1 + 1 + 0.1, 1e-9);
  EXPECT_NEAR(times.busy, 0.2, 1e-9);
  EXPECT_EQ(times.drawn_tokens, 4 * 2 * 2 * 10);
}

TEST(PlaySimulation, WhatIsNotLiveWaitsForItsTurn) {
  const PlayTimes times = PlayAll(*ReadTested({"workload.live=1"}));
  EXPECT_NEAR(times.span, 8 * 1.2, 1e-9);
  EXPECT_NEAR(times.busy, 8 * 0.2, 1e-9);
}

TEST(PlaySimulation, TheHostTakesItsTimeForEveryTurn) {
  const ScaleOptions options = *ReadTested(
      {"machine.turn_seconds=0.001", "machine.rollout_seconds=0.5", "workload.tool_seconds=0"});
  EXPECT_NEAR(PlayAll(options).span, 0.2 + 16 * 0.001 + 0.5, 1e-9);
}

// Two sequences that begin with a prompt of 100 and draw three tokens: 100, 102 and 104 tokens are
// looked at.
TEST(PlaySimulation, EachStepReadsWhatThereIs) {
  const ScaleOptions options =
      *ReadTested({"machine.step_seconds=0", "machine.bandwidth=1e6", "machine.products=1e30",
                   "workload.groups=1", "workload.turns=1", "workload.turn_tokens=3",
                   "workload.prompt_tokens=100"});
  const ScaleModel model(options.model);
  EXPECT_EQ(model.kv_bytes, 2 * 2 * 2 * 16 * 2);
  const double logits = 2 * 256 * 4 * 3;
  const double bytes = 3 * (2 * model.parameters + logits) + (100 + 102 + 104) * model.kv_bytes;
  EXPECT_NEAR(PlayAll(options).span, bytes / 1e6, 1e-6);
  EXPECT_EQ(PlayAll(options).most_tokens, 106);
}

TEST(PlaySimulation, ManyAtATimeAreBoundByProducts) {
  const ScaleOptions options = *ReadTested({"machine.step_seconds=0", "machine.products=1e6",
                                            "workload.turns=1", "workload.tool_seconds=0"});
  const ScaleModel model(options.model);
  EXPECT_NEAR(PlayAll(options).span, 80 * 2 * model.parameters / 1e6, 1e-6);
}

TEST(PlaySimulation, ItDoesNotDependOnWhoPlaysHowMuchIsDrawn) {
  const ScaleOptions options =
      *ReadTested({"workload.groups=37", "workload.group=5", "workload.turns_p99=9",
                   "workload.turn_tokens_p99=90", "workload.task_p99=3",
                   "workload.tool_seconds_p99=30", "workload.live=3"});
  const DeviceCosts costs(options);
  const std::vector<PlayedGroup> groups = DrawLengths(options.workload, Rng(7));
  int64_t wanted = 0;
  for (const PlayedGroup& group : groups) wanted += group.drawn_tokens();
  for (const size_t processes : {1, 2, 3, 7, 50}) {
    int64_t drawn = 0;
    for (size_t p = 0; p < processes; ++p) {
      std::vector<const PlayedGroup*> share;
      for (size_t g = p; g < groups.size(); g += processes) share.push_back(&groups[g]);
      const PlayTimes times = SimulatePlay(costs, options.workload, share);
      drawn += times.drawn_tokens;
      EXPECT_LE(times.busy, times.span + 1e-9);
    }
    EXPECT_EQ(drawn, wanted) << processes;
  }
}

TEST(PlaySimulation, NothingToPlayTakesNoTime) {
  const ScaleOptions options = *ReadTested({"machine.rollout_seconds=3"});
  EXPECT_EQ(SimulatePlay(DeviceCosts(options), options.workload, {}).span, 0);
}

// docs/gpu.md, Qwen2.5 on an H200: seconds of a step that draws, from tokens per second with the
// prompts taken out.
TEST(DeviceCosts, TheH200sConstantsGiveTheStepsThatWereMeasured) {
  struct Measured {
    int64_t layers, width, heads, kv_heads, head_dim, ffn;
    bool tied;
    double live, milliseconds;
  };
  constexpr double kPrompt = 256, kDrawn = 128;
  const auto left = [](double rate, double live, double prompts_rate) {
    return (live * kDrawn / rate - live * kPrompt / prompts_rate) / kDrawn * 1e3;
  };
  // Prompts: 415 and 539 TFLOP/s of 0.49 and 1.54 billion parameters.
  const double small = 415e12 / (2 * 0.494e9), large = 539e12 / (2 * 1.544e9);
  const Measured all[] = {
      {24, 896, 14, 2, 64, 4864, true, 64, left(56'483, 64, small)},
      {24, 896, 14, 2, 64, 4864, true, 256, left(100'121, 256, small)},
      {28, 1536, 12, 2, 128, 8960, true, 64, left(26'516, 64, large)},
      {28, 1536, 12, 2, 128, 8960, true, 256, left(44'874, 256, large)},
      {28, 3584, 28, 4, 128, 18944, false, 64, 2 * 7.615e9 / 3.35e12 * 1e3},
  };
  Recipe recipe = *Recipe::Load(HONE_SOURCE_DIR "/examples/scale/h200-7b.toml");
  ScaleOptions options = *ReadScaleOptions(&recipe);
  for (const Measured& one : all) {
    options.model.layers = one.layers;
    options.model.width = one.width;
    options.model.heads = one.heads;
    options.model.kv_heads = one.kv_heads;
    options.model.head_dim = one.head_dim;
    options.model.ffn = one.ffn;
    options.model.tied_embeddings = one.tied;
    const double step = DeviceCosts(options).StepSeconds(one.live, one.live * 320) * 1e3;
    EXPECT_NEAR(step, one.milliseconds, 0.1 * one.milliseconds)
        << one.width << " with " << one.live << " sequences";
  }
}

}  // namespace
}  // namespace hone::lab
