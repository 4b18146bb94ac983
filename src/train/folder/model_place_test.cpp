#include "train/folder/model_place.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/planted.h"
#include "support/tiny_training.h"
#include "train/folder/checksums.h"
#include "train/folder/run_folder.h"

namespace hone {
namespace {

class ModelPlaceTest : public testing::Test {
 protected:
  void Write(const std::filesystem::path& file, const std::string& text = "{}") {
    std::filesystem::create_directories((directory_.path() / file).parent_path());
    ASSERT_TRUE(WriteFileAtomic(directory_.path() / file, text).ok());
  }
  void WriteRun(const std::vector<int64_t>& steps, std::optional<double> best, int64_t best_step) {
    Write("run/recipe.toml", "");
    for (const int64_t step : steps) {
      TrainingState state;
      state.step = step;
      state.best = best;
      state.best_step = best_step;
      const std::string folder = "run/checkpoints/step-" + std::to_string(step);
      Write(folder + "/config.json");
      Write(folder + "/training.json", DumpJson(state.ToJson()));
    }
  }
  Result<ModelPlace> Find(const std::string& name, const std::string& which = "last") {
    return FindModel(directory_.path() / name, which);
  }
  void ExpectError(const std::string& name, const std::string& which, const std::string& part) {
    const Result<ModelPlace> found = Find(name, which);
    ASSERT_FALSE(found.ok());
    EXPECT_NE(found.error().message().find(part), std::string::npos) << found.error().message();
  }

  const TemporaryDirectory directory_;
};

TEST_F(ModelPlaceTest, ARunIsItsLastOrBestOrAnyCheckpoint) {
  WriteRun({9, 20, 100}, 0.5, 20);
  const std::filesystem::path steps = directory_.path() / "run/checkpoints";
  EXPECT_EQ(Find("run")->folder, steps / "step-100") << "by number, not by letters";
  EXPECT_EQ(Find("run", "best")->folder, steps / "step-20");
  EXPECT_EQ(Find("run", "9")->folder, steps / "step-9");
  EXPECT_EQ(Find("run")->run, directory_.path() / "run");
  ExpectError("run", "10", "there are last, best, 9, 20, 100");
}

TEST_F(ModelPlaceTest, ACheckpointKnowsItsRunAndAnotherModelHasNone) {
  WriteRun({9}, std::nullopt, 0);
  const auto checkpoint = Find("run/checkpoints/step-9");
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_EQ(checkpoint->run, std::filesystem::canonical(directory_.path() / "run"));
  Write("model/config.json");
  EXPECT_EQ(Find("model")->run, "");
}

TEST_F(ModelPlaceTest, WhatIsNoModelIsSaid) {
  ExpectError("nowhere", "last", "there is no folder");
  ExpectError("models/stories15M", "last", "get the model: hone model get stories15M");
  Write("empty/notes.txt");
  ExpectError("empty", "last", "neither a run nor a model");
  WriteRun({}, std::nullopt, 0);
  ExpectError("run", "last", "no checkpoint yet");
  WriteRun({4}, std::nullopt, 0);
  ExpectError("run", "best", "not evaluated on dev");
}

TEST_F(ModelPlaceTest, WhoseModelIsKnownByNameIsToldItsCommand) {
  EXPECT_EQ(HowToGetModel("../models/MiniMind2-Small"),
            "get the model: hone model get MiniMind2-Small");
  EXPECT_EQ(HowToGetModel("models/stories15M/"), "get the model: hone model get stories15M");
  EXPECT_EQ(HowToGetModel("/tmp/stories15M"),
            "get the model: hone model get stories15M --to /tmp/stories15M");
  EXPECT_NE(HowToGetModel("models/mine").find("--local-dir models/mine) or make a small one"),
            std::string::npos);
}

TEST_F(ModelPlaceTest, ADamagedModelIsNotOpenedUnlessItsOwnerSaysItIsMeant) {
  const std::filesystem::path folder = directory_.path() / "model";
  ASSERT_TRUE(Engine(TinyModel(), {.threads = 1}).Save(folder, SaveType::kF32).ok());
  ASSERT_TRUE(WriteChecksums(folder).ok());
  EXPECT_TRUE(OpenModel(folder, {.threads = 1}).ok());
  FlipBit(folder / "training_state.safetensors", 9, 3);
  const auto damaged = OpenModel(folder, {.threads = 1});
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().code(), ErrorCode::kCorrupt);
  EXPECT_NE(damaged.error().message().find("remove checksums.json"), std::string::npos);
  std::filesystem::remove(folder / "checksums.json");
  EXPECT_TRUE(OpenModel(folder, {.threads = 1}).ok());
}

}  // namespace
}  // namespace hone
