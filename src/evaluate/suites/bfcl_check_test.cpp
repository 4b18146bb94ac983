#include "evaluate/suites/bfcl_check.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "evaluate/suites/python_calls.h"
#include "support/shared_data.h"

namespace hone {
namespace {

Json Read(const std::string& json) { return ParseJson(json).value(); }

// The error type of f(x = value), where x has this type and these accepted values; "" when right.
std::string Given(const std::string& schema, const std::string& accepted, const std::string& value,
                  const std::string& category = "simple_python") {
  const Json functions =
      Read(R"([{"name": "f", "parameters": {"type": "dict", "properties": {"x": )" + schema +
           R"(}, "required": []}}])");
  return CheckBfclCalls(category, functions, Read(R"([{"f": {"x": )" + accepted + "}}]"),
                        Read(R"([{"f": {"x": )" + value + "}}]"), false)
      .value()
      .error_type;
}

TEST(BfclCheck, TypesAreExact) {
  const std::string whole = R"({"type": "integer"})", real = R"({"type": "float"})";
  EXPECT_EQ(Given(whole, "[5]", "5"), "");
  EXPECT_EQ(Given(whole, "[5]", "5.0"), "type_error:simple");
  EXPECT_EQ(Given(whole, "[1]", "true"), "type_error:simple");
  EXPECT_EQ(Given(real, "[5]", "5"), "") << "5.0 equals the accepted 5";
  EXPECT_EQ(Given(real, "[5.0]", "5"), "") << "at the top an integer becomes a real";
  EXPECT_EQ(Given(whole, "[5]", "6"), "value_error:others");
  EXPECT_EQ(Given(R"({"type": "string"})", R"(["a", ""])", "null"), "type_error:simple");
  EXPECT_EQ(Given(R"({"type": "any"})", R"(["a"])", "\"A\""), "");
}

TEST(BfclCheck, TextsAreForgiven) {
  const std::string text = R"({"type": "string"})";
  EXPECT_EQ(Given(text, R"(["April 1, 2024"])", R"("april 1 2024.")"), "");
  EXPECT_EQ(Given(text, R"(["10:30"])", R"("1030")"), "value_error:string");
  EXPECT_EQ(Given(text, R"(["it's"])", R"("it\"s")"), "");
  EXPECT_EQ(Given(text, R"(["Zürich"])", R"("ZÜRICH")"), "") << "case of all letters";
  EXPECT_EQ(Given(text, R"(["a", ""])", R"("")"), "");
  EXPECT_EQ(Given(R"({"type": "integer"})", R"([3, ""])", R"("")"), "type_error:simple");
}

TEST(BfclCheck, AcceptedValuesOfAnotherTypeAreVariables) {
  EXPECT_EQ(Given(R"({"type": "integer"})", R"(["speed"])", R"("speed")"), "");
  EXPECT_EQ(Given(R"({"type": "integer"})", R"(["speed"])", R"("Speed")"), "value_error:others");
}

TEST(BfclCheck, ListsAreComparedInOrderAndByElementType) {
  const std::string reals = R"({"type": "array", "items": {"type": "float"}})";
  EXPECT_EQ(Given(reals, "[[1.5, 2.5]]", "[1.5, 2.5]"), "");
  EXPECT_EQ(Given(reals, "[[1.5, 2.0]]", "[1.5, 2]"), "type_error:nested");
  EXPECT_EQ(Given(reals, "[[1, 2]]", "[1, 2]"), "") << "the accepted list has integers";
  const std::string texts = R"({"type": "array", "items": {"type": "string"}})";
  EXPECT_EQ(Given(texts, R"([["A b", "c"]])", R"(["ab", "C."])"), "");
  EXPECT_EQ(Given(texts, R"([["a", "b"]])", R"(["b", "a"])"), "value_error:list/tuple");
  EXPECT_EQ(Given(texts, R"([["a"], ""])", "[]"), "") << "\"\" is an empty list";
}

TEST(BfclCheck, ATupleIsAListOnlyWhereATupleIsDocumented) {
  const std::string pair = R"j({"(tuple)": [1, 2]})j";
  EXPECT_EQ(Given(R"({"type": "tuple", "items": {"type": "integer"}})", "[[1, 2]]", pair), "");
  EXPECT_EQ(Given(R"({"type": "array", "items": {"type": "integer"}})", "[[1, 2]]", pair),
            "type_error:simple");
  EXPECT_EQ(
      Given(R"({"type": "array", "items": {"type": "array"}})", "[[[1, 2]]]", "[" + pair + "]"),
      "type_error:nested");
}

TEST(BfclCheck, DictionariesHaveAListOfValuesPerKey) {
  const std::string dict = R"({"type": "dict"})";
  const std::string accepted = R"([{"a": [1, 2], "b": ["x", ""]}])";
  EXPECT_EQ(Given(dict, accepted, R"({"a": 2})"), "");
  EXPECT_EQ(Given(dict, accepted, R"({"a": 1.0, "b": "X."})"), "");
  EXPECT_EQ(Given(dict, accepted, R"({"a": true})"), "") << "true equals 1";
  EXPECT_EQ(Given(dict, accepted, R"({"a": 3})"), "value_error:dict_value");
  EXPECT_EQ(Given(dict, accepted, R"({"a": 1, "c": 1})"), "value_error:dict_key");
  EXPECT_EQ(Given(dict, accepted, R"({"b": "y"})"), "value_error:dict_key")
      << "a missing key weighs more than a wrong value";
  EXPECT_EQ(Given(dict, R"([""])", "{}"), "dict_checker:unclear");
}

TEST(BfclCheck, ListsOfDictionariesAreComparedOneByOne) {
  const std::string list = R"({"type": "array", "items": {"type": "dict"}})";
  EXPECT_EQ(Given(list, R"([[{"a": [1]}, {"a": [2]}]])", R"([{"a": 1}, {"a": 2}])"), "");
  EXPECT_EQ(Given(list, R"([[{"a": [1]}]])", R"([{"a": 2}])"), "value_error:dict_value");
  EXPECT_EQ(Given(list, R"([[{"a": [1]}]])", R"([])"), "value_error:list_dict_count");
  EXPECT_EQ(Given(list, R"([[{"a": [1]}], ""])", R"([])"), "") << "\"\" is an empty list";
  EXPECT_EQ(Given(list, R"([[{"a": [1]}], ""])", R"([{"a": 2}])"), "value_error:list_dict_count")
      << "the last accepted value's error counts";
}

TEST(BfclCheck, ForeignValuesArriveAsTextsAndAreChecked) {
  EXPECT_EQ(Given(R"({"type": "integer"})", "[5]", "5", "simple_java"), "type_error:java");
  EXPECT_EQ(Given(R"({"type": "integer"})", "[5]", "5", "simple_javascript"), "type_error:js");
  EXPECT_EQ(Given(R"({"type": "integer"})", "[5]", "\"5\"", "simple_java"), "");
  EXPECT_EQ(Given(R"({"type": "double"})", "[5.5]", "\"5.5f\"", "simple_java"),
            "type_error:simple");
  EXPECT_EQ(Given(R"({"type": "array", "items": {"type": "integer"}})", "[[1, 2]]", "\"[1, b]\"",
                  "simple_javascript"),
            "type_error:nested");
}

TEST(BfclCheck, NamesCountsAndParameters) {
  const Json functions = Read(R"([{"name": "a.f", "parameters": {"type": "dict", "properties":
      {"x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["x"]}}, {"name": "g",
      "parameters": {"type": "dict", "properties": {"x": {"type": "integer"}}, "required": []}}])");
  const auto check = [&](const char* category, const char* accepted, const char* calls,
                         bool dots = false) {
    return CheckBfclCalls(category, functions, Read(accepted), Read(calls), dots)->error_type;
  };
  const char* one = R"([{"a.f": {"x": [1], "y": [2, ""]}}])";
  EXPECT_EQ(check("simple_python", one, R"([{"a.f": {"x": 1}}])"), "");
  EXPECT_EQ(check("simple_python", one, R"([{"a_f": {"x": 1}}])"),
            "simple_function_checker:wrong_func_name");
  EXPECT_EQ(check("simple_python", one, R"([{"a_f": {"x": 1}}])", true), "");
  EXPECT_EQ(check("simple_python", one, R"([{"a.f": {"y": 2}}])"),
            "simple_function_checker:missing_required");
  EXPECT_EQ(check("simple_python", one, R"([{"a.f": {"x": 1, "z": 2}}])"),
            "simple_function_checker:unexpected_param");
  EXPECT_EQ(check("simple_python", R"([{"a.f": {"x": [1], "y": [2]}}])", R"([{"a.f": {"x": 1}}])"),
            "simple_function_checker:missing_optional");
  EXPECT_EQ(check("simple_python", one, "[]"), "simple_function_checker:wrong_count");
  EXPECT_EQ(check("multiple", one, "[]"), "multiple_function_checker:wrong_count");
  EXPECT_EQ(check("simple_python", one, "null"), "ast_decoder:decoder_failed");
  EXPECT_EQ(check("simple_python", one, R"([{"a.f": 1}])"),
            "ast_decoder:decoder_wrong_output_format");
  const char* two = R"([{"g": {"x": [1, 2]}}, {"g": {"x": [1]}}])";
  EXPECT_EQ(check("parallel", two, R"([{"g": {"x": 2}}, {"g": {"x": 1}}])"), "");
  EXPECT_EQ(check("parallel", two, R"([{"g": {"x": 1}}, {"g": {"x": 2}}])"),
            "parallel_function_checker_no_order:cannot_find_match")
      << "greedy: the first takes what only it could have left";
  EXPECT_EQ(check("live_parallel_multiple", two, R"([{"g": {"x": 1}}])"),
            "parallel_function_checker_no_order:wrong_count");
}

TEST(BfclCheck, OutputsAreDecoded) {
  EXPECT_EQ(DecodeBfclOutput("[f(a=1)]"), Read(R"([{"f": {"a": 1}}])"));
  EXPECT_EQ(DecodeBfclOutput(Read(R"([{"f": "{\"a\": 1.0}"}])")), Read(R"([{"f": {"a": 1.0}}])"));
  EXPECT_TRUE(DecodeBfclOutput("Sorry.").is_null());
  EXPECT_TRUE(DecodeBfclOutput(Read(R"([{"f": "{"}])")).is_null());
  EXPECT_TRUE(DecodeBfclOutput(Read(R"(["f"])")).is_null());
}

TEST(BfclCheck, RelevanceIsWhetherThereIsACall) {
  const Json call = Read(R"([{"f": {}}])"), none = Read("[]"), odd = Read(R"([{"f": 1}])");
  EXPECT_TRUE(CheckBfclRelevance(true, call).valid);
  EXPECT_TRUE(CheckBfclRelevance(false, none).valid);
  EXPECT_TRUE(CheckBfclRelevance(false, odd).valid);
  EXPECT_TRUE(CheckBfclRelevance(false, Json()).valid);
  EXPECT_EQ(CheckBfclRelevance(false, call).error_type, "irrelevance_error:decoder_success");
  EXPECT_EQ(CheckBfclRelevance(true, none).error_type, "relevance_error:decoder_failed");
}

TEST(BfclCheck, AFinalAnswerStandsInTheMessageAsWords) {
  const std::vector<std::string> accepted = {"7", "New York"};
  EXPECT_TRUE(CheckBfclAnswer("**7** games", accepted).valid);
  EXPECT_TRUE(CheckBfclAnswer("In new-york? No: new york", accepted).valid);
  EXPECT_EQ(CheckBfclAnswer("It is 17.", accepted).error_type, "agentic:answer_not_found");
}

// --- every label of the public data
// ---------------------------------------------------------------

std::map<std::string, Json> ById(const std::filesystem::path& folder) {
  std::map<std::string, Json> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto rows = ParseJsonLines(*ReadFile(entry.path()));
    if (!rows.ok()) continue;
    for (const Json& row : *rows) {
      if (const Json* id = row.Find("id")) all.emplace(id->AsString(), row);
    }
  }
  return all;
}

// As the data has it: JSON has no tuples.
Json WithoutTuples(const Json& value) {
  if (value.is_array()) {
    Json::Array list;
    for (const Json& one : value.AsArray()) list.push_back(WithoutTuples(one));
    return list;
  }
  if (!value.is_object()) return value;
  if (const Json* tuple = value.Find(kPythonTuple)) return WithoutTuples(*tuple);
  Json::Object members;
  for (const auto& [key, one] : value.AsObject()) members.emplace_back(key, WithoutTuples(one));
  return members;
}

std::string TextIn(const Json& row, const char* key) {
  const Json* found = row.Find(key);
  return found != nullptr && found->is_string() ? found->AsString() : "";
}

class BfclLabels : public testing::Test {
 protected:
  // Every labelled case but those of several turns.
  template <typename Check>
  void ForEach(const std::filesystem::path& data, Check check) {
    for (const auto& model : std::filesystem::directory_iterator(data / "checker_cases")) {
      for (const auto& file : std::filesystem::directory_iterator(model.path())) {
        const auto cases = ParseJsonLines(*ReadFile(file.path()));
        ASSERT_TRUE(cases.ok()) << file.path();
        for (const Json& one : *cases) {
          if (!TextIn(one, "category").starts_with("multi_turn")) check(one);
        }
      }
    }
  }

  void Expect(const BfclVerdict& verdict, const Json& one) {
    ++checked_;
    if (verdict.valid == one.Find("valid")->AsBool() &&
        verdict.error_type == TextIn(one, "error_type")) {
      return;
    }
    if (++wrong_ <= 20) ADD_FAILURE() << verdict.error_type << " for " << DumpJson(one);
  }

  int checked_ = 0, wrong_ = 0;
};

TEST_F(BfclLabels, EveryOutputIsDecodedAndJudgedAsTheLeaderboardDoes) {
  HONE_NEED_SHARED(data, "data/bfcl");
  const auto questions = ById(data / "question"), answers = ById(data / "possible_answer");
  int decoded_texts = 0;
  ForEach(data, [&](const Json& one) {
    const Json *raw = one.Find("raw"), *decoded = one.Find("decoded");
    if (raw == nullptr && decoded == nullptr) return;  // a final answer
    const Json calls = raw != nullptr ? DecodeBfclOutput(*raw) : *decoded;
    if (raw != nullptr && decoded != nullptr) {
      ++decoded_texts;
      EXPECT_EQ(WithoutTuples(calls), *decoded) << DumpJson(*raw);
    }
    const std::string category = TextIn(one, "category"), id = TextIn(one, "id");
    if (category.find("relevance") != std::string::npos) {
      Expect(CheckBfclRelevance(category.find("irrelevance") == std::string::npos, calls), one);
      return;
    }
    const Json* dots = one.Find("dots_as_underscores");
    const auto verdict = CheckBfclCalls(category, *questions.at(id).Find("function"),
                                        *answers.at(id).Find("ground_truth"), calls,
                                        dots != nullptr && *dots == Json(true));
    ASSERT_TRUE(verdict.ok()) << verdict.error().message();
    Expect(*verdict, one);
  });
  EXPECT_EQ(wrong_, 0) << "of " << checked_;
  EXPECT_GT(checked_, 8000);
  EXPECT_GT(decoded_texts, 3000);
}

TEST_F(BfclLabels, EveryFinalAnswerIsJudgedAsTheLeaderboardDoes) {
  HONE_NEED_SHARED(data, "data/bfcl");
  ForEach(data, [&](const Json& one) {
    const Json *message = one.Find("last_message"), *accepted = one.Find("possible_answers");
    if (message == nullptr) return;
    std::vector<std::string> answers;
    for (const Json& answer : accepted->AsArray()) answers.push_back(answer.AsString());
    // No message at all is Python's None, and its text is "None".
    BfclVerdict verdict =
        CheckBfclAnswer(message->is_string() ? message->AsString() : "None", answers);
    verdict.error_type.clear();  // the data has none here
    Expect(verdict, one);
  });
  EXPECT_EQ(wrong_, 0) << "of " << checked_;
  EXPECT_GT(checked_, 150);
}

}  // namespace
}  // namespace hone
