#include "train/recipe_identity.h"

#include <set>

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

TrainingRecipe Tiny(const std::vector<std::string>& overrides) {
  Result<TrainingRecipe> recipe = ReadTiny("/tmp/none", overrides);
  EXPECT_TRUE(recipe.ok()) << recipe.error().message();
  return std::move(*recipe);
}

TEST(RecipeIdentity, OnlyWhatReachesTheWeightsCounts) {
  const std::string hash = RecipeHash(Tiny({}));
  EXPECT_EQ(RecipeHash(Tiny({"run.name=other", "run.threads=1", "evaluation.dev_tasks=3"})), hash);
  for (const char* other : {"run.seed=9", "stage.1.steps=77", "credit.method=rloo",
                            "model.fresh.layers=3", "environment.tasks.seed=5"}) {
    EXPECT_NE(RecipeHash(Tiny({other})), hash) << other;
  }
}

TEST(RecipeIdentity, AKeyThatHasItsDefaultDoesNotCountWhetherItIsSaidOrNot) {
  const std::string hash = RecipeHash(Tiny({}));
  for (const char* said : {"objective.loss=ppo", "stage.0.other_weight=0.1",
                           "curriculum.order=source", "rollout.retries=2"}) {
    EXPECT_EQ(RecipeHash(Tiny({said})), hash) << said;
  }
  EXPECT_NE(RecipeHash(Tiny({"stage.0.other_weight=0.2"})), hash);
}

// Machines differ in what they compute on, and a run may go on at another one.
TEST(RecipeIdentity, WhereModelsComputeDoesNotCount) {
  const TrainingRecipe recipe = Tiny({});
  for (const char* device : {"cpu", "cuda", "auto"}) {
    const TrainingRecipe other = Tiny({std::string("model.device=") + device});
    EXPECT_EQ(DeviceKindName(other.model.device), device);
    EXPECT_EQ(RecipeHash(other), RecipeHash(recipe)) << device;
    EXPECT_EQ(other.said, recipe.said) << device;
    EXPECT_EQ(StageInputs(other, 0), StageInputs(recipe, 0)) << device;
  }
  EXPECT_EQ(recipe.model.device, DeviceKind::kAuto);
  const std::string played =
      "simulator={kind='model', folder='/tmp/none', device='cpu', completions='c.sqlite'}";
  const std::string elsewhere =
      "simulator={kind='model', folder='/tmp/none', device='auto', completions='c.sqlite'}";
  const std::string mode = "answers.mode=simulate";
  EXPECT_EQ(RecipeHash(Tiny({played, mode})), RecipeHash(Tiny({elsewhere, mode})));
  EXPECT_NE(RecipeHash(Tiny({"model.moments=8bit"})), RecipeHash(recipe)) << "that does";
}

// Where a table is there or not, that it is there counts, with its defaults too.
TEST(RecipeIdentity, ATableThatSwitchesSomethingOnCountsByBeingThere) {
  const std::string hash = RecipeHash(Tiny({}));
  std::set<std::string> hashes = {hash};
  for (const char* said :
       {"model.lora={rank=16}", "rewards.flip={share=0.2}", "rewards.gate={term='outcome'}",
        "rewards={sum=[{preset='desk'}, {costs={}}]}",
        "rewards={sum=[{preset='desk'}, {preset='default'}]}"}) {
    EXPECT_TRUE(hashes.insert(RecipeHash(Tiny({said}))).second) << said;
  }
}

// The program learns to read another key, with a default: `resolved` has one more.
TEST(RecipeIdentity, ANewKeyWithADefaultLeavesRunsWhatTheyAre) {
  TrainingRecipe recipe = Tiny({});
  const std::string hash = RecipeHash(recipe);
  Json objective = RecipePart(recipe, "objective");
  objective.Set("brand_new", 0.5);
  recipe.resolved.Set("objective", objective);
  EXPECT_EQ(RecipeHash(recipe), hash) << "it has its default";
  Json said = SaidPart(recipe, "objective");
  said.Set("brand_new", 0.7);
  recipe.said.Set("objective", said);
  EXPECT_NE(RecipeHash(recipe), hash) << "it says something else";
}

TEST(RecipeIdentity, ABumpedPartChangesWhoUsesItAndNobodyElse) {
  const TrainingRecipe recipe = Tiny({});
  const std::string hash = RecipeHash(recipe);
  const auto with = [&](const char* part, const char* name) {
    const LearningVersion bumped[] = {{part, name, 2, "a test"}};
    return RecipeHash(recipe, bumped);
  };
  for (const auto& [part, name] : {std::pair{"method", "toolpo"},
                                   {"stage", "sft"},
                                   {"stage", "rl"},
                                   {"loss", "ppo"},
                                   {"reward", "desk"},
                                   {"environment", "desk"},
                                   {"strategy", "chains"},
                                   {"simulator", "random"},
                                   {"curriculum", "source"}}) {
    EXPECT_NE(with(part, name), hash) << part << " " << name;
  }
  for (const auto& [part, name] : {std::pair{"method", "grpo"},
                                   {"stage", "record"},
                                   {"loss", "gspo"},
                                   {"environment", "service"}}) {
    EXPECT_EQ(with(part, name), hash) << part << " " << name;
  }
  const LearningVersion stage[] = {{"stage", "sft", 2, "a test"}};
  EXPECT_NE(StageInputs(recipe, 0, stage), StageInputs(recipe, 0));
  EXPECT_EQ(StageInputs(recipe, 1, stage), StageInputs(recipe, 1));
}

