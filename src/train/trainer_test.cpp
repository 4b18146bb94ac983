#include "train/trainer.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "support/full_disk.h"
#include "support/patience.h"
#include "support/planted.h"
#include "support/stop_after.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

TrainingRecipe Tiny(const std::filesystem::path& out, std::vector<std::string> overrides = {}) {
  Result<TrainingRecipe> recipe = ReadTiny(out, overrides);
  EXPECT_TRUE(recipe.ok()) << (recipe.ok() ? "" : recipe.error().message());
  return *std::move(recipe);
}

class Watcher final : public TrainObserver {
 public:
  void OnStage(const StageReport& stage) override { stages.push_back(stage); }
  void OnStep(const StepReport& step) override { steps.push_back(step); }
  void OnTrained(const TrainedStep&) override { ++trained; }
  void OnNote(std::string_view note) override { notes += std::string(note) + "\n"; }
  void OnEvaluation(std::string_view name, const Evaluation&) override {
    evaluations.emplace_back(name);
  }

  std::vector<StageReport> stages;
  std::vector<StepReport> steps;
  std::vector<std::string> evaluations;
  std::string notes;
  int64_t trained = 0;
};

TEST(Trainer, TheSameRecipeGivesTheSameWeightsOnOneThreadAndOnTwo) {
  const TemporaryDirectory one, two, other;
  const auto first = Train(Tiny(one.path()), {});
  ASSERT_TRUE(first.ok()) << first.error().message();
  const auto second = Train(Tiny(two.path(), {"run.threads=2"}), {});
  ASSERT_TRUE(second.ok()) << second.error().message();
  EXPECT_EQ(first->weights, second->weights);
  const auto third = Train(Tiny(other.path(), {"run.seed=2"}), {});
  ASSERT_TRUE(third.ok()) << third.error().message();
  EXPECT_NE(first->weights, third->weights);
}

TEST(Trainer, EveryTokenOfAFirstMiniBatchHasARatioOfExactlyOne) {
  const TemporaryDirectory out;
  Watcher watcher;
  const auto report = Train(Tiny(out.path()), {.observer = &watcher});
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_GT(report->ratio_tokens, 50);
  double calls = 0, silent = 0;
  for (const StepReport& step : watcher.steps) {
    if (step.stage != "rl") continue;
    calls += step.values.at("tool_calls");
    silent += step.values.at("zero_advantage_groups");
  }
  EXPECT_GT(calls, 0) << "or nothing is tested";
  EXPECT_LT(silent, 4) << "or nothing is tested";
}

TEST(Trainer, WhatIsFinishedIsNotDoneAgainUnlessItIsMeasuredOtherwise) {
  const TemporaryDirectory out;
  const auto first = Train(Tiny(out.path()), {});
  ASSERT_TRUE(first.ok()) << first.error().message();
  Watcher again;
  const auto second = Train(Tiny(out.path()), {.observer = &again});
  ASSERT_TRUE(second.ok()) << second.error().message();
  EXPECT_TRUE(again.evaluations.empty());
  EXPECT_TRUE(again.steps.empty());
  EXPECT_EQ(second->weights, first->weights);
  EXPECT_EQ(second->state.evaluations, first->state.evaluations);
  Watcher otherwise;
  const auto third = Train(Tiny(out.path(), {"evaluation.seed=5"}), {.observer = &otherwise});
  ASSERT_TRUE(third.ok()) << third.error().message();
  EXPECT_FALSE(otherwise.evaluations.empty());
}

TEST(Trainer, PassesCoverTheTime) {
  const TemporaryDirectory out;
  const auto report = Train(Tiny(out.path()), {});
  ASSERT_TRUE(report.ok()) << report.error().message();
  double sum = 0;
  for (const auto& [name, seconds] : report->seconds) sum += seconds;
  // Sanitizers slow down what stands between the passes, too.
  EXPECT_GE(sum, (kPatience == 1 ? 0.97 : 0.8) * report->wall);
  EXPECT_LE(sum, 1.001 * report->wall);
}

