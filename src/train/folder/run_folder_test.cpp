#include "train/folder/run_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "support/planted.h"
#include "support/tiny_training.h"
#include "text/bpe_trainer.h"

namespace hone {
namespace {

class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest()
      : engine_(TinyModel(), {.threads = 1}), tokenizer_(*TrainBpe({"a"}, {.vocab_size = 256})) {}

  void SaveAt(RunFolder* folder, int64_t step, int64_t keep, std::optional<int64_t> best = {}) {
    TrainingState state;
    state.step = step;
    if (best) state.best = 0.5;
    state.best_step = best.value_or(0);
    ASSERT_TRUE(folder->Save(engine_, tokenizer_, state, keep).ok());
  }

  const TemporaryDirectory directory_;
  Engine engine_;
  Tokenizer tokenizer_;
};

TEST_F(RunFolderTest, KeepsTheNewestCheckpointsAndTheBest) {
  const auto folder = RunFolder::Open(directory_.path() / "run").value();
  for (const int64_t step : {1, 2, 3, 10}) SaveAt(folder.get(), step, 2, 2);
  EXPECT_EQ(folder->Checkpoints(), (std::vector<int64_t>{2, 3, 10}));
  const auto engine = Engine::Load(folder->CheckpointPath(10), {.threads = 1});
  ASSERT_TRUE(engine.ok()) << engine.error().message();
  EXPECT_EQ((*engine)->WeightsHash(), engine_.WeightsHash());
  EXPECT_EQ(ReadTrainingState(folder->CheckpointPath(10))->best_step, 2);
}

TEST_F(RunFolderTest, TheStateComesBackAsItWas) {
  TrainingState state;
  state.stage = 1;
  state.stage_step = 7;
  state.step = 107;
  state.stage_state = Json::Of({{"a", 1}});
  state.totals.Set("x", 2.5);
  state.best = 0.75;
  state.best_step = 100;
  const Result<TrainingState> again = TrainingState::FromJson(state.ToJson());
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->ToJson(), state.ToJson());
  Json incomplete = state.ToJson();
  incomplete.Set("version", 99);
  EXPECT_EQ(TrainingState::FromJson(incomplete).error().code(), ErrorCode::kVersion);
  EXPECT_FALSE(TrainingState::FromJson(Json::Of({{"format", "hone-training"}})).ok());
}

TEST_F(RunFolderTest, AStateFromBeforeAlarmsWereKeptIsRead) {
  TrainingState state;
  state.step = 7;
  state.alarms.push_back(Json::Of({{"step", 3}, {"name", "entropy"}}));
  const Json whole = state.ToJson();
  EXPECT_EQ(TrainingState::FromJson(whole)->alarms, state.alarms);
  Json::Object older;
  for (const auto& [key, value] : whole.AsObject()) {
    if (key != "alarms") older.emplace_back(key, value);
  }
  const Result<TrainingState> read = TrainingState::FromJson(Json(std::move(older)));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->step, 7);
  EXPECT_TRUE(read->alarms.empty());
}

TEST_F(RunFolderTest, WhatAKillLeftHalfWrittenIsCleanedUp) {
  const auto path = directory_.path() / "run";
  {
    const auto folder = RunFolder::Open(path).value();
    SaveAt(folder.get(), 5, 2);
    std::filesystem::create_directories(path / "checkpoints/unfinished.writing");
    std::filesystem::create_directories(path / "checkpoints/old");
  }
  const auto folder = RunFolder::Open(path).value();
  EXPECT_EQ(folder->Checkpoints(), std::vector<int64_t>{5});
  EXPECT_FALSE(std::filesystem::exists(path / "checkpoints/unfinished.writing"));
  EXPECT_FALSE(std::filesystem::exists(path / "checkpoints/old"));
}

TEST_F(RunFolderTest, ADamagedCheckpointIsPutAsideAndAnOlderSoundOneTaken) {
  const auto path = directory_.path() / "run";
  const auto folder = RunFolder::Open(path).value();
  std::string notes;
  const auto note = [&](std::string_view text) { notes += text; };
  EXPECT_EQ(*folder->NewestSound(note), std::filesystem::path()) << "there is none";
  for (const int64_t step : {5, 6, 7}) SaveAt(folder.get(), step, 3);
  EXPECT_EQ(*folder->NewestSound(note), folder->CheckpointPath(7));
  EXPECT_EQ(notes, "");
  FlipBit(folder->CheckpointPath(7) / "training_state.safetensors", 9, 3);
  std::filesystem::resize_file(folder->CheckpointPath(6) / "model.safetensors", 100);
  std::filesystem::create_directories(folder->CheckpointPath(999));
  EXPECT_EQ(*folder->NewestSound(note), folder->CheckpointPath(5));
  EXPECT_EQ(folder->Checkpoints(), std::vector<int64_t>{5});
  for (const char* said : {"step-7/training_state.safetensors is damaged", "damaged/step-7",
                           "damaged/step-6", "damaged/step-999"}) {
    EXPECT_NE(notes.find(said), std::string::npos) << said << " in " << notes;
  }
  EXPECT_TRUE(std::filesystem::exists(path / "damaged/step-7/training_state.safetensors"));
}

