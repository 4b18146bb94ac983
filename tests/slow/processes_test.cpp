// Thirty runs in several processes, killed at any moment and gone on with in another number.

#include <gtest/gtest.h>

#include "support/mpi_runs.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

TEST(ProcessesSlow, ThirtyRunsThatAreKilledEndWithTheSameWeights) {
  if (!HasMpirun()) GTEST_SKIP() << "there is no mpirun (apt-get install openmpi-bin)";
  const TemporaryDirectory folder;
  const auto train = [&](const std::string& name) -> std::vector<std::string> {
    const std::filesystem::path file = folder.path() / (name + ".toml");
    EXPECT_TRUE(WriteFileAtomic(file, TinyRecipe(folder.path() / name)).ok());
    return {"train", file.string(), "stage.0.slices=4", "stage.1.slices=4", "--json"};
  };
  const auto begin = std::chrono::steady_clock::now();
  const std::string alone = WeightsIn(RunIn(1, train("alone")).standard_output);
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
  ASSERT_EQ(alone.size(), 64u);
  Rng rng(static_cast<uint64_t>(begin.time_since_epoch().count()));
  for (int run = 0; run < 30; ++run) {
    EXPECT_EQ(KillAndFinishIn(train("run-" + std::to_string(run)), 3, whole, &rng), alone) << run;
  }
}

}  // namespace
}  // namespace hone