TEST(Trainer, EveryStepSaysHowBusyTheDeviceWasWhereThereIsOne) {
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kReference}) {
    const TemporaryDirectory out;
    TrainingRecipe recipe =
        Tiny(out.path(), {"stage.0.steps=2", "stage.1.steps=2", "run.log_every=1"});
    recipe.model.device = kind;
    Watcher watcher;
    const auto report = Train(recipe, {.observer = &watcher});
    ASSERT_TRUE(report.ok()) << report.error().message();
    ASSERT_EQ(watcher.steps.size(), 4u);
    for (const StepReport& step : watcher.steps) {
      const auto share = step.values.find("device_busy_share");
      ASSERT_EQ(share != step.values.end(), kind == DeviceKind::kReference);
      if (kind == DeviceKind::kCpu) continue;
      EXPECT_GT(share->second, 0.1) << "the reference computes slowly";
      EXPECT_LE(share->second, 1);
    }
  }
}

TEST(Trainer, ARunThatIsStoppedAfterEveryStepEndsWithTheSameWeights) {
  const TemporaryDirectory one, two;
  const auto whole = Train(Tiny(one.path()), {});
  ASSERT_TRUE(whole.ok()) << whole.error().message();
  int interruptions = 0;
  Result<TrainReport> report = Error(ErrorCode::kStopped, "");
  while (!report.ok()) {
    report = Train(Tiny(two.path()), StopAfter(7).options());
    if (report.ok()) break;
    ASSERT_EQ(report.error().code(), ErrorCode::kStopped) << report.error().message();
    ASSERT_LT(++interruptions, 50);
  }
  EXPECT_GT(interruptions, 8);
  EXPECT_EQ(report->weights, whole->weights);
  EXPECT_EQ(report->ratio_tokens, whole->ratio_tokens);
  // And what was logged is there once.
  const auto store = RunStore::OpenForReading(two.path() / "tiny/store.sqlite").value();
  EXPECT_EQ(store->ReadMetric("success")->size(), 4u);
  const std::string lines = *ReadFile(two.path() / "tiny/metrics.jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3 + 4);
}

TEST(Trainer, AFlippedBitInACheckpointOrInTheCacheChangesNothing) {
  const TemporaryDirectory one, two;
  const auto whole = Train(Tiny(one.path()), {});
  ASSERT_TRUE(whole.ok()) << whole.error().message();
  // Imitation, which the next run would begin with.
  for (const auto& entry : std::filesystem::directory_iterator(one.path() / "cache")) {
    if (entry.is_directory()) FlipBit(entry.path() / "training_state.safetensors", 2, 6);
  }
  Watcher watcher;
  const std::string cache = "run.cache=" + (one.path() / "cache").string();
  const auto stopped = Train(Tiny(two.path(), {cache}),
                             {.observer = &watcher, .stop = [&] { return watcher.trained >= 62; }});
  ASSERT_FALSE(stopped.ok());
  EXPECT_NE(watcher.notes.find("is made again"), std::string::npos) << watcher.notes;
  // The checkpoint that it would go on from, of two.
  const std::vector<int64_t> checkpoints = CheckpointsIn(two.path() / "tiny");
  ASSERT_GE(checkpoints.size(), 2u);
  FlipBit(CheckpointIn(two.path() / "tiny", checkpoints.back()) / "training_state.safetensors", 2,
          6);
  const auto report = Train(Tiny(two.path(), {cache}), {.observer = &watcher});
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_NE(watcher.notes.find("an older one is taken"), std::string::npos) << watcher.notes;
  EXPECT_EQ(report->weights, whole->weights);
}

TEST(Trainer, CanBeStoppedWhileItIsSetUpAndBeginsAgainThen) {
  const TemporaryDirectory out;
  Watcher watcher;
  int asked = 0;
  const auto stopped =
      Train(Tiny(out.path()), {.observer = &watcher, .stop = [&] { return ++asked > 5; }});
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code(), ErrorCode::kStopped);
  EXPECT_TRUE(watcher.stages.empty()) << "no stage had begun";
  EXPECT_NE(watcher.notes.find("making the tokenizer"), std::string::npos);
  EXPECT_TRUE(Train(Tiny(out.path()), {}).ok());
}

