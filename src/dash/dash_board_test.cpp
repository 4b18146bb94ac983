#include "dash/dash_board.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "support/random_record.h"

namespace hone {
namespace {

constexpr double kLongAfter = 4e9;  // seconds since 1970

// A run with three steps of rl behind ten of imitation, made by hand.
class DashBoardTest : public testing::Test {
 protected:
  void SetUp() override {
    Write("recipe.toml", R"([run]
seed = 3
[credit]
method = "toolpo"
[[stage]]
kind = "sft"
steps = 10
[[stage]]
kind = "rl"
steps = 3
)");
    Write("metrics.jsonl",
          R"({"step":9,"sft/loss":0.5,"time/step":2}
{"step":10,"success":0.25,"trajectories":8,"time/step":1,"dev/sampled":0.4}
{"step":11,"success":0.75,"trajectories":8,"time/step":1}
)");
    TrainingState state;
    state.step = 12;
    state.stage = 1;
    state.best = 0.4;
    state.best_step = 11;
    state.alarms.push_back(Json::Of({{"step", 1},
                                     {"name", "entropy-eruption"},
                                     {"severity", "warning"},
                                     {"message", "entropy grew"},
                                     {"remedy", ""}}));
    Write("checkpoints/step-12/training.json", DumpJson(state.ToJson()));
    const auto store = *RunStore::Open(run_ / "store.sqlite");
    for (uint64_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(store->AddTree(10 + static_cast<int64_t>(i / 2), RandomRecord(Rng(i))).ok());
    }
  }

  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(run_ / name, text).ok());
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path run_ = directory_.path() / "study/seed-3";
  DashBoard board_{{directory_.path()}};
};

TEST_F(DashBoardTest, TellsOfARunInALine) {
  const Json runs = board_.Runs(kLongAfter);
  ASSERT_EQ(runs.Find("runs")->AsArray().size(), 1u);
  const Json& line = runs.Find("runs")->AsArray()[0];
  EXPECT_EQ(line.Find("id")->AsString(), "study/seed-3");
  EXPECT_EQ(line.Find("group")->AsString(), "study");
  EXPECT_EQ(line.Find("state")->AsString(), "stopped");
  EXPECT_EQ(line.Find("step")->AsInteger(), 12);
  EXPECT_EQ(line.Find("steps")->AsInteger(), 13);
  EXPECT_EQ(line.Find("trajectories")->AsDouble(), 16);
  EXPECT_EQ(line.Find("seconds")->AsDouble(), 4);
  EXPECT_EQ(line.Find("success")->AsDouble(), 0.5);
  EXPECT_EQ(line.Find("dev")->AsDouble(), 0.4);
  EXPECT_EQ(line.Find("alarms")->AsInteger(), 1);
  EXPECT_EQ(DumpJson(*line.Find("spark")), "[0.25,0.75]");
  EXPECT_EQ(line.Find("problem"), nullptr) << line.Find("problem")->AsString();
}

TEST_F(DashBoardTest, ARunIsAtWorkWhileItWritesAndFinishedWithItsResult) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto state = [&](double at) {
    return board_.Run("study/seed-3", at)->Find("state")->AsString();
  };
  EXPECT_EQ(state(now), "running");
  EXPECT_EQ(state(now + 3600), "stopped");
  Write("result.json", R"({"weights": "abc", "step": 13})");
  EXPECT_EQ(state(now), "finished");
}

TEST_F(DashBoardTest, ADamagedResultIsToldAsLongAsItIs) {
  Write("result.json", "{\"weights\"");
  for (int look = 0; look < 2; ++look) {
    const Json run = *board_.Run("study/seed-3", kLongAfter);
    ASSERT_NE(run.Find("problem"), nullptr) << look;
    EXPECT_NE(run.Find("problem")->AsString().find("result.json"), std::string::npos);
  }
  Write("result.json", R"({"weights": "abc", "step": 13})");
  EXPECT_EQ(board_.Run("study/seed-3", kLongAfter)->Find("problem"), nullptr);
}

TEST_F(DashBoardTest, AlarmsStandAtTheStepsOfTheRun) {
  const Json run = *board_.Run("study/seed-3", kLongAfter);
  const Json& alarm = run.Find("alarms")->AsArray()[0];
  EXPECT_EQ(alarm.Find("step")->AsInteger(), 12);  // the second of rl, which begins with 11
  EXPECT_EQ(alarm.Find("name")->AsString(), "entropy-eruption");
  EXPECT_EQ(run.Find("groups")->AsInteger(), 4);
  EXPECT_EQ(run.Find("best")->Find("step")->AsInteger(), 11);
}

