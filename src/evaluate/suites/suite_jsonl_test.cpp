#include "evaluate/suites/suite_jsonl.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

class SuiteLines : public testing::Test {
 protected:
  Result<Suite> Load(const std::string& text) {
    const auto file = directory_.path() / "mine.jsonl";
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    return LoadSuiteLines(file);
  }
  void ExpectProblem(const std::string& line, const std::string& part) {
    const auto suite = Load(R"({"prompt": "a", "answer": "b"})"
                            "\n" +
                            line);
    ASSERT_FALSE(suite.ok()) << line;
    EXPECT_NE(suite.error().message().find("mine.jsonl:2: "), std::string::npos)
        << suite.error().message();
    EXPECT_NE(suite.error().message().find(part), std::string::npos) << suite.error().message();
  }

  const TemporaryDirectory directory_;
};

TEST_F(SuiteLines, EachFormIsRead) {
  const auto suite = Load(
      R"({"prompt": "12 * 12?", "system": "Be brief.", "tools": ["calculator"], "answer": "144", "scorer": "number"}
{"id": "w", "category": "weather", "prompt": "Oslo?", "tools": [{"name": "weather", "parameters": {"type": "object"}}], "calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}
{"messages": [{"role": "user", "content": "Hello"}], "calls": []})");
  ASSERT_TRUE(suite.ok()) << suite.error().message();
  EXPECT_EQ(suite->name, "mine.jsonl");
  EXPECT_EQ(suite->tools, std::vector<std::string>{"calculator"});
  const SuiteCase& sum = suite->cases.at(0);
  EXPECT_EQ(sum.id, "1");
  EXPECT_EQ(sum.category, "mine");
  EXPECT_EQ(sum.plays_with, suite->tools);
  EXPECT_EQ(sum.messages.AsArray().size(), 2u);
  EXPECT_TRUE(JudgeCase(sum, {.text = "144.0"})->right);
  const SuiteCase& weather = suite->cases.at(1);
  EXPECT_EQ(weather.category, "weather");
  EXPECT_EQ(weather.tools.AsArray().size(), 1u);
  EXPECT_TRUE(weather.plays_with.empty());
  EXPECT_TRUE(
      JudgeCase(weather, {"", ParseJson(R"([{"weather": {"city": "Oslo"}}])").value()})->right);
  EXPECT_TRUE(JudgeCase(suite->cases.at(2), {.text = "Hello!"})->right);
}

TEST_F(SuiteLines, EveryProblemNamesItsLine) {
  ExpectProblem("{", "no JSON");
  ExpectProblem(R"({"prompt": "a"})", "one of \"calls\" and \"answer\"");
  ExpectProblem(R"({"answer": "a"})", "one of \"prompt\" and \"messages\"");
  ExpectProblem(R"({"prompt": "a", "answr": "b"})", "did you mean \"answer\"?");
  ExpectProblem(R"({"prompt": 3, "answer": "b"})", "must be a text");
  ExpectProblem(R"({"messages": [], "answer": "b"})", "list of messages");
  ExpectProblem(R"({"messages": [{"role": "elf"}], "answer": "b"})", "messages[0]");
  ExpectProblem(R"({"prompt": "a", "answer": "b", "scorer": "numbr"})", "number");
  ExpectProblem(R"({"prompt": "a", "answer": "b", "scorer": "program"})", "no scorer for suites");
  ExpectProblem(R"({"prompt": "a", "calls": [], "scorer": "text"})", "for answers");
  ExpectProblem(R"({"prompt": "a", "calls": 3})", "list of");
  ExpectProblem(R"({"prompt": "a", "calls": [{"nam": "f"}]})", "list of");
  ExpectProblem(R"({"prompt": "a", "answer": "b", "tools": ["abacus"]})", "no tool \"abacus\"");
  ExpectProblem(R"({"prompt": "a", "answer": "b", "tools": ["python", {"name": "f"}]})", "either");
  ExpectProblem(R"({"prompt": "a", "answer": "b", "tools": [{"nme": "f"}]})", "name");
  ExpectProblem(R"({"prompt": "a", "calls": [], "tools": ["python"]})", "described");
  ExpectProblem(R"({"id": "1", "prompt": "a", "answer": "b"})", "comes twice");
}

}  // namespace
}  // namespace hone