TEST(Trainer, RecipesShareTheirBeginning) {
  const TemporaryDirectory out;
  const auto first = Train(Tiny(out.path()), {});
  ASSERT_TRUE(first.ok()) << first.error().message();
  Watcher watcher;
  const auto second =
      Train(Tiny(out.path(), {"run.name=other", "credit.method=grpo"}), {.observer = &watcher});
  ASSERT_TRUE(second.ok()) << second.error().message();
  EXPECT_TRUE(watcher.stages[0].cached);
  EXPECT_EQ(*first->state.evaluations.Find("before/test/greedy")->Find("all"),
            *second->state.evaluations.Find("before/test/greedy")->Find("all"));
  EXPECT_NE(first->weights, second->weights);
  // Cached or not makes no difference.
  const TemporaryDirectory fresh;
  const auto third = Train(Tiny(fresh.path(), {"credit.method=grpo"}), {});
  ASSERT_TRUE(third.ok()) << third.error().message();
  EXPECT_EQ(second->weights, third->weights);
  // What it depends on is looked at.
  Watcher another;
  ASSERT_TRUE(Train(Tiny(out.path(), {"run.name=third", "stage.0.learning_rate=0.02"}),
                    {.observer = &another})
                  .ok());
  EXPECT_FALSE(another.stages[0].cached);
}

std::vector<std::string> LearnsItsSimulator() {
  return {"simulator.kind=learned",
          "stage=[{kind='sft', steps=60, batch=8, learning_rate=0.01, warmup=5}, "
          "{kind='simulator', tasks=40, steps=10, batch=8, layers=1, width=16, heads=2, "
          "positions=128}, {kind='rl', steps=2, groups=2, group=4}]"};
}

// Calls a function when a stage of this kind begins.
class AtStage final : public TrainObserver {
 public:
  AtStage(std::string kind, std::function<void()> then)
      : kind_(std::move(kind)), then_(std::move(then)) {}
  void OnStage(const StageReport& stage) override {
    if (stage.kind == kind_) then_();
  }

 private:
  const std::string kind_;
  const std::function<void()> then_;
};

