// One run in several processes, which mpirun starts.

#include "program.h"
#include "support/mpi_runs.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

class ProcessesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasMpirun()) GTEST_SKIP() << "there is no mpirun (apt-get install openmpi-bin)";
  }
  // A recipe whose runs lie in a folder of this name.
  std::vector<std::string> Train(const std::string& name) {
    const std::filesystem::path file = directory_.path() / (name + ".toml");
    EXPECT_TRUE(WriteFileAtomic(file, TinyRecipe(directory_.path() / name)).ok());
    return {"train", file.string(), "stage.0.slices=4", "stage.1.slices=4", "--json"};
  }
  std::string Alone() {
    const SubprocessResult alone = Hone(Train("alone"));
    EXPECT_EQ(alone.exit_code, 0) << alone.standard_error;
    return WeightsIn(alone.standard_output);
  }

  const TemporaryDirectory directory_;
};

TEST_F(ProcessesTest, GiveTheWeightsOfOneAndOneOfThemTalks) {
  const std::string alone = Alone();
  ASSERT_EQ(alone.size(), 64u);
  for (const int processes : {2, 4}) {
    const SubprocessResult run = RunIn(processes, Train("in-" + std::to_string(processes)));
    EXPECT_EQ(run.exit_code, 0) << run.standard_error;
    EXPECT_EQ(WeightsIn(run.standard_output), alone);
    size_t ends = 0;
    for (size_t at = 0;
         (at = run.standard_output.find("\"event\":\"end\"", at)) != std::string::npos; ++at) {
      ++ends;
    }
    EXPECT_EQ(ends, 1u) << run.standard_output;
    EXPECT_NE(run.standard_output.find("process/1/rollout"), std::string::npos);
  }
}

TEST_F(ProcessesTest, AlsoWithMpich) {
  if (!HasLauncher(kMpich)) GTEST_SKIP() << "there is no mpirun.mpich (apt-get install mpich)";
  const SubprocessResult run = RunIn(3, Train("mpich"), kMpich);
  EXPECT_EQ(run.exit_code, 0) << run.standard_error;
  EXPECT_EQ(WeightsIn(run.standard_output), Alone());
}

TEST_F(ProcessesTest, KilledTheyGoOnInAnyNumber) {
  const std::string alone = Alone();
  Rng rng(static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  EXPECT_EQ(KillAndFinishIn(Train("killed"), 4, std::chrono::milliseconds(1500), &rng), alone);
}

// Schedulers send it before the time is up.
TEST_F(ProcessesTest, SigUsr1StopsARunInOrder) {
  std::vector<std::string> train = Train("stopped");
  train.emplace_back("stage.0.steps=100000");
  const TemporaryDirectory folder;
  std::string script = "(";
  for (const std::string& part : Mpirun(3, train)) script += "'" + part + "' ";
  script += "; echo \"exit $?\") >" + (folder.path() / "said").string() + " 2>&1 & sleep 2; " +
            "pkill -USR1 -P $! ; wait";
  ASSERT_TRUE(RunSubprocess({"/bin/sh", "-c", script}, "", std::chrono::seconds(60)).ok());
  const std::string said = *ReadFile(folder.path() / "said");
  EXPECT_NE(said.find("stopped after step"), std::string::npos) << said;
  EXPECT_NE(said.find("the same command goes on from there"), std::string::npos) << said;
}

TEST_F(ProcessesTest, WhatGoesWrongIsSaidOnce) {
  std::vector<std::string> train = Train("wrong");
  train.insert(train.end() - 1, "rollout.ahead=1");
  const SubprocessResult run = RunIn(3, train);
  EXPECT_NE(run.exit_code, 0);
  const std::string said = "rollout.ahead is of one process so far";
  const size_t first = run.standard_error.find(said);
  ASSERT_NE(first, std::string::npos) << run.standard_error;
  EXPECT_EQ(run.standard_error.find(said, first + 1), std::string::npos) << run.standard_error;
}

TEST(Mpi, WithoutItOneSentenceSaysHowToGetIt) {
  const auto run = RunSubprocess(
      {"/usr/bin/env", "OMPI_COMM_WORLD_SIZE=2", "HONE_MPI_LIBRARY=/nowhere/libmpi.so", HONE_BINARY,
       "train", HONE_SOURCE_DIR "/recipes/quickstart.toml"},
      "", std::chrono::seconds(60));
  ASSERT_TRUE(run.ok());
  ExpectError(*run, 1, "install it (apt-get install openmpi-bin)");
}

}  // namespace
}  // namespace hone
