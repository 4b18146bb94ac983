#include "train/stages/sft_data.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "support/stop_after.h"
#include "support/weather_chats.h"
#include "train/recipe_identity.h"
#include "train/trainer.h"

namespace hone {
namespace {

class SftDataTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / "chats.jsonl", WeatherChats(40)).ok());
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / "sft.toml", R"([run]
name = "sft"
threads = 1
log_every = 5
sft_save_every = 3
[model]
dialect = "hermes"
[model.fresh]
layers = 1
width = 32
heads = 2
positions = 128
[model.tokenizer]
vocabulary = 400
min_frequency = 2
[[stage]]
kind = "sft"
data = ["chats.jsonl"]
held_out = 0.1
epochs = 4
batch = 8
learning_rate = 0.02
warmup = 2
)")
                    .ok());
  }
  Result<TrainingRecipe> Read(std::vector<std::string> overrides = {}) {
    Recipe recipe = Recipe::Load(folder_.path() / "sft.toml").value();
    overrides.push_back("run.out=" + (folder_.path() / "runs").string());
    for (const std::string& one : overrides) recipe.Override(one);
    return ReadTrainingRecipe(&recipe);
  }
  const TemporaryDirectory folder_;
};

class Values final : public TrainObserver {
 public:
  void OnStep(const StepReport& step) override { last = step.values; }
  void OnNote(std::string_view note) override { notes += std::string(note) + "\n"; }
  StepValues last;
  std::string notes;
};

// No environment, no demonstrations: the tokenizer, too, is made from the conversations.
TEST_F(SftDataTest, AModelIsMadeFromConversationsAlone) {
  const TrainingRecipe recipe = Read().value();
  const ConversationMixture& rows = *recipe.stages[0]->conversations();
  const auto held_out = std::ssize(rows.held_out());
  ASSERT_GT(held_out, 0);
  ASSERT_EQ(static_cast<int64_t>(rows.epoch()) + held_out, 40);
  // 4 epochs, 8 at a time.
  EXPECT_EQ(recipe.stages[0]->size().steps, (4 * static_cast<int64_t>(rows.epoch()) + 7) / 8);
  Values values;
  const auto report = Train(recipe, {.observer = &values});
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_NE(values.notes.find(fmt::format("{} conversations", rows.epoch())), std::string::npos);
  EXPECT_NE(values.notes.find(fmt::format("{} held out", held_out)), std::string::npos);
  EXPECT_LT(values.last.at("sft/loss"), 2.5);
  EXPECT_LT(values.last.at("held_out/loss"), 2.5);
  EXPECT_EQ(values.last.at("held_out/calling_turns"), static_cast<double>(held_out));
  EXPECT_FALSE(values.last.contains("sft/other_loss"));
}

// Pretraining: texts are cut at the context, and every kind of text has a curve of its own.
TEST_F(SftDataTest, AModelIsMadeFromTextsAndEveryFileIsMeasured) {
  std::string texts;
  for (int i = 0; i < 40; ++i) {
    std::string text;
    for (int j = 0; j < 30; ++j) text += fmt::format("{} and {} follow. ", i + j, i + j + 1);
    texts += DumpJson(Json::Of({{"text", text}})) + "\n";
  }
  ASSERT_TRUE(WriteFileAtomic(folder_.path() / "counting.jsonl", texts).ok());
  const TrainingRecipe recipe =
      Read({"stage.0.data=['" + (folder_.path() / "chats.jsonl").string() + "', '" +
            (folder_.path() / "counting.jsonl").string() + "']"})
          .value();
  Values values;
  const auto report = Train(recipe, {.observer = &values});
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_LT(values.last.at("held_out/counting/loss"), 3);
  EXPECT_LT(values.last.at("held_out/counting/bits_per_byte"), 3);
  EXPECT_GT(values.last.at("held_out/counting/bits_per_byte"), 0);
  EXPECT_FALSE(values.last.contains("held_out/counting/tools"));
  EXPECT_GT(values.last.at("held_out/chats/calling_turns"), 0);
  EXPECT_EQ(values.last.at("held_out/chats/tools"), values.last.at("held_out/tools"));
}

TEST_F(SftDataTest, AnInterruptedRunEndsWithTheSameWeights) {
  const auto whole =
      Train(Read({"run.name=whole", "run.cache=" + (folder_.path() / "a").string()}).value(), {});
  ASSERT_TRUE(whole.ok()) << whole.error().message();
  const auto again = [&] {
    return Read({"run.name=cut", "run.cache=" + (folder_.path() / "b").string()}).value();
  };
  StopAfter stop(7);
  EXPECT_EQ(Train(again(), stop.options()).error().code(), ErrorCode::kStopped);
  EXPECT_EQ(Train(again(), {})->weights, whole->weights);
}

