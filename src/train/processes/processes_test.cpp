#include <gtest/gtest.h>

#include "base/file.h"
#include "support/in_each_process.h"
#include "support/stop_after.h"
#include "support/tiny_recipe.h"
#include "train/processes/crew.h"
#include "train/processes/worker.h"
#include "train/trainer.h"

namespace hone {
namespace {

// A run in so many processes, which are threads here: what process 0 comes to.
Result<TrainReport> TrainIn(int processes, const TrainingRecipe& recipe,
                            const TrainOptions& options = {}) {
  Result<TrainReport> report = Error(ErrorCode::kStopped, "nobody led");
  InEachProcess(processes, [&](Cluster* cluster) {
    if (!cluster->leads()) {
      const Result<void> worked = Work(recipe, cluster);
      EXPECT_TRUE(worked.ok()) << worked.error().message();
      return;
    }
    TrainOptions with_others = options;
    with_others.cluster = cluster;
    report = Train(recipe, with_others);
  });
  return report;
}

Result<TrainReport> TrainTiny(int processes, std::vector<std::string> overrides,
                              DeviceKind device = DeviceKind::kCpu) {
  const TemporaryDirectory out;
  overrides.insert(overrides.end(), {"stage.0.slices=4", "stage.1.slices=4"});
  Result<TrainingRecipe> recipe = ReadTiny(out.path(), overrides);
  EXPECT_TRUE(recipe.ok()) << recipe.error().message();
  recipe->model.device = device;
  return TrainIn(processes, *recipe);
}

// Weights and everything that was measured.
void ExpectTheSame(std::vector<std::string> overrides, std::initializer_list<int> processes,
                   DeviceKind device = DeviceKind::kCpu) {
  const auto alone = TrainTiny(1, overrides, device);
  ASSERT_TRUE(alone.ok()) << alone.error().message();
  for (const int count : processes) {
    const auto together = TrainTiny(count, overrides, device);
    ASSERT_TRUE(together.ok()) << together.error().message();
    EXPECT_EQ(together->weights, alone->weights) << count;
    EXPECT_EQ(together->ratio_tokens, alone->ratio_tokens);
    EXPECT_EQ(together->state.TotalOf("trajectories"), alone->state.TotalOf("trajectories"));
    EXPECT_EQ(together->state.TotalOf("simulated_calls"), alone->state.TotalOf("simulated_calls"));
    for (const char* name : {"before/test/sampled", "after/test/greedy", "dev/dev/sampled"}) {
      Json one = *alone->state.evaluations.Find(name),
           other = *together->state.evaluations.Find(name);
      one.Set("seconds", 0);
      other.Set("seconds", 0);
      EXPECT_EQ(one, other) << name;
    }
  }
}

TEST(Processes, AnyNumberOfThemGivesTheSameWeights) { ExpectTheSame({}, {2, 3, 4, 5}); }

TEST(Processes, AlsoWithACriticAReferenceAndReplay) {
  ExpectTheSame({"objective.value.coefficient=0.5", "credit.method=gae-token",
                 "objective.kl.coefficient=0.01", "replay.on=true"},
                {2});
}

TEST(Processes, AlsoWithAdaptersAndTokensThatAreChosenOverAll) {
  ExpectTheSame({"model.lora.rank=4", "objective.loss=clip-cov", "dynamic_sampling.on=true"}, {3});
}

TEST(Processes, AlsoWithToolsTakenAwayAndResultsThatAreLearned) {
  ExpectTheSame({"evaluation.without_tools=true", "objective.learn_results=true"}, {2});
}

TEST(Processes, AlsoOnADevice) {
  ExpectTheSame({"stage.0.steps=4", "stage.1.steps=2"}, {2}, DeviceKind::kReference);
}

// The tiny recipe with a simulator that is learned first.
TrainingRecipe WithALearnedSimulator(const std::filesystem::path& out, int slices) {
  std::string text = TinyRecipe(out);
  const auto replace = [&](std::string_view from, const std::string& to) {
    const size_t at = text.rfind(from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
  };
  replace("kind = \"random\"", "kind = \"learned\"");
  replace("[[stage]]",
          "[[stage]]\nkind = \"simulator\"\ntasks = 30\nlayers = 1\nwidth = 32\nheads = 2\n"
          "steps = 12\nbatch = 10\nslices = " +
              std::to_string(slices) + "\n[[stage]]");
  Recipe recipe = Recipe::Parse(text, "learned.toml").value();
  for (const char* assignment : {"stage.0.slices=3", "stage.2.slices=4", "stage.2.steps=2"}) {
    recipe.Override(assignment);
  }
  return ReadTrainingRecipe(&recipe).value();
}

TEST(Processes, MakeASimulatorTogether) {
  const auto weights_in = [](int processes, int slices) {
    const TemporaryDirectory out;
    const TrainingRecipe recipe = WithALearnedSimulator(out.path(), slices);
    const Result<TrainReport> report = TrainIn(processes, recipe);
    EXPECT_TRUE(report.ok()) << report.error().message();
    std::string simulator;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(out.path() / "cache")) {
      const bool is_it = entry.path().filename() == "model.safetensors" &&
                         Exists(entry.path().parent_path() / "simulator.json");
      if (is_it) simulator = *ReadFile(entry.path());
    }
    EXPECT_FALSE(simulator.empty());
    return simulator + report->weights;
  };
  const std::string alone = weights_in(1, 4);
  for (const int processes : {2, 3, 6}) EXPECT_EQ(weights_in(processes, 4), alone) << processes;
  EXPECT_EQ(weights_in(2, 1), weights_in(1, 1));
  EXPECT_NE(weights_in(1, 1), alone);  // another sum
}

TEST(Processes, ARunGoesOnInAnyNumberOfThem) {
  const auto alone = TrainTiny(1, {});
  ASSERT_TRUE(alone.ok()) << alone.error().message();
  const TemporaryDirectory out;
  const auto recipe = ReadTiny(out.path(), {"stage.0.slices=4", "stage.1.slices=4"});
  int interruptions = 0;
  Result<TrainReport> report = Error(ErrorCode::kStopped, "");
  while (!report.ok()) {
    report = TrainIn(1 + interruptions % 4, *recipe, StopAfter(11).options());
    if (report.ok()) break;
    ASSERT_EQ(report.error().code(), ErrorCode::kStopped) << report.error().message();
    ASSERT_LT(++interruptions, 50);
  }
  EXPECT_GT(interruptions, 4);
  EXPECT_EQ(report->weights, alone->weights);
}

TEST(Processes, WhoReadsAnotherRecipeIsNamed) {
  const TemporaryDirectory out;
  const TrainingRecipe ours = *ReadTiny(out.path()), other = *ReadTiny(out.path(), {"run.seed=7"});
  InEachProcess(3, [&](Cluster* cluster) {
    const std::string said = "process 2 (this process) reads another recipe than process 0";
    if (cluster->leads()) {
      const auto report = Train(ours, {.cluster = cluster});
      ASSERT_FALSE(report.ok());
      EXPECT_EQ(report.error().code(), ErrorCode::kInvalidArgument);
      EXPECT_TRUE(report.error().message().starts_with(said)) << report.error().message();
    } else {
      EXPECT_FALSE(Work(cluster->rank() == 2 ? other : ours, cluster).ok());
    }
  });
}

// Each of them would spend as much, and know nothing of what others were told.
TEST(Processes, WhatAPaidModelMaySpendIsOfOneProcess) {
  TrainingRecipe recipe;
  EXPECT_TRUE(CanBeShared(recipe).ok());
  recipe.answers.simulator.emplace().kind = "endpoint";
  EXPECT_TRUE(CanBeShared(recipe).ok());
  recipe.answers.simulator->model.language_model.max_money = 1;
  EXPECT_EQ(CanBeShared(recipe).error().message(),
            "simulator.max_money is of one process so far; leave it out, or start one process");
  recipe.answers.simulator->model.language_model.max_money = 0;
  recipe.answers.simulator->model.completions = "paid.sqlite";
  EXPECT_FALSE(CanBeShared(recipe).ok());
}

TEST(Processes, WhatTheyCannotDoTogetherIsRefused) {
  const TemporaryDirectory out;
  const auto report = TrainIn(2, *ReadTiny(out.path(), {"rollout.ahead=1"}));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().message(),
            "rollout.ahead is of one process so far; leave it out, or start one process");
}

}  // namespace
}  // namespace hone
