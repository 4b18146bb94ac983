#include "evaluate/suites/suite_changes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "evaluate/suites/suite_bfcl.h"
#include "evaluate/suites/suite_metatool.h"
#include "support/shared_data.h"

namespace hone {
namespace {

Json Read(const std::string& json) { return ParseJson(json).value(); }

// Two functions of BFCL, as an endpoint is shown them.
Suite Bfcl() {
  SuiteCase one;
  one.id = "multiple_0";
  one.category = one.rule = "multiple";
  one.scorer = SuiteScorer::kBfclCalls;
  one.dots_as_underscores = true;
  one.messages = Read(R"([{"role": "user", "content": "Find the news of Oslo."}])");
  one.functions = Read(R"([
      {"name": "a.news", "description": "News.", "parameters": {"type": "dict", "properties": {
         "city": {"type": "string", "description": "Where."},
         "max_age": {"type": "integer", "description": "Days."},
         "x": {"type": "string"}}, "required": ["city"]}},
      {"name": "b.time", "description": "Time.", "parameters": {"type": "dict", "properties": {}}}])");
  for (const Json& function : one.functions.AsArray()) {
    one.tools.AsArray().push_back(ShownBfclFunction(function, one.rule, true));
  }
  one.gold = Read(R"([{"a.news": {"city": ["Oslo"], "max_age": [3, ""], "x": [""]}}])");
  return {.name = "bfcl", .cases = {one}, .tools = {}};
}

std::string NameShown(const SuiteCase& one, size_t tool) {
  return one.tools.AsArray()[tool].Find("function")->Find("name")->AsString();
}

TEST(SuiteChanges, RenamedToolsAreRenamedEverywhere) {
  std::map<std::string, std::string> names;
  const Suite changed = WithRenamedTools(Bfcl(), 1, &names);
  const SuiteCase& one = changed.cases[0];
  const std::string news = NameShown(one, 0), time = NameShown(one, 1);
  EXPECT_TRUE((news == "tool_1" && time == "tool_2") || (news == "tool_2" && time == "tool_1"));
  EXPECT_TRUE(JudgeCase(one, {"", Read("[{\"" + news + "\": {\"city\": \"Oslo\"}}]")})->right);
  EXPECT_EQ(JudgeCase(one, {"", Read("[{\"" + time + "\": {}}]")})->error_type,
            "simple_function_checker:wrong_func_name");
  EXPECT_EQ(JudgeCase(one, {"", Read(R"([{"a_news": {"city": "Oslo"}}])")})->error_type,
            "simple_function_checker:wrong_func_name");
  EXPECT_TRUE(names.empty());
  EXPECT_EQ(one.id, "multiple_0");
}

TEST(SuiteChanges, ToolsOfThisProgramHaveOneNewNameInAllCases) {
  Suite suite{.name = "s", .cases = {SuiteCase()}, .tools = {"calculator", "python"}};
  std::map<std::string, std::string> names;
  WithRenamedTools(suite, 1, &names);
  EXPECT_EQ(names.size(), 2u);
  EXPECT_NE(names["calculator"], "calculator");
  EXPECT_NE(names["calculator"], names["python"]);
}

TEST(SuiteChanges, ChangedSchemasKeepTheirMeaning) {
  const Suite changed = WithChangedSchemas(Bfcl(), 1);
  const SuiteCase& one = changed.cases[0];
  const Json* properties =
      one.tools.AsArray()[0].Find("function")->Find("parameters")->Find("properties");
  ASSERT_NE(properties->Find("maxAge"), nullptr) << DumpJson(*properties);
  ASSERT_NE(properties->Find("city_value"), nullptr);
  EXPECT_EQ(properties->Find("city_value")->Find("description"), nullptr);
  EXPECT_EQ(*one.functions.AsArray()[0].Find("parameters")->Find("required"),
            Json(Json::Array{"city_value"}));
  EXPECT_EQ(NameShown(one, 0), "a_news");
  EXPECT_TRUE(
      JudgeCase(one, {"", Read(R"([{"a_news": {"city_value": "oslo", "maxAge": 3}}])")})->right);
  EXPECT_FALSE(JudgeCase(one, {"", Read(R"([{"a_news": {"city": "Oslo"}}])")})->right);
}

TEST(SuiteChanges, CallsOfAUsersCasesAreChangedAlong) {
  SuiteCase one;
  one.id = "1";
  one.scorer = SuiteScorer::kCalls;
  one.tools = Read(R"([{"type": "function", "function": {"name": "f", "parameters": {"type":
      "object", "properties": {"user_id": {"type": "string"}}, "required": ["user_id"]}}}])");
  one.gold = Read(R"([{"name": "f", "arguments": {"user_id": "7"}, "optional": ["user_id"]}])");
  const Suite suite{.name = "s", .cases = {one}, .tools = {}};
  const SuiteCase changed = WithChangedSchemas(suite, 0).cases[0];
  EXPECT_TRUE(JudgeCase(changed, {"", Read(R"([{"f": {"userId": "7"}}])")})->right);
  EXPECT_FALSE(JudgeCase(changed, {"", Read(R"([{"f": {"user_id": "7"}}])")})->right);
  std::map<std::string, std::string> names;
  const SuiteCase renamed = WithRenamedTools(suite, 0, &names).cases[0];
  EXPECT_TRUE(JudgeCase(renamed, {"", Read(R"([{"tool_1": {"user_id": "7"}}])")})->right);
}