TEST_F(DashBoardTest, WhatIsNotThereIsNotFound) {
  for (const char* id : {"", "study", "study/seed-4", "../study/seed-3", "/etc", "study/../x"}) {
    EXPECT_EQ(board_.Run(id, 0).error().code(), ErrorCode::kNotFound) << id;
    EXPECT_EQ(board_.Metrics(id, {}, -1, 0).error().code(), ErrorCode::kNotFound) << id;
    EXPECT_EQ(board_.Groups(id, {}, {}).error().code(), ErrorCode::kNotFound) << id;
  }
  EXPECT_EQ(board_.Group("study/seed-3", 99, "").error().code(), ErrorCode::kNotFound);
}

TEST_F(DashBoardTest, ARunThatBeginsLaterAppears) {
  ASSERT_TRUE(WriteFileAtomic(directory_.path() / "late/recipe.toml", "[run]\nseed = 1\n").ok());
  EXPECT_TRUE(board_.Run("late", kLongAfter).ok());
  EXPECT_EQ(board_.Runs(kLongAfter).Find("runs")->AsArray().size(), 2u);
  EXPECT_TRUE(board_.Groups("late", {}, {})->Find("groups")->AsArray().empty());
}

TEST_F(DashBoardTest, AStoreAloneIsShown) {
  std::filesystem::create_directories(directory_.path() / "recorded");
  std::filesystem::copy_file(run_ / "store.sqlite", directory_.path() / "recorded/store.sqlite");
  const Json run = *board_.Run("recorded", kLongAfter);
  EXPECT_EQ(run.Find("problem"), nullptr);
  EXPECT_EQ(run.Find("groups")->AsInteger(), 4);
  EXPECT_EQ(board_.Group("recorded", 1, "")->Find("trained_with")->AsString(), "");
}

TEST_F(DashBoardTest, GroupsAndTheirCreditAreThere) {
  EXPECT_EQ(board_.Groups("study/seed-3", {}, {})->Find("count")->AsInteger(), 4);
  const Json group = *board_.Group("study/seed-3", 3, "");
  EXPECT_EQ(group.Find("step")->AsInteger(), 12);
  EXPECT_EQ(group.Find("trained_with")->AsString(), "toolpo");
  EXPECT_EQ(board_.Group("study/seed-3", 3, "grpo")->Find("credit")->Find("method")->AsString(),
            "grpo");
}

TEST_F(DashBoardTest, ADamagedStoreIsSaidAndHidesNothingElse) {
  const std::string bytes = *ReadFile(run_ / "store.sqlite");
  std::filesystem::remove(run_ / "store.sqlite-wal");
  std::filesystem::remove(run_ / "store.sqlite-shm");
  Write("store.sqlite", "this is no SQLite file, whatever its name says, by any means.");
  const Json run = *board_.Run("study/seed-3", kLongAfter);
  EXPECT_NE(run.Find("problem")->AsString().find("not a run store"), std::string::npos)
      << run.Find("problem")->AsString();
  EXPECT_EQ(run.Find("success")->AsDouble(), 0.5);
  const Result<Json> groups = board_.Groups("study/seed-3", {}, {});
  ASSERT_FALSE(groups.ok());
  EXPECT_NE(groups.error().message().find("store.sqlite"), std::string::npos);
  // The middle of a page overwritten: SQLite finds it out when it reads there.
  std::string torn = bytes;
  for (size_t i = 4096; i < torn.size(); ++i) torn[i] = '\xff';
  Write("store.sqlite", torn);
  EXPECT_FALSE(board_.Groups("study/seed-3", {}, {}).ok());
  Write("store.sqlite", bytes);
  EXPECT_TRUE(board_.Groups("study/seed-3", {}, {}).ok());
}

TEST_F(DashBoardTest, ReadsWhileSomebodyWritesAndManyAsk) {
  std::atomic<bool> done = false;
  std::thread writer([&] {
    const auto store = *RunStore::Open(run_ / "store.sqlite");
    for (int64_t step = 12; step < 60; ++step) {
      EXPECT_TRUE(store->AddTree(step, RandomRecord(Rng(static_cast<uint64_t>(step)))).ok());
      std::ofstream(run_ / "metrics.jsonl", std::ios::app)
          << "{\"step\":" << step << ",\"success\":0.5}\n";
    }
    done = true;
  });
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      do {
        EXPECT_TRUE(board_.Groups("study/seed-3", {.differing = true}, {}).ok());
        EXPECT_TRUE(board_.Metrics("study/seed-3", {}, -1, 0).ok());
        EXPECT_EQ(board_.Run("study/seed-3", kLongAfter)->Find("problem"), nullptr);
      } while (!done);
    });
  }
  writer.join();
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(board_.Groups("study/seed-3", {}, {})->Find("count")->AsInteger(), 4 + 48);
}

}  // namespace
}  // namespace hone
