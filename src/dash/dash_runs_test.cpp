#include "dash/dash_runs.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"

namespace hone {
namespace {

void MakeRun(const std::filesystem::path& folder) {
  ASSERT_TRUE(WriteFileAtomic(folder / "recipe.toml", "[run]\nname = \"x\"\n").ok());
}

std::vector<std::string> IdsOf(const std::vector<RunPlace>& runs) {
  std::vector<std::string> ids;
  for (const RunPlace& run : runs) ids.push_back(run.id);
  return ids;
}

using Ids = std::vector<std::string>;

TEST(DashRunsTest, FindsRunsBelowAFolderAndARunItself) {
  const TemporaryDirectory directory;
  const std::filesystem::path runs = directory.path() / "runs";
  MakeRun(runs / "quickstart");
  MakeRun(runs / "study/grpo/seed-1");
  MakeRun(runs / "study/grpo/seed-2");
  MakeRun(runs / "too/deep/to/find");
  MakeRun(runs / ".hidden");
  std::filesystem::create_directories(runs / "cache/sft-1234");
  EXPECT_EQ(IdsOf(FindRuns({runs})), (Ids{"quickstart", "study/grpo/seed-1", "study/grpo/seed-2"}));
  EXPECT_EQ(IdsOf(FindRuns({runs / "quickstart"})), Ids{"quickstart"});
  EXPECT_TRUE(FindRuns({directory.path() / "nowhere"}).empty());
}

TEST(DashRunsTest, RunsOfTheSameNameInTwoFoldersAreToldApart) {
  const TemporaryDirectory directory;
  MakeRun(directory.path() / "a/one");
  MakeRun(directory.path() / "b/one");
  EXPECT_EQ(IdsOf(FindRuns({directory.path() / "a", directory.path() / "b"})),
            (Ids{"b/one", "one"}));
  EXPECT_EQ(IdsOf(FindRuns({directory.path() / "a/one", directory.path() / "b/one"})),
            (Ids{"one", "one (2)"}));
}

TEST(DashRunsTest, SeesWhoHoldsTheLockWithoutTakingIt) {
  const TemporaryDirectory directory;
  EXPECT_FALSE(IsBeingTrained(directory.path()));
  const std::filesystem::path file = directory.path() / "lock";
  const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  ASSERT_GE(lock, 0);
  EXPECT_FALSE(IsBeingTrained(directory.path()));
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  if (!ReadFile("/proc/locks").ok() || ReadFile("/proc/locks")->empty()) {
    GTEST_SKIP() << "/proc/locks cannot be read here, so that nobody can be seen holding a lock";
  }
  EXPECT_TRUE(IsBeingTrained(directory.path()));
  ::close(lock);
  EXPECT_FALSE(IsBeingTrained(directory.path()));
}

TEST(DashRunsTest, ReadsWhatAResolvedRecipeSays) {
  const RecipeFacts facts = *ReadRecipeFacts(R"([run]
seed = 7
[environment]
kind = "desk"
[credit]
method = "toolpo:norm=mean_std"
[objective]
loss = "ppo"
[[stage]]
kind = "sft"
steps = 800
[[stage]]
kind = "simulator"
[[stage]]
kind = "rl"
steps = 150
)");
  EXPECT_EQ(facts.method, "toolpo:norm=mean_std");
  EXPECT_EQ(facts.loss, "ppo");
  EXPECT_EQ(facts.environment, "desk");
  EXPECT_EQ(facts.seed, 7);
  ASSERT_EQ(facts.stages.size(), 3u);
  EXPECT_EQ(facts.Steps(), 950);
  EXPECT_EQ(facts.StepInStage(5), 5);
  EXPECT_EQ(facts.StepInStage(800), 0);
  EXPECT_EQ(facts.StepInStage(949), 149);
  EXPECT_FALSE(ReadRecipeFacts("[run\n").ok());
  EXPECT_EQ(ReadRecipeFacts("")->Steps(), 0);
}

}  // namespace
}  // namespace hone
