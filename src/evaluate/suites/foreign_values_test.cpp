#include "evaluate/suites/foreign_values.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::string Java(const std::string& text, const std::string& type, const std::string& of = "") {
  return DumpJson(FromJava(text, type, of));
}
std::string Js(const std::string& text, const std::string& type, const std::string& of = "") {
  return DumpJson(FromJavaScript(text, type, of));
}

TEST(ForeignValues, JavaNumbersHaveTheSpellingOfTheirType) {
  EXPECT_EQ(Java("-12", "integer"), "-12");
  EXPECT_EQ(Java("12L", "long"), "12");
  EXPECT_EQ(Java("12", "long"), "\"12\"");
  EXPECT_EQ(Java("1.5f", "float"), "1.5");
  EXPECT_EQ(Java("1.5", "float"), "\"1.5\"");
  EXPECT_EQ(Java("1.5", "double"), "1.5");
  EXPECT_EQ(Java("1.", "double"), "\"1.\"");
  EXPECT_EQ(Java("3", "double"), "3.0");
  EXPECT_EQ(Java("true", "boolean"), "true");
  EXPECT_EQ(Java("True", "boolean"), "\"True\"");
  EXPECT_EQ(Java("12", "any"), "\"12\"");
}

TEST(ForeignValues, JavaCollectionsAreSearchedFor) {
  EXPECT_EQ(Java(R"(new ArrayList<String>(Arrays.asList("a", "b")))", "ArrayList", "String"),
            R"(["a","b"])");
  EXPECT_EQ(Java("new ArrayList<Integer>() {{ add(1); add(2); }}", "ArrayList", "integer"),
            "[1,2]");
  EXPECT_EQ(Java("new ArrayList<>()", "ArrayList", "String"), "[]");
  EXPECT_EQ(Java("new ArrayList<>(Arrays.asList(unquoted))", "ArrayList", "String"),
            R"(["nquote"])")
      << "what stands at the ends is taken for quotes";
  EXPECT_EQ(Java("[1]", "ArrayList", "integer"), "\"[1]\"");
  EXPECT_EQ(Java("x = new int[] { 1, 2, }", "Array", "integer"), "[1,2]");
  EXPECT_EQ(Java(R"(new String[]{"a", "b"})", "Array", "String"), R"(["\"a\"","\"b\""])");
  EXPECT_EQ(Java(R"(new HashMap<String, Object>() {{ put("k", 1); put("l", "v"); put("m", 2L); }})",
                 "HashMap"),
            R"({"k":1,"l":"v","m":2})");
  EXPECT_EQ(Java(R"(new HashMap<>() { { put("k", true); } })", "HashMap"), R"({"k":true})");
  EXPECT_EQ(Java("new HashMap<>()", "HashMap"), "{}");
  EXPECT_EQ(Java("Map.of()", "HashMap"), "\"Map.of()\"");
}

TEST(ForeignValues, JavaScriptValues) {
  EXPECT_EQ(Js("'a'", "String"), "\"a\"");
  EXPECT_EQ(Js("a", "String"), "\"a\"");
  EXPECT_EQ(Js("12n", "Bigint"), "12");
  EXPECT_EQ(Js("12", "Bigint"), "\"12\"");
  EXPECT_EQ(Js("1e3", "float"), "\"1e3\"");
  EXPECT_EQ(Js("true", "Boolean"), "true");
  EXPECT_EQ(Js("[1, 2]", "array", "integer"), "[1,2]");
  EXPECT_EQ(Js("['a, b', c]", "array", "String"), R"(["'a","b'","c"])") << "cut at every comma";
  EXPECT_EQ(Js("new Array(1, 2)", "array", "integer"), "[1,2]");
  EXPECT_EQ(Js("[]", "array", "String"), "[]");
  EXPECT_EQ(Js("[[1, 2], [3, 'x']]", "array", "array"), R"([[1,2],[3,"x"]])");
  EXPECT_EQ(Js("new Array([1], [2])", "array", "array"), "[[1],[2]]");
  EXPECT_EQ(Js("[[1],\n [2]]", "array", "array"), "[[1],[2]]") << "lines may end between rows";
  EXPECT_EQ(Js("[{k: 1}, {l: 2}]", "array", "dict"), R"([{"k":1},{"l":2}])");
  EXPECT_EQ(Js("x", "array", "String"), "\"x\"");
  EXPECT_EQ(Js("{}", "dict"), "{}");
  EXPECT_EQ(Js("{'a': 1, b: ['x', 2], c: \"7\", d: true}", "dict"),
            R"({"a":1,"b":["x",2],"c":7,"d":true})");
  EXPECT_EQ(Js("{\n a: 1\n}", "dict"), R"("{\n a: 1\n}")") << "only on one line";
}

TEST(ForeignValues, ManyRowsThatDoNotEndTakeNoTime) {
  std::string rows = "[";
  for (int i = 0; i < 600; ++i) rows += "[1],";
  EXPECT_NE(Js(rows + "null]", "array", "array"), "");
  EXPECT_NE(Js(rows, "array", "array"), "");
}

}  // namespace
}  // namespace hone
