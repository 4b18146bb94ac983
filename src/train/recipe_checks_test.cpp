#include "train/recipe_checks.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "credit/methods.h"
#include "support/tiny_recipe.h"
#include "text/bpe_trainer.h"

namespace hone {
namespace {

std::string GroupProblem(const std::string& method, int64_t group) {
  Recipe recipe = Recipe::Parse("[stage]\ngroup = 1\n", "r.toml").value();
  RecipeTable table = recipe.Root().Table("stage");
  int64_t read = 0;
  table.Read("group", &read, "");
  TrainingRecipe whole;
  whole.method = NewMethod(method).value();
  CheckGroup(whole, group, &table);
  const Result<void> finished = recipe.Finish();
  return finished.ok() ? "" : finished.error().message();
}

TEST(RecipeChecks, EveryMethodIsAskedWhetherItComparesSiblings) {
  for (const char* method : {"grpo", "toolpo", "rloo", "dapo", "gigpo"}) {
    EXPECT_NE(GroupProblem(method, 1), "") << method;
    EXPECT_EQ(GroupProblem(method, 2), "") << method;
  }
  EXPECT_EQ(GroupProblem("gae-token", 1), "");
}

std::string ProblemOf(const std::vector<std::string>& overrides) {
  const auto recipe = ReadTiny("/tmp/none", overrides);
  return recipe.ok() ? std::string() : recipe.error().message();
}

TEST(RecipeChecks, AMethodWhoseTermsTheRewardCannotGiveIsRefused) {
  const std::string awpo = ProblemOf({"credit.method=awpo"});
  EXPECT_NE(awpo.find("awpo needs the term preference, which the reward cannot give: it gives "
                      "call, outcome. Presets that do: none;"),
            std::string::npos)
      << awpo;
  EXPECT_NE(awpo.find("Methods that fit this reward: reinforce, grpo"), std::string::npos) << awpo;
  for (const char* method : {"igpo", "stepsearch", "cm2-step", "'grpo:terms=outcome+cal'"}) {
    EXPECT_NE(ProblemOf({std::string("credit.method=") + method}).find("cannot give"),
              std::string::npos)
        << method;
  }
  const std::string toolpo = ProblemOf({"rewards.preset=outcome"});
  EXPECT_NE(toolpo.find("toolpo needs one of the terms call, when"), std::string::npos) << toolpo;
  EXPECT_NE(toolpo.find("Presets that do: default, toolpo, desk"), std::string::npos) << toolpo;
  EXPECT_NE(ProblemOf({"rewards.preset=call-f1", "credit.method=grpo"}).find("the term outcome"),
            std::string::npos);
  EXPECT_EQ(ProblemOf({"rewards.preset=call-f1", "credit.method='grpo:terms=call'"}), "");
  EXPECT_EQ(ProblemOf({"rewards={command=['cat']}"}), "") << "a program names its terms itself";
  EXPECT_NE(ProblemOf({"rewards={command=['cat'], terms=['outcome']}"}).find("cannot give"),
            std::string::npos);
}

TEST(RecipeChecks, SettingsThatCanDoNothingAreProblems) {
  const auto problem = ProblemOf;
  EXPECT_EQ(problem({"credit.method=remax"}), "") << "training draws a greedy trajectory";
  EXPECT_NE(problem({"credit.method=remax", "rollout.strategy=arpo"}).find("only \"chains\" draws"),
            std::string::npos);
  const std::string kl = "objective.kl={coefficient=0.1, place='reward'}";
  EXPECT_NE(problem({"credit.method=grpo", kl}).find("which grpo does not read"),
            std::string::npos);
  EXPECT_EQ(problem({"credit.method='grpo:terms=outcome+kl'", kl}), "");
  EXPECT_EQ(problem({"credit.method=gae-token", "objective.value.coefficient=0.5", kl}), "");
  EXPECT_EQ(problem({"credit.method=grpo", "objective.kl={coefficient=0.1}"}), "");
  EXPECT_EQ(problem({"credit.method='simpletir:least_deviation=0.8'"}), "")
      << "rewards may be large";
}

TEST(RecipeChecks, DynamicSamplingNeedsGroupsThatCanDiffer) {
  const std::vector<std::string> alone = {"credit.method=reinforce", "stage.1.group=1"};
  EXPECT_EQ(ProblemOf(alone), "");
  EXPECT_NE(ProblemOf({alone[0], alone[1], "dynamic_sampling.on=true"})
                .find("dynamic_sampling keeps groups whose rewards differ"),
            std::string::npos);
}

TEST(RecipeChecks, NoMethodDropsWhatTrainingDraws) {
  for (const std::string& method : MethodNames()) {
    const auto recipe = ReadTiny("/tmp/none", {"credit.method='" + method + "'"});
    const std::string problem = recipe.ok() ? "" : recipe.error().message();
    EXPECT_EQ(problem.find("would drop every group"), std::string::npos)
        << method << ": " << problem;
  }
}

TEST(RecipeChecks, AModelMustSpeakTheDialect) {
  const TemporaryDirectory folder;
  ModelConfig config;
  config.vocab = 300;
  config.max_positions = 64;
  Model model = NewModel(config);
  InitializeModel(1, &model);
  ASSERT_TRUE(SaveModel(model, SaveType::kF32, folder.path()).ok());
  const Tokenizer plain = TrainBpe({"abc"}, {.vocab_size = 260}).value();
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "tokenizer.json", plain.ToJson()).ok());
  const std::string named = "model={folder='" + folder.path().string() + "', dialect='hermes'}";
  const auto recipe = ReadTiny("/tmp/none", {named});
  ASSERT_FALSE(recipe.ok());
  EXPECT_NE(recipe.error().message().find("does not have <|"), std::string::npos)
      << recipe.error().message();
  // All problems at once, whatever they are about.
  const auto worse = ReadTiny(
      "/tmp/none", {named, "stage.1.group=1", "environment.rules.context_tokens=100",
                    "rollout.turn_tokens=65", "answers.recorded=nowhere.sqlite", "run.sed=3"});
  ASSERT_FALSE(worse.ok());
  for (const char* part :
       {"does not have <|", "a group of 1 has nobody", "rules.context_tokens of 100 is more",
        "65 tokens do not fit the model's context of 64", "there is no journal", "\"seed\""}) {
    EXPECT_NE(worse.error().message().find(part), std::string::npos) << part << "\n"
                                                                     << worse.error().message();
  }
  PolicyModelOptions settings;
  settings.folder = folder.path().string();
  EXPECT_EQ(PositionsOf(settings), 64);
  settings.folder = "/nowhere";
  EXPECT_EQ(PositionsOf(settings), 0);
}