TEST(SuiteChanges, NewParameterNamesNeverCollide) {
  SuiteCase one;
  one.id = "1";
  one.scorer = SuiteScorer::kCalls;
  one.gold = Json::Array();
  one.tools = Read(R"([{"name": "f", "parameters": {"properties":
      {"a": {}, "a_value": {}, "a_b": {}, "aB": {}, "_x": {}}}}])");
  const SuiteCase changed =
      WithChangedSchemas({.name = "s", .cases = {one}, .tools = {}}, 0).cases[0];
  EXPECT_EQ(changed.tools.AsArray()[0].Find("parameters")->Find("properties")->AsObject().size(),
            5u);
}

TEST(SuiteChanges, ParaphrasesKeepTheRequestAndFollowTheSeed) {
  const Suite plain = Bfcl();
  const auto text = [](const Suite& suite) {
    return suite.cases[0].messages.AsArray()[0].Find("content")->AsString();
  };
  const Suite changed = Paraphrased(plain, 1, {});
  EXPECT_NE(text(changed), text(plain));
  EXPECT_NE(text(changed).find("Look for the news of Oslo."), std::string::npos) << text(changed);
  EXPECT_EQ(text(changed), text(Paraphrased(plain, 1, {})));
  EXPECT_EQ(text(Paraphrased(plain, 1, {{"multiple_0", "Oslo: what is new?"}})),
            "Oslo: what is new?");
}

TEST(SuiteChanges, ParaphrasesOfAFileNameTheirLines) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "p.jsonl";
  ASSERT_TRUE(WriteFileAtomic(file, "{\"id\": \"a\", \"prompt\": \"b\"}\n{\"id\": \"c\"}").ok());
  EXPECT_NE(ReadParaphrases(file).error().message().find("p.jsonl:2"), std::string::npos);
  ASSERT_TRUE(WriteFileAtomic(file, R"({"id": "a", "prompt": "b"})").ok());
  EXPECT_EQ(ReadParaphrases(file)->at("a"), "b");
}

// The first accepted value of every parameter that must be there.
Json GoldCalls(const SuiteCase& one) {
  Json::Array calls;
  for (const Json& call : one.gold.AsArray()) {
    const auto& [name, parameters] = call.AsObject()[0];
    Json arguments = Json::Of({});
    for (const auto& [parameter, accepted] : parameters.AsObject()) {
      const Json::Array& values = accepted.AsArray();
      const bool absent = std::find(values.begin(), values.end(), Json("")) != values.end();
      if (!absent) arguments.Set(parameter, values.at(0));
    }
    calls.push_back(Json::Of({{name, std::move(arguments)}}));
  }
  return calls;
}

TEST(SuiteChanges, WhatIsRightOfThePublicCasesStaysRight) {
  HONE_NEED_SHARED(data, "data/bfcl");
  const Suite plain =
      LoadBfcl(data, {.categories = {"simple_python", "multiple", "parallel", "live_multiple"}})
          .value();
  std::map<std::string, std::string> names;
  const Suite renamed = WithRenamedTools(plain, 5, &names);
  const Suite both = WithChangedSchemas(renamed, 5);
  int64_t right = 0;
  for (size_t i = 0; i < plain.cases.size(); ++i) {
    const auto verdict = [&](const Suite& suite) {
      return JudgeCase(suite.cases[i], {"", GoldCalls(suite.cases[i])}).value();
    };
    const SuiteVerdict as_it_was = verdict(plain);
    EXPECT_EQ(verdict(renamed), as_it_was) << plain.cases[i].id;
    EXPECT_EQ(verdict(both), as_it_was) << plain.cases[i].id;
    right += as_it_was.right ? 1 : 0;
  }
  EXPECT_GT(right, static_cast<int64_t>(plain.cases.size()) * 8 / 10);
}

TEST(SuiteChanges, NamesInTheTextOfAChoiceAreRenamed) {
  HONE_NEED_SHARED(data, "data/metatool");
  Suite plain = LoadMetaTool(data, 0).value();
  ASSERT_TRUE(SelectCases({.per_category = 20}, &plain).ok());
  std::map<std::string, std::string> names;
  const Suite changed = WithRenamedTools(plain, 0, &names);
  for (const SuiteCase& one : changed.cases) {
    if (one.scorer != SuiteScorer::kToolNames) continue;
    const std::string& text = one.messages.AsArray()[0].Find("content")->AsString();
    for (const Json& name : one.candidates.AsArray()) {
      EXPECT_TRUE(name.AsString().starts_with("tool_"));
      EXPECT_NE(text.find("- " + name.AsString() + ": "), std::string::npos) << text;
    }
    EXPECT_TRUE(JudgeCase(one, {.text = one.gold.AsArray()[0].AsString() +
                                        (one.gold.AsArray().size() > 1
                                             ? ", " + one.gold.AsArray()[1].AsString()
                                             : "")})
                    ->right);
  }
}

}  // namespace
}  // namespace hone
