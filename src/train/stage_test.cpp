#include "train/stage.h"

#include <set>

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/page_blocks.h"
#include "support/tiny_recipe.h"
#include "train/run_estimate.h"
#include "train/stages/journal_stage.h"
#include "train/stages/rl_stage.h"
#include "train/stages/sft_stage.h"
#include "train/stages/simulator_stage.h"
#include "train/trainer.h"

namespace hone {
namespace {

struct ReadOne {
  std::shared_ptr<const Stage> stage;
  std::string problems;
};

ReadOne Read(const std::string& toml, std::string_view environment) {
  Recipe recipe = Recipe::Parse("[[stage]]\n" + toml, "r.toml").value();
  std::vector<RecipeTable> tables = recipe.Root().Tables("stage");
  EnvironmentOptions plan;
  plan.traits = FindEnvironment(environment)->traits;
  ReadOne read{ReadStage(tables[0], plan), ""};
  const Result<void> finished = recipe.Finish();
  if (!finished.ok()) read.problems = finished.error().message();
  return read;
}

TEST(StageSettings, HaveTheDefaultsThatAreKnownToLearn) {
  const ReadOne sft = Read("kind = \"sft\"", "desk");
  EXPECT_EQ(sft.problems, "");
  const SftStage& imitation = SettingsOf<SftStage>(sft.stage);
  EXPECT_EQ(sft.stage->kind(), "sft");
  EXPECT_EQ(imitation.demonstrator.agent, "teacher");
  EXPECT_EQ(imitation.steps, 3000);
  EXPECT_EQ(imitation.rate.peak, 3e-3);
  EXPECT_EQ(imitation.rate.steps, 3000) << "the cosine ends with the stage";
  EXPECT_EQ(imitation.optimizer.weight_decay, 0.05);
  const ReadOne rl = Read("kind = \"rl\"\nsteps = 7", "service");
  EXPECT_EQ(rl.problems, "");
  const RlStage& practice = SettingsOf<RlStage>(rl.stage);
  EXPECT_EQ(practice.steps, 7);
  EXPECT_EQ(practice.groups * practice.group, 256);
  EXPECT_EQ(practice.batches.mini_batches, 2);
  EXPECT_EQ(practice.rate.peak, 3e-4);
  EXPECT_EQ(practice.rate.shape, LearningRate::Shape::kConstant);
  const ReadOne simulator = Read("kind = \"simulator\"\ntasks = 5\nsteps = 9", "service");
  EXPECT_EQ(simulator.problems, "");
  EXPECT_EQ(SettingsOf<SimulatorStage>(simulator.stage).tasks, 5);
  EXPECT_EQ(SettingsOf<SimulatorStage>(simulator.stage).model.steps, 9);
  EXPECT_EQ(SettingsOf<SimulatorStage>(simulator.stage).mistakes, 0.6);
  const ReadOne record = Read("kind = \"record\"\ngold = true", "service");
  EXPECT_EQ(record.problems, "");
  EXPECT_EQ(record.stage->kind(), "record");
  EXPECT_TRUE(SettingsOf<JournalStage>(record.stage).gold);
}

TEST(StageSettings, KeysOfAnotherKindAreProblems) {
  EXPECT_NE(Read("kind = \"sft\"\ngroup = 4", "desk").problems.find("unknown key"),
            std::string::npos);
  EXPECT_NE(Read("kind = \"record\"\ngold = true\nmistakes = 0.1", "desk").problems.find("unknown"),
            std::string::npos);
  EXPECT_NE(Read("kind = \"rl\"\nteacher_error = 0.4", "desk").problems.find("unknown key"),
            std::string::npos);
  EXPECT_NE(Read("kind = \"sft\"\nteacher_error = 0.4", "switchboard")
                .problems.find("errs as [environment.tasks] says"),
            std::string::npos);
  EXPECT_NE(Read("kind = \"sft\"\nteacher_error = 2.0", "desk").problems.find("out of range"),
            std::string::npos);
}

TEST(Stage, WithoutAKindThereIsNone) {
  EXPECT_NE(
      Read("steps = 1", "desk").problems.find("is missing: sft, preference, simulator, record, rl"),
      std::string::npos);
  EXPECT_NE(Read("kind = \"slf\"", "desk").problems.find("not one of"), std::string::npos);
}

// The stage of docs/howto/add-a-stage.md, which nobody else knows: it forgets a little.
struct DecayStage {
  int64_t steps = 3;
};

class DecayRun final : public StageRun {
 public:
  DecayRun(const DecayStage& stage, StageContext* context) : stage_(stage), context_(context) {}

