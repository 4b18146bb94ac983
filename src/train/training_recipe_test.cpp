#include "train/training_recipe.h"

#include <gtest/gtest.h>

#include "support/tiny_recipe.h"
#include "train/stages/rl_stage.h"
#include "train/stages/sft_stage.h"

namespace hone {
namespace {

std::string ProblemsOf(const std::vector<std::string>& overrides) {
  const Result<TrainingRecipe> recipe = ReadTiny("/tmp/none", overrides);
  return recipe.ok() ? "" : recipe.error().message();
}

bool Says(const std::string& problems, std::string_view part) {
  return problems.find(part) != std::string::npos;
}

TEST(TrainingRecipe, IsReadWithItsDefaults) {
  const Result<TrainingRecipe> recipe = ReadTiny("/tmp/none");
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  EXPECT_EQ(recipe->Folder(), "/tmp/none/tiny");
  EXPECT_EQ(recipe->run.cache, "/tmp/none/cache");
  EXPECT_TRUE(recipe->Simulates());
  EXPECT_FALSE(recipe->LearnsSimulator());
  ASSERT_EQ(recipe->stages.size(), 2u);
  EXPECT_EQ(recipe->stages[0]->kind(), "sft");
  EXPECT_EQ(SettingsOf<SftStage>(recipe->stages[0]).demonstrator.agent, "teacher");
  EXPECT_EQ(SettingsOf<RlStage>(recipe->stages[1]).optimizer.beta2, 0.99);
  // What is written down says the same again.
  Recipe again = Recipe::Parse(recipe->resolved_text, "resolved.toml").value();
  const Result<TrainingRecipe> reread = ReadTrainingRecipe(&again);
  ASSERT_TRUE(reread.ok()) << reread.error().message();
  EXPECT_EQ(reread->resolved, recipe->resolved);
}

TEST(TrainingRecipe, AllProblemsAreReportedAtOnceBeforeAnythingIsDone) {
  const std::string problems = ProblemsOf(
      {"model.folder=nowhere", "credit.method=tolpo", "stage.1.group=1", "rewards.preset=desc",
       "environment.rules.context_tokens=500", "rollout.turn_tokens=500", "run.nmae=x",
       "evaluation.more=['tset']", "objective.loss=pppo"});
  EXPECT_TRUE(Says(problems, "nowhere")) << problems;
  EXPECT_TRUE(Says(problems, "toolpo")) << problems;
  EXPECT_TRUE(Says(problems, "did you mean \"desk\"")) << problems;
  EXPECT_TRUE(Says(problems, "run.nmae\" (did you mean \"name\"?)")) << problems;
  EXPECT_TRUE(Says(problems, "evaluation.more")) << problems;
  EXPECT_TRUE(Says(problems, "objective.loss")) << problems;
}

TEST(TrainingRecipe, FilesThatAreNotThereAreNamed) {
  EXPECT_TRUE(Says(
      ProblemsOf({"environment={kind='data', train='nowhere.jsonl'}", "stage.0.demonstrator=gold"}),
      "the task file nowhere.jsonl is not there"));
  EXPECT_TRUE(Says(ProblemsOf({"rewards={command=['no-such-program']}"}), "rewards.command"));
  EXPECT_TRUE(Says(ProblemsOf({"rewards={sum=[{command=['no-such-program']}]}"}),
                   "rewards.sum[0].command"));
  EXPECT_TRUE(Says(ProblemsOf({"run.resume=nowhere"}), "neither auto, never, nor a folder"));
}

TEST(TrainingRecipe, AProgramCanScore) {
  const Result<TrainingRecipe> recipe =
      ReadTiny("/tmp/none", {"rewards={command=['cat'], term='taste', deadline_ms=5, weight=2.0}"});
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  EXPECT_EQ(recipe->rewards, Json::Of({{"command", Json::Array{"cat"}},
                                       {"term", "taste"},
                                       {"deadline_ms", 5},
                                       {"processes", 1},
                                       {"weight", 2.0}}));
}

TEST(TrainingRecipe, CostsCanBeGatedOnSuccess) {
  const Result<TrainingRecipe> recipe = ReadTiny(
      "/tmp/none", {"rewards={sum=[{preset='desk'}, {costs={per_call=0.2}, gate={term='outcome', "
                    "at_least=1.0}}]}"});
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  const Json& part = recipe->rewards.Find("sum")->AsArray()[1];
  EXPECT_EQ(part.Find("costs")->Find("per_call")->AsDouble(), 0.2);
  EXPECT_EQ(DumpJson(*part.Find("gate")), R"({"term":"outcome","at_least":1.0})");
  // What is written down says the same again.
  Recipe again = Recipe::Parse(recipe->resolved_text, "resolved.toml").value();
  const Result<TrainingRecipe> reread = ReadTrainingRecipe(&again);
  ASSERT_TRUE(reread.ok()) << reread.error().message();
  EXPECT_EQ(reread->rewards, recipe->rewards);
  EXPECT_TRUE(Says(ProblemsOf({"rewards={gate={at_least=1.0}}"}), "rewards.gate.term"));
  EXPECT_TRUE(Says(ProblemsOf({"rewards={costs={per_cal=0.2}}"}), "did you mean \"per_call\""));
}

TEST(TrainingRecipe, AFreshModelAndOneThatIsThereExcludeEachOther) {
  const std::string problems = ProblemsOf({"model.folder=nowhere"});
  EXPECT_TRUE(Says(problems, "model.fresh: is of a fresh model")) << problems;
  EXPECT_TRUE(Says(problems, "there is no folder nowhere; get a model")) << problems;
  EXPECT_TRUE(
      Says(ProblemsOf({"model.folder=../models/stories15M"}),
           "there is no folder ../models/stories15M; get the model: hone model get stories15M"));
}

TEST(TrainingRecipe, AGroupOfOneIsRefusedByMethodsThatCompare) {
  EXPECT_TRUE(Says(ProblemsOf({"stage.1.group=1"}), "stage[1].group: toolpo compares"));
  EXPECT_TRUE(Says(ProblemsOf({"stage.1.group=1", "credit.method=grpo"}), "grpo compares"));
  EXPECT_EQ(
      ProblemsOf({"stage.1.group=1", "credit.method=gae-token", "objective.value.coefficient=0.5"}),
      "");
}

TEST(TrainingRecipe, BudgetsMustFitTheContext) {
  EXPECT_TRUE(Says(ProblemsOf({"environment.rules.context_tokens=500"}),
                   "context_tokens of 500 is more than the model's context of 192"));
  EXPECT_TRUE(Says(ProblemsOf({"rollout.turn_tokens=500"}),
                   "500 tokens do not fit the model's context of 192"));
}

TEST(TrainingRecipe, TheDialectMustExist) {
  EXPECT_TRUE(Says(ProblemsOf({"model.dialect=tagged:dsek"}), "model.dialect"));
  EXPECT_TRUE(Says(ProblemsOf({"model.dialect=template"}), "name the model's folder"));
}

TEST(TrainingRecipe, WhoNamesASimulatorSaysWhetherItIsAsked) {
  const std::string problems = ProblemsOf({"answers={}", "simulator.kind=random"});
  EXPECT_TRUE(Says(problems, "simulator: nothing says whether it is asked")) << problems;
  EXPECT_EQ(ProblemsOf({"answers.mode=live", "simulator.kind=random"}), "");
}

TEST(TrainingRecipe, WhoeverIsToAnswerMustBeThere) {
  EXPECT_TRUE(Says(ProblemsOf({"answers.mode=replay", "answers.journal=nowhere.sqlite"}),
                   "there is no journal \"nowhere.sqlite\""));
  EXPECT_TRUE(Says(
      ProblemsOf({"answers.mode=live", "stage=[{kind='simulator'}]", "simulator.kind=learned"}),
      "a simulator is made that nobody asks"));
  EXPECT_TRUE(Says(ProblemsOf({"stage=[{kind='simulator'}]"}), "but the recipe asks another one"));
  EXPECT_TRUE(Says(ProblemsOf({"stage=[{kind='record'}]"}), "recorded that nobody looks up"));
  EXPECT_EQ(ProblemsOf({"answers.mode=replay", "stage=[{kind='record'}]"}), "")
      << "the journal is still to be made";
}

TEST(TrainingRecipe, ThereMustBeSomethingToDo) {
  EXPECT_TRUE(Says(ProblemsOf({"stage=[]"}), "there is nothing to do"));
  EXPECT_TRUE(Says(ProblemsOf({"stage=[{steps=3}]"}), "kind: is missing"));
  EXPECT_TRUE(Says(ProblemsOf({"stage=[{kind='sfft'}]"}), "did you mean \"sft\""));
}

TEST(TrainingRecipe, OnlySomeEnvironmentsHaveATeacher) {
  EXPECT_TRUE(Says(ProblemsOf({"environment={kind='quiz'}", "stage.0.demonstrator=teacher"}),
                   "only desk, service, switchboard and study have a teacher"));
}

}  // namespace
}  // namespace hone
