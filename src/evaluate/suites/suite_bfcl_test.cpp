#include "evaluate/suites/suite_bfcl.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/shared_data.h"

namespace hone {
namespace {

constexpr const char* kQuestion =
    R"({"id": "simple_python_0", "question": [[{"role": "user", "content": "Area?"}]], "function": )"
    R"([{"name": "geo.area", "description": "d", "parameters": {"type": "dict", "properties": )"
    R"({"size": {"type": "float", "description": "s"}, "box": {"type": "tuple", "items": )"
    R"({"type": "dict"}}}, "required": ["size"]}}]})";
constexpr const char* kAnswer =
    R"({"id": "simple_python_0", "ground_truth": [{"geo.area": {"size": [1.5], "box": [""]}}]})";

class BfclSuite : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(directory_.path() / name, text).ok());
  }
  std::string Problem(const BfclOptions& options = {}) {
    const auto suite = LoadBfcl(directory_.path(), options);
    return suite.ok() ? "none" : suite.error().message();
  }

  const TemporaryDirectory directory_;
};

TEST_F(BfclSuite, QuestionsAndAnswersMeetByTheirIds) {
  Write("question/BFCL_v4_simple_python.json", kQuestion);
  Write("possible_answer/BFCL_v4_simple_python.json", kAnswer);
  Write("question/BFCL_v4_multi_turn_base.json", "not read");
  const Suite suite = LoadBfcl(directory_.path(), {}).value();
  ASSERT_EQ(suite.cases.size(), 1u);
  const SuiteCase& one = suite.cases[0];
  EXPECT_EQ(one.category, "simple_python");
  EXPECT_EQ(*one.messages.AsArray()[0].Find("content"), Json("Area?"));
  EXPECT_EQ(one.tools.AsArray()[0],
            ParseJson(R"({"type": "function", "function": {"name": "geo.area", "description": "d",
      "parameters": {"type": "object", "properties": {"size": {"type": "number", "description": "s"},
      "box": {"type": "array", "items": {"type": "object"}}}, "required": ["size"]}}})")
                .value());
  const SuiteOutput right{"", ParseJson(R"([{"geo.area": {"size": 1.5}}])").value()};
  EXPECT_TRUE(JudgeCase(one, right)->right);
  const Suite shown = LoadBfcl(directory_.path(), {.dots_as_underscores = true}).value();
  EXPECT_EQ(*shown.cases[0].tools.AsArray()[0].Find("function")->Find("name"), Json("geo_area"));
  EXPECT_FALSE(JudgeCase(shown.cases[0], right)->right);
}

TEST_F(BfclSuite, FunctionsCanBeToldInWords) {
  Write("BFCL_v4_simple_python.json", kQuestion);
  Write("possible_answer/BFCL_v4_simple_python.json", kAnswer);
  const Suite suite = LoadBfcl(directory_.path(), {.calls_as_text = true}).value();
  const SuiteCase& one = suite.cases.at(0);
  EXPECT_TRUE(one.tools.AsArray().empty());
  EXPECT_NE(one.messages.AsArray()[0].Find("content")->AsString().find("\"geo.area\""),
            std::string::npos);
  EXPECT_TRUE(JudgeCase(one, {.text = "[geo.area(size=1.5)]"})->right);
}

TEST_F(BfclSuite, ForeignParametersAreTexts) {
  const Json function = ParseJson(R"({"name": "f", "parameters": {"properties": {"a": {"type":
      "ArrayList", "description": "The names.", "items": {"type": "String"}}}}})")
                            .value();
  const Json shown = ShownBfclFunction(function, "simple_java", false);
  EXPECT_EQ(
      *shown.Find("function")->Find("parameters")->Find("properties")->Find("a"),
      Json::Of({{"type", "string"},
                {"description",
                 "The names. Written as Java source text; its type is ArrayList of String."}}));
}

TEST_F(BfclSuite, WhatIsMissingIsNamed) {
  EXPECT_NE(Problem().find("there are no files of BFCL"), std::string::npos);
  Write("BFCL_v4_simple_python.json", kQuestion);
  EXPECT_NE(Problem().find("possible_answer/BFCL_v4_simple_python.json"), std::string::npos);
  Write("possible_answer/BFCL_v4_simple_python.json", R"({"id": "other", "ground_truth": []})");
  EXPECT_NE(Problem().find("BFCL_v4_simple_python.json:1: \"simple_python_0\" has no accepted"),
            std::string::npos);
  Write("possible_answer/BFCL_v4_simple_python.json",
        R"({"id": "simple_python_0", "ground_truth": 3})");
  EXPECT_NE(Problem().find("BFCL_v4_simple_python.json:1: case"), std::string::npos);
  EXPECT_NE(Problem({.categories = {"multi_turn_base"}}).find("several turns"), std::string::npos);
  EXPECT_NE(Problem({.categories = {"simple_pyton"}}).find("did you mean"), std::string::npos);
}

TEST_F(BfclSuite, ThePublicFilesAreReadWholeAndTheirGoldIsRight) {
  HONE_NEED_SHARED(data, "data/bfcl");
  const Suite suite = LoadBfcl(data, {}).value();
  EXPECT_EQ(suite.cases.size(), 1631u);
  int64_t silent = 0, wrong = 0;
  for (const SuiteCase& one : suite.cases) {
    const auto verdict = JudgeCase(one, {.text = "I cannot."});
    ASSERT_TRUE(verdict.ok()) << one.id;
    silent += verdict->right ? 1 : 0;
    wrong += one.scorer == SuiteScorer::kIrrelevance ? 1 : 0;
  }
  EXPECT_EQ(silent, wrong) << "saying no is right exactly where no call is wanted";
}

}  // namespace
}  // namespace hone