// What is in the files is part of what a run is, not where they lie.
TEST_F(SftDataTest, OtherRowsAreAnotherRun) {
  const std::string before = RecipeHash(Read().value());
  EXPECT_EQ(RecipeHash(Read({"run.name=other"}).value()), before);
  ASSERT_TRUE(WriteFileAtomic(folder_.path() / "chats.jsonl", WeatherChats(12)).ok());
  EXPECT_NE(RecipeHash(Read().value()), before);
}

TEST_F(SftDataTest, ProblemsOfRowsAreProblemsOfTheRecipe) {
  ASSERT_TRUE(
      WriteFileAtomic(folder_.path() / "chats.jsonl", WeatherChats(2) + "{\"a\": 1}\n").ok());
  const auto recipe = Read({"stage.0.weights=[1, 2]"});
  ASSERT_FALSE(recipe.ok());
  EXPECT_NE(recipe.error().message().find("weights"), std::string::npos);
  const auto rows = Read();
  ASSERT_FALSE(rows.ok());
  EXPECT_NE(rows.error().message().find("chats.jsonl:3: "), std::string::npos)
      << rows.error().message();
}

TEST_F(SftDataTest, WhatIsTooLongIsNamedOrLeftOut) {
  std::string longer = WeatherChats(2);
  longer.insert(longer.find("now"), std::string(400, '9'));
  ASSERT_TRUE(WriteFileAtomic(folder_.path() / "long.jsonl", longer).ok());
  const std::string data = "stage.0.data=['" + (folder_.path() / "chats.jsonl").string() + "', '" +
                           (folder_.path() / "long.jsonl").string() + "']";
  const auto refused = Train(Read({data, "run.name=long"}).value(), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("long.jsonl:1: has "), std::string::npos)
      << refused.error().message();
  Values values;
  const auto skipped =
      Train(Read({data, "run.name=skip", "stage.0.too_long=skip"}).value(), {.observer = &values});
  ASSERT_TRUE(skipped.ok()) << skipped.error().message();
  EXPECT_NE(values.notes.find("1 are too long and left out"), std::string::npos) << values.notes;
}

TEST_F(SftDataTest, WithoutDataAndEnvironmentThereIsNothingToImitate) {
  const auto recipe = Read({"stage.0.data=[]"});
  ASSERT_FALSE(recipe.ok());
  EXPECT_NE(recipe.error().message().find("nothing to imitate"), std::string::npos)
      << recipe.error().message();
}

// The folder of a run that is carried elsewhere has all that it takes to act and to go on.
TEST_F(SftDataTest, ARunGoesOnInAnotherFolderWithoutItsOrigin) {
  const TrainingRecipe recipe = Read({"run.cache=" + (folder_.path() / "c").string()}).value();
  StopAfter stop(7);
  EXPECT_EQ(Train(recipe, stop.options()).error().code(), ErrorCode::kStopped);
  const TemporaryDirectory elsewhere;
  std::filesystem::copy(folder_.path() / "runs/sft", elsewhere.path() / "moved",
                        std::filesystem::copy_options::recursive);
  const auto whole = Train(recipe, {});
  ASSERT_TRUE(whole.ok());
  std::filesystem::remove(folder_.path() / "chats.jsonl");
  Recipe moved = Recipe::Load(elsewhere.path() / "moved/recipe.toml").value();
  moved.Override("run.out=" + elsewhere.path().string());
  moved.Override("run.name=moved");
  moved.Override("run.cache=" + (elsewhere.path() / "cache").string());
  const auto read = ReadTrainingRecipe(&moved);
  ASSERT_TRUE(read.ok()) << read.error().message();
  const auto gone_on = Train(*read, {});
  ASSERT_TRUE(gone_on.ok()) << gone_on.error().message();
  EXPECT_EQ(gone_on->weights, whole->weights);
}

TEST_F(SftDataTest, AFolderInWhichNothingWasComputedIsTakenOver) {
  // It fails before its first step.
  EXPECT_FALSE(Train(Read({"model.fresh.positions=16"}).value(), {}).ok());
  Values values;
  const auto report = Train(Read().value(), {.observer = &values});
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_NE(values.notes.find("nothing had been computed"), std::string::npos) << values.notes;
  // One that has a checkpoint is not.
  EXPECT_NE(Train(Read({"run.seed=9"}).value(), {}).error().message().find("another recipe"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