TEST(RecipeChecks, TermsThatSettingsNameAreThoseOfTheReward) {
  const std::string problem = ProblemOf({"rewards.normalise={scale=true, terms=['outcomes']}"});
  EXPECT_NE(problem.find("the reward gives no term \"outcomes\""), std::string::npos) << problem;
  EXPECT_EQ(ProblemOf({"rewards.normalise={scale=true, terms=['outcome']}"}), "");
  EXPECT_NE(ProblemOf({"rewards.normalise.terms=['outcome']"}), "") << "nothing is done to them";
  EXPECT_NE(ProblemOf({"dynamic_sampling={on=true, metric='acc'}"}), "");
  for (const char* metric : {"total", "success", "outcome"}) {
    EXPECT_EQ(ProblemOf({"dynamic_sampling={on=true, metric='" + std::string(metric) + "'}"}), "");
  }
  const std::string phase = "curriculum={order='phases', phase=[{rewards=['calls=2']}]}";
  EXPECT_NE(ProblemOf({phase}).find("the reward gives no term \"calls\""), std::string::npos);
}

constexpr char kEndpoint[] = "policy={kind='endpoint', url='http://127.0.0.1:8000/v1'}";

TEST(RecipeChecks, WhatAnEndpointCannotDrawIsRefusedWithASentence) {
  EXPECT_EQ(ProblemOf({kEndpoint}), "");
  EXPECT_EQ(ProblemOf({kEndpoint, "objective.correction.kind=truncate"}), "");
  const auto expect = [](const std::vector<std::string>& more, const std::string& part) {
    std::vector<std::string> overrides = {kEndpoint};
    overrides.insert(overrides.end(), more.begin(), more.end());
    const std::string problem = ProblemOf(overrides);
    EXPECT_NE(problem.find(part), std::string::npos) << problem;
  };
  expect({"rollout.ahead=1"}, "rollout.ahead: is of the run's own engines so far");
  expect({"rollout.thought_tokens=5"}, "rollout.thought_tokens: is of turns that the run's own");
  expect({"rollout.top_k=5"}, "rollout.top_k: an endpoint does not say which tokens");
  expect({"rollout.top_k=5", "rollout.top_p=0.9"}, "does not say which tokens");
  expect({"rollout.strategy=arpo"}, "arpo branches by entropies");
  expect({"replay.on=true"}, "replay: is of what the run's own engine drew");
  EXPECT_NE(ProblemOf({"policy.kind=endpoint"}).find("policy.url: says where the server is"),
            std::string::npos);
  EXPECT_NE(ProblemOf({"policy={kind='endpoint', url='localhost'}"}).find("http://"),
            std::string::npos);
  Recipe imitates = Recipe::Parse(TinyRecipe("/tmp/none"), "tiny.toml").value();
  imitates.Override(kEndpoint);
  imitates.Override("stage=[{kind='sft', steps=3}]");
  const auto nobody = ReadTrainingRecipe(&imitates);
  ASSERT_FALSE(nobody.ok());
  EXPECT_NE(nobody.error().message().find("no [[stage]] practises"), std::string::npos)
      << nobody.error().message();
}

TEST(RecipeChecks, WhereAnEndpointIsIsNoPartOfWhatARunIs) {
  const Json said = ReadTiny("/tmp/none", {kEndpoint}).value().said;
  EXPECT_EQ(said, ReadTiny("/tmp/none", {"policy={kind='endpoint', url='https://far/v1', "
                                         "concurrent=3, deadline=9, retries=1, model='m'}"})
                      .value()
                      .said);
  EXPECT_NE(said, ReadTiny("/tmp/none", {kEndpoint, "policy.push=never"}).value().said);
  const Json here = ReadTiny("/tmp/none").value().said;
  EXPECT_NE(said, here);
  EXPECT_EQ(here, ReadTiny("/tmp/none", {kEndpoint, "policy.kind=engine"}).value().said)
      << "what is said of the server waits";
}

}  // namespace
}  // namespace hone
