#include "tools/json_schema.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "support/shared_data.h"

namespace hone {
namespace {

Json Parsed(std::string_view text) { return ParseJson(text).value(); }

std::string ProblemsOf(std::string_view schema, std::string_view value) {
  const auto compiled = JsonSchema::Compile(Parsed(schema));
  EXPECT_TRUE(compiled.ok()) << compiled.error().message();
  std::string out;
  for (const auto& problem : compiled->Check(Parsed(value))) {
    out += (out.empty() ? "" : "; ") + problem.Text();
  }
  return out;
}

TEST(JsonSchema, SaysWhatToChange) {
  EXPECT_EQ(
      ProblemsOf(R"({"properties": {"day": {"enum": ["mon", "tue"]}}})", R"({"day": "Mondy"})"),
      R"(`day`: expected one of "mon", "tue", got "Mondy")");
  EXPECT_EQ(ProblemsOf(R"({"required": ["city"], "properties": {"days": {"type": "integer"}}})",
                       R"({"days": "three"})"),
            R"(`city`: is missing; `days`: expected integer, got "three")");
  EXPECT_EQ(ProblemsOf(R"({"properties": {"to": {"items": {"type": "string", "minLength": 3}}}})",
                       R"({"to": ["abc", "x", 5]})"),
            R"(`to[1]`: expected at least 3 characters, got 1; `to[2]`: expected string, got 5)");
  EXPECT_EQ(ProblemsOf(R"({"additionalProperties": false})", R"({"zz": 1})"),
            "`zz`: a member of this name is not allowed");
  EXPECT_EQ(ProblemsOf(R"({"type": "object"})", "3"), "expected object, got 3");
}

TEST(JsonSchema, RefusesWhatItCannotDo) {
  auto message = [](std::string_view schema) {
    const auto compiled = JsonSchema::Compile(Parsed(schema));
    return compiled.ok() ? "compiled" : compiled.error().message();
  };
  EXPECT_NE(message(R"({"$ref": "http://example.com/other.json"})").find("remote document"),
            std::string::npos);
  EXPECT_NE(message(R"({"$dynamicRef": "#x"})").find("dynamic reference"), std::string::npos);
  EXPECT_NE(message(R"({"$schema": "http://example.com/mine"})").find("meta-schema"),
            std::string::npos);
  EXPECT_NE(message(R"({"$ref": "#/$defs/nowhere"})").find("points to no subschema"),
            std::string::npos);
  EXPECT_NE(message(R"({"$ref": "#"})").find("without end"), std::string::npos);
  EXPECT_NE(
      message(R"({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}})")
          .find("without end"),
      std::string::npos);
  EXPECT_NE(message(R"({"type": "strang"})").find("no type of JSON"), std::string::npos);
  EXPECT_NE(message(R"({"pattern": "("})").find("regular expression"), std::string::npos);
  EXPECT_NE(message(R"({"properties": {"a": 5}})").find("must be a schema"), std::string::npos);
  EXPECT_FALSE(JsonSchema::Compile(Json(3)).ok());
  // In draft 7 its neighbours are passed over, so nobody had looked at this oneOf.
  EXPECT_FALSE(
      JsonSchema::Compile(Parsed(R"({"$ref": [], "oneOf": {}})"), {.draft = SchemaDraft::kDraft7})
          .ok());
}

TEST(JsonSchema, ASchemaThatHoldsItselfIsFine) {
  constexpr std::string_view kTree =
      R"({"properties": {"children": {"items": {"$ref": "#"}}}, "required": ["name"]})";
  EXPECT_EQ(ProblemsOf(kTree, R"({"name": 1, "children": [{"name": 2}, {"children": []}]})"),
            "`children[1].name`: is missing");
}

// The official test suite. Groups that are refused are counted by reason, and the reasons must be
// those we state.
void RunSuite(const std::filesystem::path& folder, SchemaDraft draft) {
  int tests = 0, refused = 0;
  std::map<std::string, int> reasons;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const Json groups = Parsed(*ReadFile(entry.path()));
    for (const Json& group : groups.AsArray()) {
      const std::string name =
          entry.path().filename().string() + ": " + group.Find("description")->AsString();
      const auto schema = JsonSchema::Compile(*group.Find("schema"), {.draft = draft});
      if (!schema.ok()) {
        const std::string& why = schema.error().message();
        const bool stated = why.find("remote document") != std::string::npos ||
                            why.find("dynamic reference") != std::string::npos ||
                            why.find("meta-schema") != std::string::npos ||
                            why.find("$vocabulary") != std::string::npos;
        EXPECT_TRUE(stated) << name << ": " << why;
        refused += static_cast<int>(group.Find("tests")->AsArray().size());
        ++reasons[name + " (" + why + ")"];
        continue;
      }
      for (const Json& test : group.Find("tests")->AsArray()) {
        const bool valid = schema->Check(*test.Find("data")).empty();
        EXPECT_EQ(valid, test.Find("valid")->AsBool())
            << name << " / " << test.Find("description")->AsString();
        ++tests;
      }
    }
  }
  EXPECT_GT(tests, 300);
  std::printf("%d tests, %d refused\n", tests, refused);
  for (const auto& [reason, count] : reasons) std::printf("  refused: %s\n", reason.c_str());
}

TEST(JsonSchema, OfficialSuiteOfDraft7) {
  HONE_NEED_SHARED(data, "data/json-schema-test-suite");
  RunSuite(data / "draft7", SchemaDraft::kDraft7);
}

TEST(JsonSchema, OfficialSuiteOfDraft2020) {
  HONE_NEED_SHARED(data, "data/json-schema-test-suite");
  RunSuite(data / "draft2020-12", SchemaDraft::kDraft2020);
}

TEST(JsonSchema, ToolArgumentsAsPythonJudgesThem) {
  HONE_NEED_SHARED(data, "data");
  std::map<std::string, JsonSchema> schemas;
  for (const char* domain : {"retail", "airline"}) {
    const auto path = data / "tau-bench" / domain / "tools.json";
    const auto tools = ReadFile(path);
    ASSERT_TRUE(tools.ok()) << path;
    const Json list = Parsed(*tools);
    for (const Json& tool : list.AsArray()) {
      const Json* function = tool.Find("function") != nullptr ? tool.Find("function") : &tool;
      auto schema = JsonSchema::Compile(*function->Find("parameters"));
      ASSERT_TRUE(schema.ok()) << schema.error().message();
      schemas.emplace(std::string(domain) + "/" + function->Find("name")->AsString(),
                      *std::move(schema));
    }
  }
  int right = 0;
  const auto cases = ParseJsonLines(*ReadFile(data / "tool-argument-validation/cases.jsonl"));
  for (const Json& one : *cases) {
    const std::string name = one.Find("domain")->AsString() + "/" + one.Find("tool")->AsString();
    ASSERT_TRUE(schemas.contains(name)) << name;
    EXPECT_EQ(schemas.at(name).Check(*one.Find("arguments")).empty(), one.Find("valid")->AsBool())
        << DumpJson(one);
    ++right;
  }
  EXPECT_GT(right, 500);
}

TEST(JsonSchema, AValueIsNotBlamedForAPatternThatTakesTooLong) {
  const JsonSchema schema =
      JsonSchema::Compile(*ParseJson(R"({"properties": {"x": {"pattern": "(.*a){20}"}}})")).value();
  const auto check = [&](const std::string& text) {
    return schema.Check(Json::Of({{"x", text}, {"y", 1}}));
  };
  const auto problems = check(std::string(200, 'a') + "b");  // it matches
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(problems[0].undecided);
  EXPECT_NE(problems[0].Text().find("`x`: could not be checked"), std::string::npos);
  EXPECT_FALSE(check("b")[0].undecided);
  // What is undecided stays so under "not".
  const JsonSchema inverted =
      JsonSchema::Compile(*ParseJson(R"({"not": {"pattern": "(.*a){20}"}})")).value();
  EXPECT_TRUE(inverted.Check(Json(std::string(200, 'a') + "b"))[0].undecided);
}

TEST(JsonSchema, ManyUniqueItemsAreCheckedInLinearTime) {
  const JsonSchema schema = JsonSchema::Compile(*ParseJson(R"({"uniqueItems": true})")).value();
  Json::Array many;
  for (int64_t i = 0; i < 200000; ++i) many.emplace_back(i);
  EXPECT_TRUE(schema.Check(Json(many)).empty());
  many.emplace_back(7.0);
  ASSERT_EQ(schema.Check(Json(many)).size(), 1u);
  EXPECT_EQ(schema.Check(Json(many))[0].Text(), "`[200000]`: the same as item 7");
  for (const char* same : {R"([{"a":1,"b":[2]},{"b":[2.0],"a":1}])", "[0,-0.0]", R"(["x","x"])",
                           "[null,null]", "[1e2,100]", "[[1],[1.0]]",
                           "[123456789012345678901234567890,123456789012345678901234567890]"}) {
    EXPECT_EQ(schema.Check(*ParseJson(same)).size(), 1u) << same;
  }
  for (const char* other : {R"([{"a":1},{"a":2}])", "[0,false]", R"(["1",1])", "[[1],[1,1]]",
                            "[[[1],1],[[1,1]]]", "[9007199254740993,9007199254740992]"}) {
    EXPECT_TRUE(schema.Check(*ParseJson(other)).empty()) << other;
  }
}

TEST(JsonSchema, OlderDraftsAreReadByTheirNames) {
  const auto fits = [](const std::string& schema, const char* value) {
    const auto compiled = JsonSchema::Compile(*ParseJson(schema));
    EXPECT_TRUE(compiled.ok()) << schema;
    return compiled.ok() && compiled->Check(*ParseJson(value)).empty();
  };
  for (const char* name :
       {"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#",
        "https://json-schema.org/draft-07/schema"}) {
    const std::string schema =
        std::string(R"({"$schema": ")") + name + R"(", "properties": {"a": {"type": "integer"}}})";
    EXPECT_TRUE(fits(schema, R"({"a": 1})")) << name;
    EXPECT_FALSE(fits(schema, R"({"a": "x"})")) << name;
  }
  // Draft 4 has flags beside its limits, and "id".
  const std::string fourth = R"({"$schema": "http://json-schema.org/draft-04/schema#",
      "id": "http://x/y", "properties": {"id": {"minimum": 3, "exclusiveMinimum": true},
      "b": {"maximum": 3, "exclusiveMaximum": false},
      "default": {"minimum": 3, "exclusiveMinimum": true}}})";
  EXPECT_FALSE(fits(fourth, R"({"default": 3})"));
  EXPECT_FALSE(fits(fourth, R"({"id": 3})"));
  EXPECT_TRUE(fits(fourth, R"({"id": 4, "b": 3})"));
  EXPECT_FALSE(fits(fourth, R"({"b": 4})"));
  EXPECT_FALSE(JsonSchema::Compile(*ParseJson(R"({"$schema": "http://x/y"})")).ok());
}

TEST(JsonSchema, PatternsMayNameCategoriesOfUnicodeInFull) {
  const auto fits = [](const char* pattern, const char* value) {
    const Json schema = Json::Of({{"pattern", pattern}});
    return JsonSchema::Compile(schema).value().Check(Json(value)).empty();
  };
  EXPECT_TRUE(fits("^\\p{Letter}+$", "Zoë你"));
  EXPECT_FALSE(fits("^\\p{Letter}+$", "a1"));
  EXPECT_TRUE(fits("^\\P{Letter}$", "1"));
  EXPECT_TRUE(fits("^[\\p{General_Category=Uppercase_Letter}\\p{Nd}]+$", "A1"));
}

}  // namespace
}  // namespace hone
