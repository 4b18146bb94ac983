#include "evaluate/suites/suite_tasks.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

class SuiteTasksTest : public testing::Test {
 protected:
  std::filesystem::path Write(const std::string& text) {
    const std::filesystem::path file = directory_.path() / "tasks.jsonl";
    std::ofstream(file) << text;
    return file;
  }
  TemporaryDirectory directory_;
};

TEST_F(SuiteTasksTest, TellsTasksFromCases) {
  EXPECT_TRUE(
      IsTaskFile(Write(R"({"id": "a", "prompt": "p", "reward": "number", "answer": 3})")).value());
  EXPECT_TRUE(IsTaskFile(Write(R"({"question": "p", "answer": "3"})")).value());
  EXPECT_TRUE(
      IsTaskFile(Write(R"({"data_source": "s", "prompt": [], "reward_model": {}})")).value());
  EXPECT_FALSE(IsTaskFile(Write(R"({"prompt": "p", "answer": "3", "scorer": "number"})")).value());
  EXPECT_FALSE(IsTaskFile(directory_.path() / "nowhere.jsonl").ok());
}

TEST_F(SuiteTasksTest, TasksWithoutToolsAreJudgedByTheirAnswer) {
  const Suite suite =
      LoadTasksAsSuite(Write(
                           R"({"id": "a", "prompt": "12 * 12?", "reward": "number", "answer": 144}
{"id": "b", "prompt": "Capital of Peru?", "answer": "Lima", "metadata": {"kind": "towns"}}
)"))
          .value();
  ASSERT_EQ(suite.cases.size(), 2u);
  EXPECT_EQ(suite.cases[0].rule, "number");
  EXPECT_EQ(suite.cases[0].category, "tasks");
  EXPECT_EQ(suite.cases[1].rule, "text");
  EXPECT_EQ(suite.cases[1].category, "towns");
  EXPECT_TRUE(JudgeCase(suite.cases[0], {.text = "144.0"})->right);
  EXPECT_FALSE(JudgeCase(suite.cases[1], {.text = "Quito"})->right);
}

TEST_F(SuiteTasksTest, TasksThatBringTheirToolsAreJudgedByTheirCalls) {
  const Suite suite =
      LoadTasksAsSuite(
          Write(
              R"({"id": "a", "prompt": "Weather in Oslo?", "tools": [{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}], "metadata": {"plan": {"calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}}})"))
          .value();
  ASSERT_EQ(suite.cases.size(), 1u);
  EXPECT_EQ(suite.cases[0].scorer, SuiteScorer::kCalls);
  const Json right = ParseJson(R"([{"weather": {"city": "Oslo"}}])").value();
  EXPECT_TRUE(JudgeCase(suite.cases[0], {.calls = right})->right);
}

TEST_F(SuiteTasksTest, ATaskThatHasToBePlayedSaysWhere) {
  const auto read = LoadTasksAsSuite(Write(
      R"({"id": "a", "prompt": "p", "answer": "x", "reward": {"calls": [{"name": "look", "arguments": {}}]}})"));
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message().find("tasks.jsonl:1"), std::string::npos)
      << read.error().message();
  EXPECT_NE(read.error().message().find("--env"), std::string::npos) << read.error().message();
}

}  // namespace
}  // namespace hone
