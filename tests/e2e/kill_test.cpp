// Killed at any moment, a run goes on as if nothing had been. A few kills; tests/slow has many.

#include "support/kill_suite.h"

namespace hone {
namespace {

class KillTest : public KillSuite {};

TEST_F(KillTest, ASimulatedRunEndsWithTheSameWeightsAndTheSameRecords) {
  KillSimulated({{Moment::kStageCache, Moment::kTrialAndError, Moment::kAnywhere}});
}

TEST_F(KillTest, ARunWithLiveToolsEqualsAReplayOfItsJournalAndSendsNoLetterTwice) {
  KillLive({{Moment::kAnywhere, Moment::kTrialAndError}});
}

// Steps that are drawn ahead are drawn again by the weights that drew them.
TEST_F(KillTest, ARunWhoseRolloutIsAheadEndsWithTheSameWeights) {
  changes_ = {"rollout.ahead=2", "objective.correction.kind=truncate"};
  KillSimulated({{Moment::kTrialAndError, Moment::kCheckpoint, Moment::kAnywhere}});
  KillLive({{Moment::kTrialAndError, Moment::kAnywhere}});
}

// A disk of its own that is too small at first, and then grows.
TEST_F(KillTest, OnAFullDiskARunSaysSoAndGoesOnOnceThereIsRoom) {
  const std::string disk = (directory_.path() / "disk").string();
  std::filesystem::create_directories(disk);
  const std::string recipe = Write("full", TinyRecipe(disk + "/out"));
  const std::string whole =
      RunToItsEnd({Write("calm", TinyRecipe(directory_.path() / "calm"))}).weights;
  const std::string train = std::string("\"") + HONE_BINARY + "\" train " + recipe + " --json";
  const std::string script = "exec 2>&1; mount -t tmpfs -o size=500k none " + disk +
                             " || exit 77; " + train + " && exit 78; mount -o remount,size=64m " +
                             disk + " && " + train + " && mount -o remount,ro " + disk + " && " +
                             train + " run.name=other";
  const auto result = RunSubprocess({"/usr/bin/unshare", "-m", "/bin/sh", "-c", script}, "",
                                    std::chrono::seconds(120));
  ASSERT_TRUE(result.ok()) << result.error().message();
  if (result->exit_code == 77 || result->standard_output.empty()) {
    GTEST_SKIP() << "no file system may be mounted here: " << result->standard_output
                 << result->standard_error;
  }
  const std::string& said = result->standard_output;
  EXPECT_NE(said.find("{\"error\":{\"code\":\"full\""), std::string::npos) << said;
  EXPECT_NE(said.find("No space left on device"), std::string::npos) << said;
  EXPECT_NE(said.find("\"weights\":\"" + whole + "\""), std::string::npos) << said;
  EXPECT_NE(said.find("Read-only file system; choose another with run.out=FOLDER"),
            std::string::npos)
      << said;
}

}  // namespace
}  // namespace hone
