#include "text/jinja/jinja_filters.h"

#include <algorithm>

#include <fmt/format.h>

#include "text/jinja/jinja_access.h"
#include "text/jinja/jinja_operators.h"

namespace hone {
namespace {

using Arguments = JinjaArguments;
using Kind = JinjaValue::Kind;
using Value = JinjaValue;

// A test without arguments.
template <bool (*kHolds)(const Value&)>
Result<bool> Plain(JinjaRun*, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("this test", arguments, {}, 0));
  return kHolds(value);
}

bool IsDefined(const Value& value) { return !value.is_undefined(); }
bool IsUndefined(const Value& value) { return value.is_undefined(); }
bool IsNone(const Value& value) { return value.is_none(); }
bool IsBoolean(const Value& value) { return value.is(Kind::kBool); }
bool IsTrueItself(const Value& value) { return value.is(Kind::kBool) && value.AsBool(); }
bool IsFalseItself(const Value& value) { return value.is(Kind::kBool) && !value.AsBool(); }
bool IsInteger(const Value& value) {
  return value.is(Kind::kInteger) || value.is(Kind::kBigInteger);
}
bool IsFloat(const Value& value) { return value.is(Kind::kReal); }
bool IsNumber(const Value& value) { return value.is_number(); }
bool IsString(const Value& value) { return value.is_text(); }
bool IsMapping(const Value& value) { return value.is_dict(); }
// What has a length and items: for Jinja this holds for undefined, too.
bool IsSequence(const Value& value) {
  return LengthOf(value).has_value() && !value.is(Kind::kView);
}
bool IsCallable(const Value& value) {
  return (value.is(Kind::kObject) && value.AsObject()->callable()) || value.is_undefined();
}
bool IsEscaped(const Value& value) { return value.is_text() && value.AsText().markup(); }

bool InCase(const Value& value, std::string (*mapped)(std::string_view)) {
  if (!value.is_text()) return false;
  const std::string& text = value.AsText().bytes();
  // There must be a letter that has a case.
  return mapped(text) == text && (UpperCase(text) != text || LowerCase(text) != text);
}
bool IsLower(const Value& value) { return InCase(value, LowerCase); }
bool IsUpper(const Value& value) { return InCase(value, UpperCase); }

Result<bool> DivisibleBy(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const auto bound, BindArguments("divisibleby", arguments, {"num"}, 1));
  HONE_ASSIGN_OR_RETURN(const Value rest, Arithmetic(run, "%", value, *bound[0]));
  return Equal(rest, Value(0));
}

template <int64_t kRest>
Result<bool> Parity(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("this test", arguments, {}, 0));
  if (!value.is_number() && !value.is_undefined())
    return BadJinja("wants a number, not '" + value.TypeName() + "'");
  HONE_ASSIGN_OR_RETURN(const Value rest, Arithmetic(run, "%", value, Value(2)));
  return Equal(rest, Value(kRest));
}

struct Operator {
  std::string_view names, op;
};
constexpr Operator kOperators[] = {
    {" eq equalto == ", "=="},   {" ne != ", "!="}, {" lt lessthan < ", "<"}, {" le <= ", "<="},
    {" gt greaterthan > ", ">"}, {" ge >= ", ">="}, {" in ", "in"},
};

template <size_t kOperator>
Result<bool> Comparison(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const auto bound, BindArguments("this test", arguments, {"other"}, 1));
  return Compare(run, kOperators[kOperator].op, value, *bound[0]);
}
constexpr JinjaTest kComparisons[] = {Comparison<0>, Comparison<1>, Comparison<2>, Comparison<3>,
                                      Comparison<4>, Comparison<5>, Comparison<6>};

// Whether they are one and the same. Equal small values are, in Python.
Result<bool> SameAs(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const auto bound, BindArguments("sameas", arguments, {"other"}, 1));
  if (value.kind() != bound[0]->kind()) return false;
  return Compare(run, "==", value, *bound[0]);
}

Result<bool> IsFilter(JinjaRun*, const Value& value, const Arguments&) {
  return value.is_text() && FindJinjaFilter(value.AsText().view()) != nullptr;
}
Result<bool> IsTest(JinjaRun*, const Value& value, const Arguments&) {
  return value.is_text() && FindJinjaTest(value.AsText().view()) != nullptr;
}

struct Named {
  std::string_view name;
  JinjaTest test;
};

constexpr Named kTests[] = {
    {"boolean", Plain<IsBoolean>},
    {"callable", Plain<IsCallable>},
    {"defined", Plain<IsDefined>},
    {"divisibleby", DivisibleBy},
    {"escaped", Plain<IsEscaped>},
    {"even", Parity<0>},
    {"false", Plain<IsFalseItself>},
    {"filter", IsFilter},
    {"float", Plain<IsFloat>},
    {"integer", Plain<IsInteger>},
    {"iterable", Plain<IsIterable>},
    {"lower", Plain<IsLower>},
    {"mapping", Plain<IsMapping>},
    {"none", Plain<IsNone>},
    {"number", Plain<IsNumber>},
    {"odd", Parity<1>},
    {"sameas", SameAs},
    {"sequence", Plain<IsSequence>},
    {"string", Plain<IsString>},
    {"test", IsTest},
    {"true", Plain<IsTrueItself>},
    {"undefined", Plain<IsUndefined>},
    {"upper", Plain<IsUpper>},
};

}  // namespace

JinjaFilter FindJinjaFilter(std::string_view name) {
  const JinjaFilter filter = FindJinjaTextFilter(name);
  return filter != nullptr ? filter : FindJinjaSequenceFilter(name);
}

JinjaTest FindJinjaTest(std::string_view name) {
  for (size_t i = 0; i < std::size(kOperators); ++i) {
    if (kOperators[i].names.find(fmt::format(" {} ", name)) != std::string_view::npos) {
      return kComparisons[i];
    }
  }
  const auto* found = std::find_if(std::begin(kTests), std::end(kTests),
                                   [&](const Named& test) { return test.name == name; });
  return found == std::end(kTests) ? nullptr : found->test;
}

Error NoSuchFilter(std::string_view name) {
  return Error(ErrorCode::kUnsupported, fmt::format("there is no filter named '{}'", name));
}

Error NoSuchTest(std::string_view name) {
  return Error(ErrorCode::kUnsupported, fmt::format("there is no test named '{}'", name));
}

}  // namespace hone
