#include "evaluate/suites/python_expression.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::string Again(std::string_view text) {
  const auto parsed = ParsePythonExpression(text);
  return parsed.ok() ? PythonSource(*parsed) : "no Python";
}

// The right-hand sides are what Python's ast.unparse gives.
TEST(PythonExpression, IsWrittenAsPythonWritesIt) {
  EXPECT_EQ(Again("f( a,b = 'x' , *c, **d)"), "f(a, *c, b='x', **d)");
  EXPECT_EQ(Again("a.b [ 0 ].c"), "a.b[0].c");
  EXPECT_EQ(Again("[1,2 , ]"), "[1, 2]");
  EXPECT_EQ(Again("(1,)"), "(1,)");
  EXPECT_EQ(Again("1, 2"), "(1, 2)");
  EXPECT_EQ(Again("{'a':1 , **b}"), "{'a': 1, **b}");
  EXPECT_EQ(Again("(1 + 2)*3 - (4 - 5)"), "(1 + 2) * 3 - (4 - 5)");
  EXPECT_EQ(Again("2**-1"), "2 ** -1");
  EXPECT_EQ(Again("(-2)**2"), "(-2) ** 2");
  EXPECT_EQ(Again("\"it's\" ' so'"), "\"it's so\"");
  EXPECT_EQ(Again("1e5"), "100000.0");
  EXPECT_EQ(Again("not  x"), "not x");
}

TEST(PythonExpression, WhatPythonTakesIsTaken) {
  for (const char* right :
       {"a if b else c", "lambda x, y=(1, 2): x", "[x for x in y if x > 1]", "{k: v for k, v in z}",
        "f(x for x in y)", "a[1:2, ::3]", "a is not b", "a not in b", "(y := 3)", "(yield)",
        "await f()", "f(a=1, *b)", "{1, 2}", "{*a, 1}", "...", "(*a, 1)", "f(**a, b=1)"}) {
    EXPECT_TRUE(ParsePythonExpression(right).ok()) << right;
  }
}

TEST(PythonExpression, WhatPythonRefusesIsRefused) {
  for (const char* wrong : {"",
                            "a b",
                            "f(a=1, 2)",
                            "f(**a, 1)",
                            "f(**a, *b)",
                            "f(from='x')",
                            "f(a.b=1)",
                            "f('a'=1)",
                            "f(a=x for x in y)",
                            "f(1, x for x in y)",
                            "a =  1",
                            "[1 2]",
                            "(1",
                            "1)",
                            "{1: 2, 3}",
                            "{1, 2: 3}",
                            "(*a)",
                            "a.class",
                            "a\nb",
                            "f(,)",
                            "[,]",
                            "a if b",
                            "lambda x",
                            "x for x in y",
                            "None()=1",
                            "a..b",
                            "f(a==)",
                            "[*a for a in b",
                            "import os"}) {
    EXPECT_FALSE(ParsePythonExpression(wrong).ok()) << wrong;
  }
}

TEST(PythonExpression, NestedSetsAreReadOnce) {
  const std::string deep = std::string(40, '{') + "1" + std::string(40, '}');
  EXPECT_TRUE(ParsePythonExpression(deep).ok());
  EXPECT_TRUE(ParsePythonExpression("{1, 2, 3,}").ok());
  EXPECT_FALSE(ParsePythonExpression("{1, 2: 3}").ok());
  EXPECT_FALSE(ParsePythonExpression("{,}").ok());
}

TEST(PythonExpression, DeepTextsEndInAnErrorNotInACrash) {
  for (const char* opening : {"(", "[", "{1:", "f(", "-", "not ", "a[", "lambda:"}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += opening;
    EXPECT_FALSE(ParsePythonExpression(deep).ok()) << opening;
  }
}

}  // namespace
}  // namespace hone