TEST(Trainer, ARunThatIsKilledRightAfterItFoundItsSimulatorIsStillWhereItWas) {
  const TemporaryDirectory out, copy;
  bool begun = false;
  AtStage begins("rl", [&] { begun = true; });
  std::vector<std::string> changes = LearnsItsSimulator();
  ASSERT_FALSE(
      Train(Tiny(out.path(), changes), {.observer = &begins, .stop = [&] { return begun; }}).ok());
  // Taken up in the middle of rl: what a kill would leave before its next step is done.
  AtStage copies("rl", [&] {
    std::filesystem::copy(out.path(), copy.path(),
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
  });
  const auto whole = Train(Tiny(out.path(), changes), {.observer = &copies});
  ASSERT_TRUE(whole.ok()) << whole.error().message();
  const auto killed = Train(Tiny(copy.path(), changes), {});
  ASSERT_TRUE(killed.ok()) << killed.error().message();
  EXPECT_EQ(killed->weights, whole->weights);
  EXPECT_EQ(killed->ratio_tokens, whole->ratio_tokens);
}

TEST(Trainer, MakesItsOwnSimulator) {
  const TemporaryDirectory out;
  const std::vector<std::string> learned = LearnsItsSimulator();
  Watcher watcher;
  const auto report = Train(Tiny(out.path(), learned), {.observer = &watcher});
  ASSERT_TRUE(report.ok()) << report.error().message();
  ASSERT_EQ(watcher.stages.size(), 3u);
  EXPECT_EQ(watcher.stages[1].kind, "simulator");
  // A run that was stopped behind it finds it again.
  const TemporaryDirectory two;
  Result<TrainReport> resumed = Error(ErrorCode::kStopped, "");
  for (int i = 0; i < 200 && !resumed.ok(); ++i) {
    resumed = Train(Tiny(two.path(), learned), StopAfter(20).options());
  }
  ASSERT_TRUE(resumed.ok()) << resumed.error().message();
  EXPECT_EQ(resumed->weights, report->weights);
}

TEST(Trainer, EveryObjectiveAndEverySortOfCreditRuns) {
  const TemporaryDirectory out;
  int number = 0;
  for (const std::vector<std::string>& change : std::vector<std::vector<std::string>>{
           {"objective.loss=gspo"},
           {"objective.kl.coefficient=0.05", "objective.kl.target=0.01"},
           {"credit.method=gae-token", "objective.value.coefficient=0.5"},
           {"credit.method=gae-token", "objective.value.coefficient=0.5", "model.lora.rank=2"},
           {"dynamic_sampling.on=true", "dynamic_sampling.rounds=2"},
           {"stage.1.epochs=2", "stage.1.mini_batches=3"},
           {"curriculum.order=dynamic"},
           {"replay.on=true", "replay.capacity=4"},
           {"objective.learn_results=true", "stage.1.mini_batches=2"},
           {"answers.mode=live"},
           {"rollout.strategy=arpo", "credit.method=arpo-hard"}}) {
    std::vector<std::string> overrides = change;
    overrides.push_back("run.name=run" + std::to_string(number++));
    overrides.push_back("stage.1.steps=2");
    overrides.push_back("evaluation.test_tasks=0");
    const Result<TrainingRecipe> recipe = ReadTiny(out.path(), overrides);
    ASSERT_TRUE(recipe.ok()) << change[0] << ": " << recipe.error().message();
    const auto report = Train(*recipe, {});
    EXPECT_TRUE(report.ok()) << change[0] << ": " << report.error().message();
  }
}

TEST(Trainer, ACheckpointOfAnotherRunIsGoneOnFrom) {
  const TemporaryDirectory out;
  const std::vector<std::string> with_reference = {"objective.kl.coefficient=0.05",
                                                   "evaluation.test_tasks=0", "run.keep=9"};
  const auto whole = Train(Tiny(out.path(), with_reference), {});
  ASSERT_TRUE(whole.ok()) << whole.error().message();
  // 60 steps of imitation, then two of the four.
  const std::filesystem::path middle = out.path() / "tiny/checkpoints/step-62";
  ASSERT_TRUE(std::filesystem::exists(middle));
  std::vector<std::string> second = with_reference;
  second.push_back("run.name=second");
  second.push_back("run.resume=" + middle.string());
  Watcher watcher;
  const auto resumed = Train(Tiny(out.path(), second), {.observer = &watcher});
  ASSERT_TRUE(resumed.ok()) << resumed.error().message();
  EXPECT_EQ(watcher.steps.size(), 2u);
  EXPECT_EQ(resumed->weights, whole->weights);
  EXPECT_TRUE(std::filesystem::exists(out.path() / "second/tokenizer.json"));
  // With another recipe it is another run.
  second[second.size() - 2] = "run.name=third";
  second.push_back("stage.1.learning_rate=1e-3");
  const auto other = Train(Tiny(out.path(), second), {});
  ASSERT_TRUE(other.ok()) << other.error().message();
  EXPECT_NE(other->weights, whole->weights);
  // One that has done more stages than there are is refused.
  const auto shorter =
      Train(Tiny(out.path(), {"run.name=fourth", "stage=[{kind='sft', steps=1, batch=2}]",
                              "run.resume=" + (out.path() / "tiny/checkpoints/step-64").string()}),
            {});
  ASSERT_FALSE(shorter.ok());
  EXPECT_NE(shorter.error().message().find("behind the last stage"), std::string::npos);
  // And what is no checkpoint is refused before anything is done.
  const auto wrong = ReadTiny(out.path(), {"run.resume=" + (out.path() / "tiny").string()});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message().find("is not a checkpoint of a run"), std::string::npos);
}

