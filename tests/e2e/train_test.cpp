// hone train as people use it: interrupted, with bad recipes, for programs.

#include <gtest/gtest.h>

#include "base/json.h"
#include "e2e/program.h"
#include "support/killed_run.h"
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

  const TemporaryDirectory directory_;
};

TEST_F(TrainTest, AnInterruptFinishesTheStepAndTheSameCommandGoesOn) {
  const std::string recipe = RecipeFile("interrupted");
  // Long enough to be in the middle of it.
  const std::vector<std::string> longer = {"train", recipe, "--quiet", "stage.1.steps=100000"};
  int status = 0;
  for (int64_t ms = 1000; ms < 60'000; ms *= 2) {
    status = StartAndSignal(HONE_BINARY, longer, SIGINT, std::chrono::milliseconds(ms)).status;
    if (WIFEXITED(status)) break;  // else it came before anybody listened
  }
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const SubprocessResult again =
      Hone({"train", recipe, "--quiet", "stage.1.steps=100000", "run.resume=never"});
  EXPECT_NE(again.standard_error.find("has checkpoints of an earlier run"), std::string::npos)
      << again.standard_error;
}

// Nothing has to be finished yet, so that nobody waits for a tool that hangs.
TEST_F(TrainTest, AnInterruptEndsTheSetUpAtOnceAlsoWhileAToolHangs) {
  const std::string tool = (directory_.path() / "hangs.py").string();
  const std::string tasks = (directory_.path() / "tasks.jsonl").string();
  ASSERT_TRUE(WriteFileAtomic(tool, R"(import json, sys, time
print(json.dumps({"tools": [{"name": "wait", "parameters": {"type": "object"}}]}), flush=True)
if sys.stdin.readline():
    open(sys.argv[0] + ".asked", "w").close()
    time.sleep(600)
)")
                  .ok());
  const Json plan =
      Json::Of({{"calls", Json::Array{Json::Of({{"name", "wait"}, {"arguments", Json::Object()}})}},
                {"answer", "x"}});
  const Json task = Json::Of({{"id", "t"},
                              {"prompt", "Wait."},
                              {"answer", "x"},
                              {"metadata", Json::Of({{"plan", plan}})}});
  ASSERT_TRUE(WriteFileAtomic(tasks, DumpJson(task) + "\n").ok());
  const std::vector<std::string> arguments = {"train",
                                              RecipeFile("hanging"),
                                              "environment={kind='data', train='" + tasks + "'}",
                                              "tools=[{kind='command', command=['python3', '" +
                                                  tool +
                                                  "'], attempt_ms=600000, deadline_ms=600000}]",
                                              "answers={mode='live'}",
                                              "rewards={preset='outcome'}",
                                              "credit.method=grpo",
                                              "stage=[{kind='rl', steps=1, groups=1, group=2}]"};
  const auto begin = std::chrono::steady_clock::now();
  const StoppedRun run =
      StartAndSignal(HONE_BINARY, arguments, SIGINT, std::chrono::milliseconds(10),
                     [&] { return Exists(tool + ".asked"); });
  EXPECT_TRUE(run.killed()) << run.output;
  EXPECT_EQ(WTERMSIG(run.status), SIGINT);
  EXPECT_NE(run.output.find("interrupted while the run was set up"), std::string::npos)
      << run.output;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(300));
}

TEST_F(TrainTest, BadRecipesAreRefusedWithAllProblemsBeforeAnythingIsDone) {
  const SubprocessResult result =
      Hone({"train", RecipeFile("bad"), "credit.method=tolpo", "stage.1.group=0",
            "model.dialect=template", "run.threds=2"});
  EXPECT_EQ(result.exit_code, 1);
  for (const char* part : {"toolpo", "stage[1].group", "name the model's folder", "threads"}) {
    EXPECT_NE(result.standard_error.find(part), std::string::npos) << result.standard_error;
  }
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "bad/tiny"));
}

TEST_F(TrainTest, EveryKindOfBadRecipeIsRefusedAtOnceWithAllTheOthers) {
  const SubprocessResult result =
      Hone({"train", RecipeFile("worse"), "environment={kind='data', train='nowhere.jsonl'}",
            "tools=[{kind='calculator'}]", "credit.method=gropo", "stage.1.group=1",
            "model.dialect=tagged:deskk", "rollout.turn_tokens=4000", "answers.mode=replay",
            "answers.journal=not-there.sqlite", "stage.0.demonstrator=teacher"});
  EXPECT_EQ(result.exit_code, 1);
  for (const char* part : {"the task file nowhere.jsonl is not there", "grpo", "deskk",
                           "context of 192", "there is no journal \"not-there.sqlite\"",
                           "only desk, service, switchboard and study have a teacher"}) {
    EXPECT_NE(result.standard_error.find(part), std::string::npos) << part << "\n"
                                                                   << result.standard_error;
  }
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "worse"));
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
       {"before", "after", "test, 4 tasks, real tools", "success, sampled", "ratio exactly 1",
        "0 calls of real tools", "weights ", "next", "hone show", "report.html"}) {
    EXPECT_NE(result.standard_output.find(part), std::string::npos) << result.standard_output;
  }
  EXPECT_EQ(result.standard_output.find('\r'), std::string::npos) << "no bars in files";
}

}  // namespace
}  // namespace hone