  Result<StageStep> Step(int64_t step) override {
    Tree tree;
    tree.nodes.push_back({.tokens = {1, 2}});
    tree.leaves.push_back({.node = 0});
    context_->engine->Accumulate({&tree, 1}, [](std::span<TreeTerms>) {});
    const double norm = context_->engine->Step({.learning_rate = 0.1, .weight_decay = 0.1});
    return StageStep{.values = {{"decay/step", static_cast<double>(step)}, {"grad_norm", norm}}};
  }
  bool IsOver(int64_t steps) const override { return steps >= stage_.steps; }
  Json State() const override { return Json::Of({{"decays", true}}); }
  Result<void> Restore(const Json& /*state*/) override { return {}; }

 private:
  DecayStage stage_;
  StageContext* context_;
};

class Decay final : public StageOf<DecayStage> {
 public:
  using StageOf::StageOf;
  StageSize size() const override {
    return {.steps = settings.steps, .expected_steps = settings.steps, .call_tokens = 1};
  }
  double SecondsPerStep(const EpisodeFigures& /*figures*/) const override { return 0; }
  Result<std::unique_ptr<StageRun>> Open(int64_t /*number*/, bool /*begin*/,
                                         StageContext* context) const override {
    return std::unique_ptr<StageRun>(std::make_unique<DecayRun>(settings, context));
  }
};

std::shared_ptr<Stage> ReadDecayStage(RecipeTable table, const EnvironmentOptions&) {
  DecayStage stage;
  table.Read("steps", &stage.steps, "of forgetting", AtLeast(1));
  return std::make_shared<Decay>(stage);
}

// One line of registration; reading, training, logging, checkpoints, estimates and identity know
// the rest from it.
TEST(Stage, ANewKindIsOneEntryOfTheList) {
  std::vector<StageKind> kinds(BuiltInStages().begin(), BuiltInStages().end());
  kinds.push_back({"decay", {}, ReadDecayStage});
  const TemporaryDirectory directory;
  const auto read = [&](const std::string& name) {
    std::string text = TinyRecipe(directory.path());
    text.replace(text.find("steps = 60"), 10, "steps = 5");
    text.replace(text.find("\"tiny\""), 6, "\"" + name + "\"");
    Recipe recipe = Recipe::Parse(text.substr(0, text.find("[[stage]]\nkind = \"rl\"")) +
                                      "[[stage]]\nkind = \"decay\"\nsteps = 4\n",
                                  "r.toml")
                        .value();
    return ReadTrainingRecipe(&recipe, kinds).value();
  };
  class Watcher final : public TrainObserver {
   public:
    void OnStage(const StageReport& stage) override { stages += stage.kind + " "; }
    void OnTrained(const TrainedStep& step) override {
      steps += step.stage.kind() == "decay" ? 1 : 0;
    }
    std::string stages;
    int64_t steps = 0;
  } watcher, other;
  const TrainingRecipe recipe = read("whole");
  const TrainReport whole = Train(recipe, {.observer = &watcher}).value();
  EXPECT_EQ(watcher.stages, "sft decay ");
  EXPECT_EQ(watcher.steps, 4);
  EXPECT_EQ(EstimateRun(recipe)->stages[1].kind, "decay");

  // Interrupted and gone on with, it ends with the same weights.
  const TrainingRecipe again = read("interrupted");
  const auto stopped = Train(again, {.observer = &other, .stop = [&] { return other.steps == 2; }});
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code(), ErrorCode::kStopped) << stopped.error().message();
  EXPECT_EQ(Train(again, {})->weights, whole.weights);
}

// Practice goes on behind what earlier stages posed, also where the run stopped in between.
TEST(Stage, ASecondStageOfPracticePosesOtherTasks) {
  class Watcher final : public TrainObserver {
   public:
    void OnTrained(const TrainedStep& step) override {
      for (const ScoredTree& record : step.records) tasks.insert(record.tree.task.id);
      practised += step.stage.kind() == "rl" ? 1 : 0;
    }
    std::set<std::string> tasks;
    int64_t practised = 0;
  };
  const std::vector<std::string> twice = {
      "stage=[{kind='sft', steps=5, batch=8}, {kind='rl', steps=2, groups=4, group=4}, "
      "{kind='rl', steps=2, groups=4, group=4}]"};
  const TemporaryDirectory one, two;
  Watcher whole, first, second;
  ASSERT_TRUE(Train(ReadTiny(one.path(), twice).value(), {.observer = &whole}).ok());
  EXPECT_EQ(whole.practised, 4);
  EXPECT_EQ(whole.tasks.size(), 16u);
  const auto stop = [&] { return first.practised == 2; };
  EXPECT_FALSE(Train(ReadTiny(two.path(), twice).value(), {.observer = &first, .stop = stop}).ok());
  ASSERT_TRUE(Train(ReadTiny(two.path(), twice).value(), {.observer = &second}).ok());
  EXPECT_EQ(second.practised, 2);
  first.tasks.merge(second.tasks);
  EXPECT_EQ(first.tasks, whole.tasks);
}

TEST(Stage, TheHowtoShowsTheStageThatIsTestedHere) {
  ExpectShowsCodeOf("docs/howto/add-a-stage.md", "src/train/stage_test.cpp");
}

}  // namespace
}  // namespace hone
