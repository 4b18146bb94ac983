#include "evaluate/suites/python_calls.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// The JSON of the calls, or "no calls".
std::string Read(std::string_view text) {
  const auto calls = PythonCallsFromText(text);
  return calls.ok() ? DumpJson(*calls) : "no calls";
}

// The value of f's argument.
std::string Argument(std::string_view value) {
  const auto calls = PythonCallsFromText("f(x=" + std::string(value) + ")");
  return calls.ok() ? DumpJson(*calls->AsArray()[0].Find("f")->Find("x")) : "no value";
}

TEST(PythonCalls, BracketsAndBackticksAroundThemDoNotMatter) {
  EXPECT_EQ(Read("[f(a=1), g.h(b='x')]"), R"([{"f":{"a":1}},{"g.h":{"b":"x"}}])");
  EXPECT_EQ(Read("```\nf(a=1)\n```"), R"([{"f":{"a":1}}])");
  EXPECT_EQ(Read("f(a=1), f(a=2)"), R"([{"f":{"a":1}},{"f":{"a":2}}])");
  EXPECT_EQ(Read("[f(\n  a=1,\n)]"), R"([{"f":{"a":1}}])");
  EXPECT_EQ(Read(""), "[]");
  EXPECT_EQ(Read("[]"), "[]");
  EXPECT_EQ(Read("f()"), R"([{"f":{}}])");
}

TEST(PythonCalls, WordsAndOtherPythonAreNoCalls) {
  for (const char* text : {"No function fits.", "[1]", "[f]", "[f(a=1) and g()]", "f(a=1)\ng(b=2)",
                           "```python\nf(a=1)\n```", "[f(a=1)][0]", "get-user(id=1)", "{f(a=1)"}) {
    EXPECT_EQ(Read(text), "no calls") << text;
  }
}

TEST(PythonCalls, PositionalArgumentsArePassedOverAndRepeatedOnesOverwritten) {
  EXPECT_EQ(Read("f(1, *rest, a=2)"), R"([{"f":{"a":2}}])");
  EXPECT_EQ(Read("f(a=1, b=2, a=3)"), R"([{"f":{"a":3,"b":2}}])");
}

TEST(PythonCalls, ValuesAreReadAsTheLeaderboardDoes) {
  EXPECT_EQ(Argument("true"), "\"true\"") << "a bare name is its text";
  EXPECT_EQ(Argument("True"), "true");
  EXPECT_EQ(Argument("None"), "null");
  EXPECT_EQ(Argument("..."), "\"...\"");
  EXPECT_EQ(Argument("-5"), "-5");
  EXPECT_EQ(Argument("+5"), "-5") << "every sign is a minus";
  EXPECT_EQ(Argument("5.0"), "5.0");
  EXPECT_EQ(Argument("[1, 'a', {b: [2]}]"), R"([1,"a",{"b":[2]}])");
  EXPECT_EQ(Argument("(1, 2)"), "{\"(tuple)\":[1,2]}");
  EXPECT_EQ(Argument("b'a'"), "{\"(bytes)\":\"b'a'\"}");
  EXPECT_EQ(Argument("{1: 2}"), R"({"<1>":2})");
  EXPECT_EQ(Argument("g(y=1)"), R"({"g":{"y":1}})");
  EXPECT_EQ(Argument("date.today( )"), "\"date.today()\"");
  EXPECT_EQ(Argument("d[\"k\"]"), "\"d['k']\"");
  for (const char* not_read :
       {"Color.RED", "a == b", "lambda: 1", "f'{a}'", "b'a' 'b'", "-x", "--5", "-'a'", "{**a}",
        "{[1]: 2}", "[*a]", "1 if a else 2", "{1, 2}"}) {
    EXPECT_EQ(Argument(not_read), "no value") << not_read;
  }
}

TEST(PythonCalls, ArithmeticIsPythons) {
  EXPECT_EQ(Argument("2 + 3 * 4"), "14");
  EXPECT_EQ(Argument("7 / 2"), "3.5");
  EXPECT_EQ(Argument("6 / 2"), "3.0");
  EXPECT_EQ(Argument("-7 // 2"), "-4");
  EXPECT_EQ(Argument("-7 % 3"), "2");
  EXPECT_EQ(Argument("2 ** 10"), "1024");
  EXPECT_EQ(Argument("2 ** -1"), "0.5");
  EXPECT_EQ(Argument("1.5 * 2"), "3.0");
  EXPECT_EQ(Argument("1 << 4 | 1"), "17");
  EXPECT_EQ(Argument("'a' + 'b'"), "\"ab\"");
  EXPECT_EQ(Argument("'ab' * 2"), "\"abab\"");
  EXPECT_EQ(Argument("[1] + [2]"), "[1,2]");
  EXPECT_EQ(Argument("2 * +3"), "6") << "inside arithmetic a sign is what it is";
  for (const char* none : {"1 / 0", "1 % 0", "x + 1", "'a' + 1", "9 ** 99", "'a' * 9999999999",
                           "1 * None", "True * b'a'", "None + None", "[[0] * 1000000] * 1000000",
                           "[['a' * 1000000] * 1000] * 1000"}) {
    EXPECT_EQ(Argument(none), "no value") << none;
  }
}

}  // namespace
}  // namespace hone