TEST_F(RunFolderTest, WhereNoCheckpointIsSoundTheErrorSaysWhatToRemove) {
  const auto folder = RunFolder::Open(directory_.path() / "run").value();
  SaveAt(folder.get(), 5, 2);
  FlipBit(folder->CheckpointPath(5) / "tokenizer.json", 9, 3);
  const auto none = folder->NewestSound([](std::string_view) {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(none.error().message().find("step-5/tokenizer.json is damaged"), std::string::npos);
  EXPECT_NE(none.error().message().find("remove " + (folder->path() / "checkpoints").string()),
            std::string::npos);
  EXPECT_EQ(folder->Checkpoints(), std::vector<int64_t>{5}) << "nothing is moved";
}

TEST_F(RunFolderTest, CheckpointsFromBeforeThereWereChecksumsAreReadUnlessTheyAreCutOff) {
  const auto folder = RunFolder::Open(directory_.path() / "run").value();
  for (const int64_t step : {5, 6}) {
    SaveAt(folder.get(), step, 2);
    std::filesystem::remove(folder->CheckpointPath(step) / "checksums.json");
  }
  const auto note = [](std::string_view) {};
  EXPECT_EQ(*folder->NewestSound(note), folder->CheckpointPath(6));
  std::filesystem::resize_file(folder->CheckpointPath(6) / "training_state.safetensors", 5000);
  EXPECT_EQ(*folder->NewestSound(note), folder->CheckpointPath(5));
}

TEST_F(RunFolderTest, HasOneOwnerAtATime) {
  auto folder = RunFolder::Open(directory_.path() / "run").value();
  const auto second = RunFolder::Open(directory_.path() / "run");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), ErrorCode::kUnavailable);
  folder.reset();
  EXPECT_TRUE(RunFolder::Open(directory_.path() / "run").ok());
}

TEST_F(RunFolderTest, TheLogForgetsStepsThatAreDoneAgain) {
  {
    const auto log = RunLog::Open(directory_.path(), 0).value();
    for (int64_t step = 0; step < 4; ++step) {
      ASSERT_TRUE(log->Add(1, step, {{"loss", static_cast<double>(step)}}, {}).ok());
    }
    std::ofstream(directory_.path() / "metrics.jsonl", std::ios::app) << "{\"step\": 1, \"lo";
  }
  const auto log = RunLog::Open(directory_.path(), 2).value();
  ASSERT_TRUE(log->Add(2, 2, {{"loss", 20}}, {}).ok());
  EXPECT_EQ(*ReadFile(directory_.path() / "metrics.jsonl"),
            "{\"step\":0,\"loss\":0.0}\n{\"step\":1,\"loss\":1.0}\n{\"step\":2,\"loss\":20.0}\n");
  const auto store = RunStore::OpenForReading(directory_.path() / "store.sqlite").value();
  EXPECT_EQ(*store->ReadMetric("loss"), (std::map<int64_t, double>{{0, 0}, {1, 1}, {2, 20}}));
}

TEST_F(RunFolderTest, LinesOfTheLogThatCannotBeReadAreKeptAsideAndSpokenOf) {
  const std::string damaged = "{\"step\":0,\"loss\":0.0}\n{\"st\x01p\":1}\n{\"step\":2}\n{\"st";
  ASSERT_TRUE(WriteFileAtomic(directory_.path() / "metrics.jsonl", damaged).ok());
  std::string notes;
  const auto note = [&](std::string_view text) { notes += text; };
  ASSERT_TRUE(RunLog::Open(directory_.path(), 9, note).ok());
  EXPECT_NE(notes.find("1 of its lines cannot be read"), std::string::npos) << notes;
  EXPECT_EQ(*ReadFile(directory_.path() / "metrics.jsonl.damaged"), damaged);
  EXPECT_EQ(*ReadFile(directory_.path() / "metrics.jsonl"),
            "{\"step\":0,\"loss\":0.0}\n{\"step\":2}\n");
  notes.clear();
  ASSERT_TRUE(RunLog::Open(directory_.path(), 1, note).ok());
  EXPECT_EQ(notes, "") << "steps that are done again are nothing to speak of";
}

}  // namespace
}  // namespace hone
