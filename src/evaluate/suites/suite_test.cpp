#include "evaluate/suites/suite.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Json Read(const std::string& json) { return ParseJson(json).value(); }

SuiteCase Case(SuiteScorer scorer, Json gold, std::string rule = "") {
  SuiteCase one;
  one.id = "c";
  one.scorer = scorer;
  one.gold = std::move(gold);
  one.rule = std::move(rule);
  return one;
}

std::string Judged(const SuiteCase& one, const SuiteOutput& output) {
  const auto verdict = JudgeCase(one, output);
  if (!verdict.ok()) return "error: " + verdict.error().message();
  EXPECT_EQ(verdict->right, verdict->error_type.empty());
  return verdict->right ? "right" : verdict->error_type;
}

TEST(Suite, CallsAreRightInAnyOrder) {
  const SuiteCase one = Case(SuiteScorer::kCalls, Read(R"([
      {"name": "f", "arguments": {"a": 1, "b": 2}, "optional": ["b"]}, {"name": "g"}])"));
  const auto called = [&](const char* calls) { return Judged(one, {"", Read(calls)}); };
  EXPECT_EQ(called(R"([{"g": {"any": 1}}, {"f": {"a": 1}}])"), "right");
  EXPECT_EQ(called(R"([{"f": {"a": 1, "b": 2}}, {"g": {}}])"), "right");
  EXPECT_EQ(called(R"([{"f": {"a": 2}}, {"g": {}}])"), "wrong_arguments");
  EXPECT_EQ(called(R"([{"f": {"a": 1}}, {"h": {}}])"), "wrong_tool");
  EXPECT_EQ(called(R"([{"f": {"a": 1}}])"), "wrong_count");
  EXPECT_EQ(called("[]"), "no_call");
  EXPECT_EQ(called("null"), "unreadable_call");
}

TEST(Suite, WhereNoCallIsRightWordsAre) {
  const SuiteCase one = Case(SuiteScorer::kCalls, Json::Array());
  EXPECT_EQ(Judged(one, {.text = "I cannot do that."}), "right");
  EXPECT_EQ(Judged(one, {"", Read(R"([{"f": {}}])")}), "wrong_count");
}

TEST(Suite, AnswersAreComparedByTheirRule) {
  EXPECT_EQ(Judged(Case(SuiteScorer::kAnswer, "5", "number"), {.text = "5.0"}), "right");
  EXPECT_EQ(Judged(Case(SuiteScorer::kAnswer, "#### 1,234", "gsm8k"), {.text = "so\n#### 1234"}),
            "right");
  EXPECT_EQ(Judged(Case(SuiteScorer::kAnswer, "Oslo", "text"), {.text = "Bergen"}), "wrong_answer");
  EXPECT_EQ(Judged(Case(SuiteScorer::kAnswer, "Oslo", "text"), {.text = " "}), "no_answer");
  EXPECT_TRUE(Judged(Case(SuiteScorer::kAnswer, "Oslo", "numbr"), {}).starts_with("error"));
}

TEST(Suite, YesAndNoAreTheFirstWordThatIsEither) {
  const SuiteCase one = Case(SuiteScorer::kYesNo, Json(true));
  EXPECT_EQ(Judged(one, {.text = "Yes, since no model knows that."}), "right");
  EXPECT_EQ(Judged(one, {.text = "**No**"}), "wrong_answer");
  EXPECT_EQ(Judged(one, {.text = "Perhaps. Nobody knows."}), "no_answer");
}

TEST(Suite, ToolsAreNamedAsAListOrInASentence) {
  const Json candidates = Json::Array{"NewsTool", "Now", "PDF&URLTool"};
  using Names = std::vector<std::string>;
  EXPECT_EQ(NamedTools("NewsTool", candidates), (Names{"NewsTool"}));
  EXPECT_EQ(NamedTools("\"NewsTool\" and Now.", candidates), (Names{"NewsTool", "Now"}));
  EXPECT_EQ(NamedTools("[NewsTool, PDF&URLTool]", candidates), (Names{"NewsTool", "PDF&URLTool"}));
  EXPECT_EQ(NamedTools("I would take NewsTool here.", candidates), (Names{"NewsTool"}));
  EXPECT_EQ(NamedTools("now I know it", candidates), (Names{})) << "case tells names from words";
  EXPECT_EQ(NamedTools("None", candidates), (Names{"None"}));
  EXPECT_EQ(NamedTools("None of the others, NewsTool it is", candidates), (Names{"NewsTool"}));
  SuiteCase two = Case(SuiteScorer::kToolNames, Read(R"(["Now", "NewsTool"])"));
  two.candidates = candidates;
  EXPECT_EQ(Judged(two, {.text = "NewsTool, Now"}), "right");
  EXPECT_EQ(Judged(two, {.text = "NewsTool"}), "wrong_tool");
  EXPECT_EQ(Judged(two, {.text = "No idea"}), "no_answer");
}

TEST(Suite, CallsOfBfclComeFromTheDialectOrFromTheText) {
  SuiteCase one = Case(SuiteScorer::kBfclCalls, Read(R"([{"f": {"x": [1]}}])"), "simple_python");
  one.functions = Read(R"([{"name": "f", "parameters": {"type": "dict",
      "properties": {"x": {"type": "integer"}}, "required": ["x"]}}])");
  EXPECT_EQ(Judged(one, {"", Read(R"([{"f": {"x": 1}}])")}), "right");
  EXPECT_EQ(Judged(one, {.text = "[f(x=1)]"}), "ast_decoder:decoder_failed");
  EXPECT_EQ(Judged(one, {}), "simple_function_checker:wrong_count");
  EXPECT_EQ(Judged(one, {"", Json()}), "ast_decoder:decoder_failed");
  one.calls_as_text = true;
  EXPECT_EQ(Judged(one, {.text = "[f(x=1)]"}), "right");
  one.scorer = SuiteScorer::kIrrelevance;
  EXPECT_EQ(Judged(one, {.text = "[f(x=1)]"}), "irrelevance_error:decoder_success");
  EXPECT_EQ(Judged(one, {.text = "None fits."}), "right");
}

TEST(Suite, SelectedCasesAreTheSameForTheSameSeedAndNested) {
  Suite all{.name = "s"};
  for (int i = 0; i < 40; ++i) {
    SuiteCase& one = all.cases.emplace_back();
    one.id = std::to_string(i);
    one.category = i % 2 == 0 ? "even" : "odd";
  }
  const auto ids = [&](SuiteSelection selection) {
    Suite suite = all;
    EXPECT_TRUE(SelectCases(selection, &suite).ok());
    std::vector<std::string> found;
    for (const SuiteCase& one : suite.cases) found.push_back(one.id);
    return found;
  };
  EXPECT_EQ(ids({}).size(), 40u);
  EXPECT_EQ(ids({.categories = {"odd"}}).size(), 20u);
  const auto few = ids({.per_category = 3, .seed = 1}), more = ids({.per_category = 6, .seed = 1});
  EXPECT_EQ(few.size(), 6u);
  EXPECT_EQ(few, ids({.per_category = 3, .seed = 1}));
  EXPECT_NE(few, ids({.per_category = 3, .seed = 2}));
  for (const std::string& id : few) {
    EXPECT_NE(std::find(more.begin(), more.end(), id), more.end());
  }
  Suite suite = all;
  const auto wrong = SelectCases({.categories = {"evn"}}, &suite);
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message().find("did you mean \"even\"?"), std::string::npos);
}

}  // namespace
}  // namespace hone