TEST(Trainer, AStageIsOverOnceItsTrajectoriesAreDrawn) {
  const TemporaryDirectory one, two;
  const std::vector<std::string> limited = {"stage.1.steps=100", "stage.1.trajectories=40",
                                            "evaluation.test_tasks=0"};
  Watcher watcher;
  const auto report = Train(Tiny(one.path(), limited), {.observer = &watcher});
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(std::count_if(watcher.steps.begin(), watcher.steps.end(),
                          [](const StepReport& step) { return step.stage == "rl"; }),
            3)
      << "16 each, and 40 are wanted";
  // Also where it was stopped on the way.
  Result<TrainReport> resumed = Error(ErrorCode::kStopped, "");
  for (int i = 0; i < 50 && !resumed.ok(); ++i) {
    resumed = Train(Tiny(two.path(), limited), StopAfter(30).options());
  }
  ASSERT_TRUE(resumed.ok()) << resumed.error().message();
  EXPECT_EQ(resumed->weights, report->weights);
}

TEST(Trainer, TheRecordOfRealToolsAnswers) {
  const TemporaryDirectory out;
  const auto run = [&](const std::string& name, const std::string& mode,
                       const std::string& record) {
    Watcher watcher;
    const auto report = Train(
        Tiny(out.path(), {"run.name=" + name, "answers.mode=" + mode, "evaluation.test_tasks=0",
                          "stage=[{kind='sft', steps=60, batch=8, learning_rate=0.01, warmup=5}, " +
                              record + ", {kind='rl', steps=2, groups=8, group=4}]"}),
        {.observer = &watcher});
    EXPECT_TRUE(report.ok()) << report.error().message();
    return watcher.steps.back().values;
  };
  // Only what plans do is recorded: no task is void, but other calls break their trajectories.
  const StepValues gold = run("gold", "replay", "{kind='record', tasks=100, gold=true}");
  EXPECT_EQ(gold.at("void_tasks"), 0);
  EXPECT_GT(gold.at("trajectories"), 0);
  // Nothing is recorded of these tasks: those that need a call make no sense.
  const StepValues none = run("none", "replay", "{kind='record', tasks=1, gold=true}");
  EXPECT_GT(none.at("void_tasks"), 0);
  EXPECT_LT(none.at("void_tasks"), 8) << "some need none";
  // Others are made up around it.
  const StepValues both =
      run("both", "replay-else-simulate", "{kind='record', tasks=1, gold=true}");
  EXPECT_EQ(both.at("void_tasks"), 0);
  EXPECT_EQ(both.at("trajectories"), 32);
}

TEST(Trainer, AFolderBelongsToOneRecipeAndOneProcess) {
  const TemporaryDirectory out;
  ASSERT_TRUE(Train(Tiny(out.path()), {}).ok());
  const auto other = Train(Tiny(out.path(), {"run.seed=3"}), {});
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message().find("was begun with another recipe"), std::string::npos);
  const auto never = Train(Tiny(out.path(), {"run.resume=never"}), {});
  ASSERT_FALSE(never.ok());
  EXPECT_NE(never.error().message().find("resume = \"never\""), std::string::npos);
  const auto lock = RunFolder::Open(out.path() / "tiny").value();
  const auto busy = Train(Tiny(out.path()), {});
  ASSERT_FALSE(busy.ok());
  EXPECT_EQ(busy.error().code(), ErrorCode::kUnavailable);
}

TEST(Trainer, AFullDiskIsAnErrorThatCanBeGoneOnFrom) {
  const TemporaryDirectory one, two;
  const auto whole = Train(Tiny(one.path()), {});
  ASSERT_TRUE(whole.ok());
  {
    const FullDisk disk(100'000);
    const auto full = Train(Tiny(two.path()), {});
    ASSERT_FALSE(full.ok());
    EXPECT_EQ(full.error().code(), ErrorCode::kFull) << full.error().message();
  }
  const auto resumed = Train(Tiny(two.path()), {});
  ASSERT_TRUE(resumed.ok()) << resumed.error().message();
  EXPECT_EQ(resumed->weights, whole->weights);
}

TEST(Trainer, AFolderThatCannotBeWrittenIsNamed) {
  const TemporaryDirectory out;
  std::ofstream(out.path() / "file") << "not a folder";
  const auto report = Train(Tiny(out.path() / "file"), {});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message().find("file/tiny"), std::string::npos);
  EXPECT_NE(report.error().message().find("run.out"), std::string::npos);
}

}  // namespace
}  // namespace hone
