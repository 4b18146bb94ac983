#include "train/stages/preference_stage.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/stop_after.h"
#include "support/tiny_recipe.h"
#include "train/trainer.h"

namespace hone {
namespace {

// A right answer is preferred to a wrong one, on five questions.
std::string Pairs() {
  std::string text;
  for (const char* day : {"Mon", "Tue", "Wed", "Thu", "Fri"}) {
    text += DumpJson(Json::Of({{"prompt", std::string("What day is it after ") + day + "?"},
                               {"chosen", day},
                               {"rejected", "noon"}})) +
            "\n";
  }
  return text;
}

class PreferenceStageTest : public testing::Test {
 protected:
  // Imitation, then preferences of `file` in the place of rl.
  std::string RecipeText(const std::filesystem::path& file, const std::filesystem::path& out) {
    std::string text = TinyRecipe(out);
    text.resize(text.rfind("[[stage]]"));
    return text + "[[stage]]\nkind = \"preference\"\ndata = [\"" + file.string() +
           "\"]\nbatch = 2\nepochs = 8\nlearning_rate = 0.003\nwarmup = 0\n";
  }
  std::string RecipeText(const std::filesystem::path& file) {
    return RecipeText(file, directory_.path());
  }
  Result<TrainingRecipe> Read(const std::string& text) {
    Recipe recipe = Recipe::Parse(text, "tiny.toml").value();
    return ReadTrainingRecipe(&recipe);
  }
  std::filesystem::path Write(const std::string& pairs) {
    const std::filesystem::path file = directory_.path() / "pairs.jsonl";
    EXPECT_TRUE(WriteFileAtomic(file, pairs).ok());
    return file;
  }

  const TemporaryDirectory directory_;
};

struct Watch final : TrainObserver {
  void OnStep(const StepReport& step) override {
    const auto loss = step.values.find("preference/loss");
    if (loss == step.values.end()) return;
    losses.push_back(loss->second);
    accuracy = step.values.at("preference/accuracy");
  }
  double accuracy = 0;
  std::vector<double> losses;
};

TEST_F(PreferenceStageTest, AWholeRunPrefersWhatIsChosen) {
  std::string text = RecipeText(Write(Pairs()));
  const std::string some = "log_every = 20";
  text.replace(text.find(some), some.size(), "log_every = 1");
  const auto recipe = Read(text);
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  EXPECT_EQ(recipe->stages[1]->size().steps, 20) << "eight times five pairs, two a step";
  Watch watch;
  const auto report = Train(*recipe, {.observer = &watch});
  ASSERT_TRUE(report.ok()) << report.error().message();
  ASSERT_EQ(watch.losses.size(), 20u);
  EXPECT_NEAR(watch.losses.front(), 0.6931, 1e-3) << "the policy is its own reference";
  EXPECT_LT(watch.losses.back(), 0.5);
  EXPECT_EQ(watch.accuracy, 1);
}

TEST_F(PreferenceStageTest, StoppedAgainAndAgainItEndsWithTheSameWeights) {
  const std::filesystem::path pairs = Write(Pairs());
  const TemporaryDirectory one, two;
  const auto whole = Train(*Read(RecipeText(pairs, one.path())), {});
  ASSERT_TRUE(whole.ok()) << whole.error().message();
  int interruptions = 0;
  Result<TrainReport> report = Error(ErrorCode::kStopped, "");
  while (!report.ok()) {
    report = Train(*Read(RecipeText(pairs, two.path())), StopAfter(7).options());
    if (report.ok()) break;
    ASSERT_EQ(report.error().code(), ErrorCode::kStopped) << report.error().message();
    ASSERT_LT(++interruptions, 100);
  }
  EXPECT_GT(interruptions, 3);
  EXPECT_EQ(report->weights, whole->weights);
}

TEST_F(PreferenceStageTest, WhatIsWrongWithPairsIsAProblemOfTheRecipe) {
  const auto bad = [&](const std::string& text, const char* part) {
    const auto recipe = Read(text);
    ASSERT_FALSE(recipe.ok());
    EXPECT_NE(recipe.error().message().find(part), std::string::npos) << recipe.error().message();
  };
  bad(RecipeText(Write("{\"prompt\": \"q\", \"chosen\": \"a\"}\n")),
      "pairs.jsonl:1: rejected: is missing");
  bad(RecipeText("/nowhere/pairs.jsonl"), "/nowhere/pairs.jsonl");
  std::string first = RecipeText(Write(Pairs()));
  const size_t sft = first.find("[[stage]]");
  first.erase(sft, first.find("[[stage]]", sft + 1) - sft);
  bad(first, "put a stage sft before it");
}

}  // namespace
}  // namespace hone
