#include "evaluate/suites/suite_metatool.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "support/shared_data.h"

namespace hone {
namespace {

std::string Listed(const Json& names) {
  std::string text;
  for (const Json& name : names.AsArray()) text += (text.empty() ? "" : ", ") + name.AsString();
  return text;
}

class MetaToolSuite : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(directory_.path() / name, text).ok());
  }
  const TemporaryDirectory directory_;
};

TEST_F(MetaToolSuite, EachFileIsACategory) {
  Write("plugin_des.json", R"({"NewsTool": "what happened", "Now": "the time"})");
  Write("task1_tool_needed.jsonl", R"({"query": "Time?", "needs_tool": true})");
  Write(
      "single_tool_queries.jsonl",
      "{\"query\": \"News?\", \"tool\": \"NewsTool\"}\n{\"query\": \"Time?\", \"tool\": \"Now\"}");
  Write("task2_subtask3_reliability.jsonl",
        R"({"query": "Fly", "gold": "None", "candidates": ["Now"]})");
  Write(
      "task2_subtask4_multi_tool_selection.jsonl",
      R"({"query": "Both", "gold": ["Now", "NewsTool"], "candidates": ["NewsTool", "Now", "X"]})");
  const Suite suite = LoadMetaTool(directory_.path(), 0).value();
  ASSERT_EQ(suite.cases.size(), 5u);
  EXPECT_EQ(suite.cases[0].category, "tool_needed");
  EXPECT_TRUE(JudgeCase(suite.cases[0], {.text = "Yes."})->right);
  EXPECT_EQ(suite.cases[1].id, "single_tool/1");
  EXPECT_NE(suite.cases[1].messages.AsArray()[0].Find("content")->AsString().find(
                "- NewsTool: what happened\n"),
            std::string::npos);
  EXPECT_TRUE(JudgeCase(suite.cases[1], {.text = "NewsTool"})->right);
  EXPECT_FALSE(JudgeCase(suite.cases[1], {.text = "Now"})->right);
  EXPECT_TRUE(JudgeCase(suite.cases[3], {.text = "None"})->right);
  EXPECT_FALSE(JudgeCase(suite.cases[3], {.text = "Now"})->right);
  EXPECT_TRUE(JudgeCase(suite.cases[4], {.text = "NewsTool and Now"})->right);
}

TEST_F(MetaToolSuite, WhatIsMissingOrWrongIsNamed) {
  EXPECT_NE(LoadMetaTool(directory_.path(), 0).error().message().find("no files of MetaTool"),
            std::string::npos);
  EXPECT_FALSE(LoadMetaTool(directory_.path() / "none", 0).ok());
  Write("task1_tool_needed.jsonl", R"({"query": "Time?", "needs_tool": 1})");
  EXPECT_NE(LoadMetaTool(directory_.path(), 0).error().message().find("jsonl:1: \"needs_tool\""),
            std::string::npos);
}

TEST_F(MetaToolSuite, ThePublicFilesAreReadWholeAndTheirGoldIsRight) {
  HONE_NEED_SHARED(data, "data/metatool");
  const Suite suite = LoadMetaTool(data, 3).value();
  EXPECT_EQ(suite.cases.size(), 521u + 4000u + 512u + 250u);
  int64_t candidates = 0;
  for (const SuiteCase& one : suite.cases) {
    const std::string gold =
        one.scorer == SuiteScorer::kYesNo ? (one.gold.AsBool() ? "yes" : "no") : Listed(one.gold);
    EXPECT_TRUE(JudgeCase(one, {.text = gold})->right) << one.id;
    if (one.scorer == SuiteScorer::kYesNo) {
      EXPECT_FALSE(JudgeCase(one, {.text = one.gold.AsBool() ? "No." : "Yes."})->right);
      continue;
    }
    std::set<std::string> wanted, all;
    for (const Json& name : one.gold.AsArray()) wanted.insert(name.AsString());
    for (const Json& name : one.candidates.AsArray()) {
      all.insert(name.AsString());
      if (wanted.size() != 1 || wanted.contains(name.AsString())) continue;
      EXPECT_FALSE(JudgeCase(one, {.text = name.AsString()})->right) << one.id;
    }
    candidates += one.category == "single_tool" ? static_cast<int64_t>(all.size()) : 0;
  }
  EXPECT_EQ(candidates, 40'000) << "ten different ones each";
}

}  // namespace
}  // namespace hone
