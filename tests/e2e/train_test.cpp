// hone train as people use it: killed at any moment, interrupted, with bad recipes, for programs.

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "e2e/program.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

class TrainTest : public testing::Test {
 protected:
  std::string RecipeFile(const std::string& name, const std::string& extra = "") {
    const std::filesystem::path file = directory_.path() / (name + ".toml");
    EXPECT_TRUE(WriteFileAtomic(file, TinyRecipe(directory_.path() / name) + extra).ok());
    return file.string();
  }

  // The hash of the weights that a finished run says it has.
  static std::string WeightsOf(const SubprocessResult& result) {
    const size_t last = result.standard_output.rfind("{\"event\":\"end\"");
    if (last == std::string::npos) return "none: " + result.standard_error;
    const Result<Json> end = ParseJson(std::string_view(result.standard_output).substr(last));
    return end.ok() ? end->Find("weights")->AsString() : end.error().message();
  }

  // Starts the program and sends it a signal after a while; what became of it.
  static int StartAndSignal(const std::vector<std::string>& arguments, int signal,
                            std::chrono::microseconds after) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::vector<char*> argv = {const_cast<char*>(HONE_BINARY)};
      for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      if (std::freopen("/dev/null", "w", stdout) == nullptr ||
          std::freopen("/dev/null", "w", stderr) == nullptr) {
        ::_exit(126);
      }
      ::execv(HONE_BINARY, argv.data());
      ::_exit(127);
    }
    std::this_thread::sleep_for(after);
    ::kill(child, signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  const TemporaryDirectory directory_;
};

TEST_F(TrainTest, ARunThatIsKilledAtRandomMomentsEndsWithTheSameWeights) {
  const auto begin = std::chrono::steady_clock::now();
  const SubprocessResult whole = Hone({"train", RecipeFile("whole"), "--json"});
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  ASSERT_EQ(whole.exit_code, 0) << whole.standard_error;
  const std::string recipe = RecipeFile("killed");
  Rng rng(static_cast<uint64_t>(took.count()));  // other moments each time
  int killed = 0;
  for (int i = 0; i < 8; ++i) {
    // Early at first, so that there is something to be killed however fast this one is.
    const double share = rng.NextDouble() * (i + 1) / 8;
    const std::chrono::microseconds after(
        static_cast<int64_t>(share * static_cast<double>(took.count())));
    const int status = StartAndSignal({"train", recipe, "--quiet"}, SIGKILL, after);
    killed += WIFSIGNALED(status) ? 1 : 0;
  }
  EXPECT_GT(killed, 0);
  const SubprocessResult end = Hone({"train", recipe, "--json"});
  ASSERT_EQ(end.exit_code, 0) << end.standard_error;
  EXPECT_EQ(WeightsOf(end), WeightsOf(whole));
}

TEST_F(TrainTest, AnInterruptFinishesTheStepAndTheSameCommandGoesOn) {
  const std::string recipe = RecipeFile("interrupted");
  // Long enough to be in the middle of it.
  const std::vector<std::string> longer = {"train", recipe, "--quiet", "stage.1.steps=100000"};
  int status = 0;
  for (int64_t ms = 1000; ms < 60'000; ms *= 2) {
    status = StartAndSignal(longer, SIGINT, std::chrono::milliseconds(ms));
    if (WIFEXITED(status)) break;  // else it came before anybody listened
  }
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const SubprocessResult again =
      Hone({"train", recipe, "--quiet", "stage.1.steps=100000", "run.resume=never"});
  EXPECT_NE(again.standard_error.find("has checkpoints of an earlier run"), std::string::npos)
      << again.standard_error;
}

TEST_F(TrainTest, BadRecipesAreRefusedWithAllProblemsBeforeAnythingIsDone) {
  const SubprocessResult result =
      Hone({"train", RecipeFile("bad"), "credit.method=tolpo", "stage.1.group=0",
            "model.dialect=hermes:qwen3", "run.threds=2"});
  EXPECT_EQ(result.exit_code, 1);
  for (const char* part : {"toolpo", "stage[1].group", "cannot be used in a rollout", "threads"}) {
    EXPECT_NE(result.standard_error.find(part), std::string::npos) << result.standard_error;
  }
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "bad/tiny"));
}

TEST_F(TrainTest, ProgramsGetOneObjectPerLine) {
  const SubprocessResult result = Hone({"train", RecipeFile("json"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const Result<std::vector<Json>> lines = ParseJsonLines(result.standard_output);
  ASSERT_TRUE(lines.ok()) << lines.error().message();
  std::map<std::string, int> events;
  for (const Json& line : *lines) ++events[line.Find("event")->AsString()];
  EXPECT_EQ(events["stage"], 2);
  EXPECT_EQ(events["step"], 3 + 4);
  EXPECT_EQ(events["end"], 1);
  EXPECT_GE(events["evaluation"], 6);
}

TEST_F(TrainTest, APlanSaysWhatItWillTakeAndDoesNothing) {
  const SubprocessResult result = Hone({"train", RecipeFile("plan"), "--plan"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  for (const char* part : {"memory", "disk", "time", "parameters"}) {
    EXPECT_NE(result.standard_output.find(part), std::string::npos) << result.standard_output;
  }
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "plan"));
}

TEST_F(TrainTest, PeopleReadATableAndWhatToDoNext) {
  const SubprocessResult result = Hone({"train", RecipeFile("people")});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  for (const char* part :
       {"before", "after", "test, sampled", "ratio exactly 1", "weights ", "next", "hone show"}) {
    EXPECT_NE(result.standard_output.find(part), std::string::npos) << result.standard_output;
  }
  EXPECT_EQ(result.standard_output.find('\r'), std::string::npos) << "no bars in files";
}

}  // namespace
}  // namespace hone
