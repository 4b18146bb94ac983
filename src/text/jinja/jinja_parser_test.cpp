#include "text/jinja/jinja_parser.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Expression = JinjaExpression::Kind;
using Statement = JinjaStatement::Kind;

JinjaExpressionPtr Parsed(const std::string& text) {
  JinjaBody body = ParseJinja("{{ " + text + " }}").value();
  return std::move(body[0]->expression);
}

TEST(JinjaParser, HasJinjasPrecedence) {
  EXPECT_EQ(Parsed("1 + 2 * 3")->name, "+");
  EXPECT_EQ(Parsed("a ~ b + c")->name, "+") << "~ binds stronger than +";
  EXPECT_EQ(Parsed("-a|abs")->kind, Expression::kFilter);
  EXPECT_EQ(Parsed("not a in b")->kind, Expression::kNot);
  EXPECT_EQ(Parsed("a is b and c")->kind, Expression::kAnd);
  EXPECT_EQ(Parsed("a if b else c if d else e")->parts[2]->kind, Expression::kConditional);
  EXPECT_EQ(Parsed("a, b")->kind, Expression::kTuple);
  EXPECT_EQ(Parsed("(a)")->kind, Expression::kName);
  EXPECT_EQ(Parsed("a[1:]")->kind, Expression::kSlice);
  EXPECT_EQ(Parsed("a is divisibleby 3")->arguments.positional.size(), 1u);
}

TEST(JinjaParser, KnowsWhatAMacroAsksFor) {
  const JinjaBody body =
      ParseJinja("{% macro f(a, b=1) %}{{ caller() }}{% endmacro %}{% set x = varargs %}").value();
  EXPECT_EQ(body[0]->kind, Statement::kMacro);
  EXPECT_TRUE(body[0]->macro.uses_caller);
  EXPECT_FALSE(body[0]->macro.uses_varargs);
  EXPECT_EQ(body[0]->macro.defaults.size(), 1u);
}

TEST(JinjaParser, ErrorsNameTheirPlaceAndWhatWasWanted) {
  const auto error = [](const char* source) { return ParseJinja(source).error().message(); };
  EXPECT_EQ(error("{% for x of y %}"), "line 1, column 10: 'of' where 'in' should stand");
  EXPECT_EQ(error("{% break %}"), "line 1, column 1: this stands outside of a loop");
  EXPECT_EQ(error("{% wat %}"), "line 1, column 1: there is no tag 'wat'");
  EXPECT_EQ(error("{% if a %}{% endfor %}"), "line 1, column 11: there is no tag 'endfor'");
  EXPECT_EQ(ParseJinja("{% extends 'a' %}").error().code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace hone
