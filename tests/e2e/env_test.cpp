// hone env, as a user would use it.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "e2e/program.h"

namespace hone {
namespace {

TEST(EnvCommandTest, ListAndShow) {
  const std::string list = Hone({"env", "list"}).standard_output;
  for (const char* name : {"desk", "quiz", "service", "switchboard"}) {
    EXPECT_NE(list.find(name), std::string::npos);
  }
  const SubprocessResult show = Hone({"env", "show", "desk", "--split", "test", "--index", "3"});
  EXPECT_EQ(show.exit_code, 0) << show.standard_error;
  EXPECT_NE(show.standard_output.find("desk-test-3"), std::string::npos);
  EXPECT_NE(show.standard_output.find("weather"), std::string::npos);
  const Json json = *ParseJson(Hone({"env", "show", "service", "--json"}).standard_output);
  EXPECT_EQ(json.Find("tools")->AsArray().size(), 7u);
  ExpectError(Hone({"env", "show", "dsk"}), 1, "did you mean \"desk\"?");
  ExpectError(Hone({"env", "show", "desk", "--split", "tran"}), 1, "did you mean \"train\"?");
}

TEST(EnvCommandTest, APersonCanBeTheAgent) {
  // The answer to the first task of small sums is in the task itself.
  const std::vector<std::string> only = {"--set", "environment.tasks.kinds=[\"small_sum\"]"};
  std::vector<std::string> show = {"env", "show", "desk", "--json"}, play = {"env", "play", "desk"};
  show.insert(show.end(), only.begin(), only.end());
  play.insert(play.end(), only.begin(), only.end());
  const Json task = *ParseJson(Hone(show).standard_output);
  const std::string answer = task.Find("task")->Find("answer")->AsString();
  const SubprocessResult played =
      Hone(play, "calculator {\"expression\": \"1+1\"}\n" + answer + "\n");
  EXPECT_EQ(played.exit_code, 0) << played.standard_error;
  EXPECT_NE(played.standard_output.find("result {\"result\":2}"), std::string::npos)
      << played.standard_output;
  EXPECT_NE(played.standard_output.find("answered, 1 calls, success"), std::string::npos);
}

TEST(EnvCommandTest, ThePlansOfTheSwitchboardPlay) {
  const SubprocessResult played =
      Hone({"env", "play", "switchboard", "--agent", "gold", "-n", "20", "--json"});
  EXPECT_EQ(played.exit_code, 0) << played.standard_error;
  const SubprocessResult person = Hone({"env", "play", "switchboard"}, "nothing\n");
  EXPECT_EQ(person.exit_code, 0) << person.standard_error;
  EXPECT_NE(person.standard_output.find("answered, 0 calls"), std::string::npos)
      << person.standard_output;
}

TEST(EnvCommandTest, TasksAreWrittenAndChecked) {
  TemporaryDirectory directory;
  const std::string file = (directory.path() / "tasks.jsonl").string();
  EXPECT_EQ(Hone({"env", "tasks", "desk", "--split", "dev", "-n", "50", "-o", file}).exit_code, 0);
  EXPECT_EQ(ParseJsonLines(*ReadFile(file)).value().size(), 50u);
  const SubprocessResult good = Hone({"env", "check", file, "--env", "desk"});
  EXPECT_EQ(good.exit_code, 0) << good.standard_output;
  EXPECT_NE(good.standard_output.find("50 tasks (hone), 0 problems"), std::string::npos);
  std::string text = *ReadFile(file);
  text +=
      "{\"id\":\"x\"}\n{\"id\":\"y\",\"prompt\":\"p\",\"reward\":{\"calls\":[{\"name\":\"clok\"}]}}"
      "\n";
  ASSERT_TRUE(WriteFileAtomic(file, text).ok());
  const SubprocessResult bad = Hone({"env", "check", file, "--env", "desk"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.standard_output.find(":51: \"prompt\" or \"messages\" is missing"),
            std::string::npos);
  EXPECT_NE(
      bad.standard_output.find(":52: reward.calls[0]: there is no tool \"clok\" (did you mean "
                               "\"clock\"?)"),
      std::string::npos)
      << bad.standard_output;
}

TEST(EnvCommandTest, DemonstrationsAreConversations) {
  const std::string lines =
      Hone({"env", "tasks", "desk", "-n", "20", "--teacher-error", "0.6"}).standard_output;
  const std::vector<Json> rows = ParseJsonLines(lines).value();
  ASSERT_EQ(rows.size(), 20u);
  int right = 0;
  for (const Json& row : rows) {
    right += *row.Find("success") == Json(true);
    EXPECT_EQ(*row.Find("messages")->AsArray().back().Find("role"), Json("assistant"));
  }
  EXPECT_GT(right, 3);
  EXPECT_LT(right, 20);
}

TEST(EnvCommandTest, StatsCountKinds) {
  const Json stats =
      *ParseJson(Hone({"env", "stats", "desk", "-n", "400", "--json"}).standard_output);
  EXPECT_EQ(stats.Find("kinds")->AsArray().size(), 31u) << "30 kinds in training, and all";
  EXPECT_NE(Hone({"env", "stats", "service", "-n", "50"}).standard_output.find("get_order"),
            std::string::npos);
}

TEST(EnvCommandTest, ARecipeIsAnEnvironment) {
  TemporaryDirectory directory;
  const std::string tasks = (directory.path() / "tasks.jsonl").string();
  const std::string recipe = (directory.path() / "env.toml").string();
  ASSERT_TRUE(WriteFileAtomic(
                  tasks, "{\"id\":\"a\",\"prompt\":\"Capital of Norway?\",\"answer\":\"Oslo\"}\n")
                  .ok());
  ASSERT_TRUE(WriteFileAtomic(recipe, "[environment]\ntrain = \"" + tasks + "\"\n").ok());
  const SubprocessResult played = Hone({"env", "play", recipe, "--json"}, "oslo\n");
  EXPECT_EQ(played.exit_code, 0) << played.standard_error;
  EXPECT_EQ(*ParseJson(played.standard_output)->Find("final_state")->Find("verdict"), Json(true));
  ExpectError(Hone({"env", "show", recipe, "--split", "test"}), 1, "has no tasks in test");
}

TEST(EnvCommandTest, AllFilesOfARecipeAreCheckedBeforeAnythingRuns) {
  TemporaryDirectory directory;
  const auto file = [&](const char* name) { return (directory.path() / name).string(); };
  ASSERT_TRUE(WriteFileAtomic(file("train.jsonl"),
                              "{\"id\":\"a\",\"prompt\":\"p\"}\n{\"id\":\"a\",\"prompt\":\"q\"}\n")
                  .ok());
  ASSERT_TRUE(WriteFileAtomic(
                  file("dev.jsonl"),
                  "{\"id\":\"b\",\"prompt\":\"p\",\"reward\":{\"calls\":[{\"name\":\"fly\"}]}}\n"
                  "{\"id\":\"c\",\"prompt\":\"p\",\"reward\":{\"calls\":[{\"name\":"
                  "\"calculator\",\"after\":[7]}]}}\n")
                  .ok());
  ASSERT_TRUE(WriteFileAtomic(file("env.toml"), "[environment]\ntrain = \"" + file("train.jsonl") +
                                                    "\"\ndev = \"" + file("dev.jsonl") +
                                                    "\"\ntest = \"/nowhere.jsonl\"\n"
                                                    "[[tools]]\nkind = \"calculator\"\n")
                  .ok());
  const SubprocessResult checked = Hone({"env", "check", file("env.toml")});
  EXPECT_EQ(checked.exit_code, 1) << checked.standard_error;
  for (const char* part :
       {"train.jsonl:2: the id \"a\" is on line 1 too", "dev.jsonl:1: reward.calls[0]: there is no",
        "dev.jsonl:2: reward: ", "/nowhere.jsonl"}) {
    EXPECT_NE(checked.standard_output.find(part), std::string::npos) << checked.standard_output;
  }
  // Playing says the same instead of playing.
  const SubprocessResult played =
      Hone({"env", "play", file("env.toml"), "--set", "environment.test="});
  EXPECT_EQ(played.exit_code, 1);
  EXPECT_NE(played.standard_error.find("train.jsonl:2: "), std::string::npos);
  EXPECT_NE(played.standard_error.find("dev.jsonl:1: "), std::string::npos);
}

TEST(EnvCommandTest, TheModeIsCheckedBeforeAnythingRuns) {
  ExpectError(Hone({"env", "play", "desk", "--mode", "record"}), 1, "record needs a journal");
  ExpectError(Hone({"env", "play", "desk", "--mode", "simulate", "--journal", "x"}), 1,
              "needs a table [simulator]");
  ExpectError(Hone({"env", "stats", "desk", "--mode", "lvie"}), 1, "did you mean \"live\"?");
  ExpectError(Hone({"env", "play", "desk", "--agent", "glod", "-n", "1"}), 1,
              "did you mean \"gold\"?");
}

TEST(EnvCommandTest, AgentsPlayManyTasks) {
  const Json gold = *ParseJson(
      Hone({"env", "play", "desk", "--agent", "gold", "-n", "30", "--json"}).standard_output);
  EXPECT_EQ(*gold.Find("succeeded"), Json(30));
  EXPECT_GT(gold.Find("answered_by")->Find("tool")->AsInteger(), 20);
  const SubprocessResult idle = Hone({"env", "play", "service", "--agent", "idle", "-n", "3"});
  EXPECT_NE(idle.standard_output.find("3 tasks: 0 succeeded, 3 failed, 0 void"), std::string::npos)
      << idle.standard_output;
}

}  // namespace
}  // namespace hone