TEST(RecipeIdentity, PracticeInSeveralStagesIsToldApart) {
  const LearningVersion bumped[] = {{"practice", "again", 2, "a test"}};
  const auto moved = [&](const TrainingRecipe& recipe) {
    return RecipeHash(recipe, bumped) != RecipeHash(recipe, {});
  };
  EXPECT_FALSE(moved(Tiny({})));
  EXPECT_TRUE(moved(Tiny({"stage=[{kind='sft'}, {kind='rl', steps=2}, {kind='rl', steps=2}]"})));
}

TEST(RecipeIdentity, EveryBumpSaysWhatItIsOfAndWhy) {
  for (const LearningVersion& one : LearningVersions()) {
    EXPECT_GT(one.version, 1) << one.name;
    EXPECT_FALSE(one.why.empty()) << one.name;
  }
}

TEST(RecipeIdentity, WhereAlarmsActEvaluationsAndCheckpointsCountToo) {
  const std::string hash = RecipeHash(Tiny({"alarms.mode=apply"}));
  EXPECT_NE(RecipeHash(Tiny({"alarms.mode=apply", "run.save_every=7"})), hash);
  EXPECT_NE(RecipeHash(Tiny({"alarms.mode=apply", "evaluation.dev_tasks=3"})), hash);
  EXPECT_EQ(RecipeHash(Tiny({"alarms.mode=apply", "run.name=other"})), hash);
  EXPECT_EQ(RecipeHash(Tiny({"alarms.mode=apply", "evaluation.test_tasks=3"})), hash)
      << "test is measured when all is over";
}

TEST(RecipeIdentity, AStageDependsOnItselfTheSeedAndTheTasks) {
  const Json first = StageInputs(Tiny({}), 0);
  EXPECT_EQ(StageInputs(Tiny({"stage.1.steps=77", "credit.method=rloo", "run.name=other"}), 0),
            first);
  EXPECT_NE(StageInputs(Tiny({"stage.0.steps=77"}), 0), first);
  EXPECT_NE(StageInputs(Tiny({"run.seed=9"}), 0), first);
  EXPECT_NE(StageInputs(Tiny({}), 1), first);
}

// Whoever derives a run again lets its journal answer, and must find the stages it began with.
TEST(RecipeIdentity, WhoAnswersWhileARunIsVerifiedDoesNotMoveItsStages) {
  TrainingRecipe recipe = Tiny({"answers.mode=live"});
  recipe.environment.traits.in_process = false;  // tools outside of this program
  const Json inputs = StageInputs(recipe, 0);
  recipe.answers.mode = ToolMode::kReplay;
  EXPECT_EQ(StageInputs(recipe, 0), inputs);
}

TEST(RecipeIdentity, FilesCountByWhatIsInThem) {
  const TemporaryDirectory directory;
  const std::filesystem::path tasks = directory.path() / "train.jsonl",
                              journal = directory.path() / "real.sqlite";
  ASSERT_TRUE(WriteFileAtomic(tasks, "one").ok());
  ASSERT_TRUE(WriteFileAtomic(journal, "said").ok());
  TrainingRecipe recipe = Tiny({"answers.mode=replay", "answers.journal=" + journal.string()});
  recipe.environment.files = {{Split::kTrain, tasks.string()}};
  const std::string hash = RecipeHash(recipe);
  EXPECT_EQ(RecipeHash(recipe), hash);
  ASSERT_TRUE(WriteFileAtomic(tasks, "another").ok());
  const std::string other_tasks = RecipeHash(recipe);
  EXPECT_NE(other_tasks, hash);
  ASSERT_TRUE(WriteFileAtomic(journal, "said otherwise").ok());
  EXPECT_NE(RecipeHash(recipe), other_tasks);
}

TEST(RecipeIdentity, AFolderOfTextsCountsByItsFilesForTheRunAndForEveryStage) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "a.txt", "one").ok());
  TrainingRecipe recipe = Tiny({});
  recipe.paths.push_back({"texts", directory.path().string(), PathUse::kInput});
  const std::string hash = RecipeHash(recipe);
  const Json stage = StageInputs(recipe, 0);
  EXPECT_EQ(RecipeHash(recipe), hash);
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "a.txt", "another").ok());
  EXPECT_NE(RecipeHash(recipe), hash);
  EXPECT_NE(StageInputs(recipe, 0), stage);
}

TEST(RecipeIdentity, APartThatIsNotThereIsNull) {
  EXPECT_TRUE(RecipePart(Tiny({}), "run").is_object());
  EXPECT_TRUE(RecipePart(Tiny({}), "nothing").is_null());
}

}  // namespace
}  // namespace hone
