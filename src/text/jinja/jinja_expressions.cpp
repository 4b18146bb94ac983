// Expressions of the evaluator.

#include <fmt/format.h>

#include "text/jinja/jinja_access.h"
#include "text/jinja/jinja_evaluator.h"
#include "text/jinja/jinja_filters.h"
#include "text/jinja/jinja_operators.h"
#include "text/jinja/jinja_print.h"

namespace hone {

using ExpressionKind = JinjaExpression::Kind;

JinjaValue JinjaEvaluator::Lookup(std::string_view name) {
  for (const JinjaScope* scope = scope_.get(); scope != nullptr; scope = scope->parent.get()) {
    if (const JinjaValue* value = scope->Find(name)) return *value;
  }
  if (const JinjaValue* value = variables_.Find(name)) return *value;
  if (const JinjaFunction::Body body = FindJinjaGlobal(name)) {
    JinjaObject* function =
        run_.Keep(std::make_unique<JinjaFunction>(std::string(name), JinjaValue(), body));
    return JinjaValue(function);
  }
  return JinjaValue::Undefined(fmt::format("'{}' is undefined", name));
}

JinjaEvaluator::Evaluated JinjaEvaluator::Evaluate(const JinjaExpression& expression) {
  if (++depth_ > run_.limits().depth) {
    return Located(expression.place, Error(ErrorCode::kUnsupported, "calls are nested too deeply"));
  }
  HONE_RETURN_IF_ERROR(Located(expression.place, run_.Charge(1)));
  Evaluated value = EvaluateInside(expression);
  --depth_;
  return value;
}

JinjaEvaluator::Evaluated JinjaEvaluator::EvaluateInside(const JinjaExpression& expression) {
  const auto& parts = expression.parts;
  switch (expression.kind) {
    case ExpressionKind::kConstant: return expression.constant;
    case ExpressionKind::kName: return Lookup(expression.name);
    case ExpressionKind::kList:
    case ExpressionKind::kTuple: {
      HONE_ASSIGN_OR_RETURN(std::vector<JinjaValue> values, EvaluateAll(parts));
      return Located(expression.place, expression.kind == ExpressionKind::kList
                                           ? JinjaValue::List(std::move(values))
                                           : JinjaValue::Tuple(std::move(values)));
    }
    case ExpressionKind::kDict: return EvaluateDict(expression);
    case ExpressionKind::kNot: {
      HONE_ASSIGN_OR_RETURN(const JinjaValue value, Evaluate(*parts[0]));
      return JinjaValue(!value.IsTrue());
    }
    case ExpressionKind::kNegative:
    case ExpressionKind::kPositive: {
      HONE_ASSIGN_OR_RETURN(const JinjaValue value, Evaluate(*parts[0]));
      return Located(expression.place, expression.kind == ExpressionKind::kNegative
                                           ? Negative(value)
                                           : Positive(value));
    }
    case ExpressionKind::kArithmetic: {
      HONE_ASSIGN_OR_RETURN(const JinjaValue left, Evaluate(*parts[0]));
      HONE_ASSIGN_OR_RETURN(const JinjaValue right, Evaluate(*parts[1]));
      return Located(expression.place, Arithmetic(&run_, expression.name, left, right));
    }
    case ExpressionKind::kCompare: return EvaluateCompare(expression);
    case ExpressionKind::kAnd:
    case ExpressionKind::kOr: {
      HONE_ASSIGN_OR_RETURN(JinjaValue left, Evaluate(*parts[0]));
      if (left.IsTrue() == (expression.kind == ExpressionKind::kOr)) return left;
      return Evaluate(*parts[1]);
    }
    case ExpressionKind::kJoin: return EvaluateJoin(expression);
    case ExpressionKind::kConditional: {
      HONE_ASSIGN_OR_RETURN(const JinjaValue condition, Evaluate(*parts[1]));
      if (condition.IsTrue()) return Evaluate(*parts[0]);
      if (parts[2] != nullptr) return Evaluate(*parts[2]);
      return JinjaValue::Undefined("an 'if' without 'else' has no value here");
    }
    case ExpressionKind::kMember: {
      HONE_ASSIGN_OR_RETURN(const JinjaValue value, Evaluate(*parts[0]));
      return Located(expression.place, GetMember(&run_, value, expression.name));
    }
    case ExpressionKind::kItem: {
      HONE_ASSIGN_OR_RETURN(const JinjaValue value, Evaluate(*parts[0]));
      HONE_ASSIGN_OR_RETURN(const JinjaValue key, Evaluate(*parts[1]));
      return Located(expression.place, GetItem(&run_, value, key));
    }
    case ExpressionKind::kSlice: return EvaluateSlice(expression);
    case ExpressionKind::kCall: return EvaluateCall(expression);
    case ExpressionKind::kFilter: return EvaluateFilter(expression);
    case ExpressionKind::kTest: return EvaluateTest(expression);
  }
  return JinjaValue();
}

Result<std::vector<JinjaValue>> JinjaEvaluator::EvaluateAll(
    const std::vector<JinjaExpressionPtr>& parts) {
  std::vector<JinjaValue> values;
  values.reserve(parts.size());
  for (const JinjaExpressionPtr& part : parts) {
    HONE_ASSIGN_OR_RETURN(JinjaValue value, Evaluate(*part));
    values.push_back(std::move(value));
  }
  return values;
}

JinjaEvaluator::Evaluated JinjaEvaluator::EvaluateDict(const JinjaExpression& expression) {
  HONE_ASSIGN_OR_RETURN(std::vector<JinjaValue> parts, EvaluateAll(expression.parts));
  JinjaDict dict;
  for (size_t i = 0; i + 1 < parts.size(); i += 2) {
    if (!IsHashable(parts[i])) {
      return Located(expression.place,
                     Error(ErrorCode::kInvalidArgument,
                           fmt::format("unhashable type: '{}'", parts[i].TypeName())));
    }
    HONE_RETURN_IF_ERROR(
        Located(expression.place, run_.Charge(static_cast<int64_t>(dict.members.size()))));
    dict.Set(std::move(parts[i]), std::move(parts[i + 1]));
  }
  return Located(expression.place, JinjaValue::Dict(std::move(dict)));
}

JinjaEvaluator::Evaluated JinjaEvaluator::EvaluateCompare(const JinjaExpression& expression) {
  HONE_ASSIGN_OR_RETURN(JinjaValue left, Evaluate(*expression.parts[0]));
  for (size_t i = 0; i < expression.operators.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(JinjaValue right, Evaluate(*expression.parts[i + 1]));
    HONE_ASSIGN_OR_RETURN(const bool holds,
                          Located(expression.parts[i + 1]->place,
                                  Compare(&run_, expression.operators[i], left, right)));
    if (!holds) return JinjaValue(false);
    left = std::move(right);
  }
  return JinjaValue(true);
}

JinjaEvaluator::Evaluated JinjaEvaluator::EvaluateJoin(const JinjaExpression& expression) {
  JinjaText joined;
  for (const JinjaExpressionPtr& part : expression.parts) {
    HONE_ASSIGN_OR_RETURN(const JinjaValue value, Evaluate(*part));
    HONE_ASSIGN_OR_RETURN(const JinjaText text, Located(part->place, ToText(&run_, value)));
    HONE_RETURN_IF_ERROR(Located(part->place, run_.ChargeText(text.size())));
    joined.Append(text);
  }
  return JinjaValue(std::move(joined));
}

JinjaEvaluator::Evaluated JinjaEvaluator::EvaluateSlice(const JinjaExpression& expression) {
  HONE_ASSIGN_OR_RETURN(const JinjaValue value, Evaluate(*expression.parts[0]));
  JinjaValue bounds[3];
  for (size_t i = 0; i < 3; ++i) {
    if (expression.parts[i + 1] == nullptr) continue;
    HONE_ASSIGN_OR_RETURN(bounds[i], Evaluate(*expression.parts[i + 1]));
  }
  return Located(expression.place, GetSlice(&run_, value, bounds[0], bounds[1], bounds[2]));
}

Result<JinjaArguments> JinjaEvaluator::EvaluateArguments(const JinjaCallArguments& arguments) {
  JinjaArguments evaluated;
  HONE_ASSIGN_OR_RETURN(evaluated.positional, EvaluateAll(arguments.positional));
  for (const auto& [name, expression] : arguments.named) {
    HONE_ASSIGN_OR_RETURN(JinjaValue value, Evaluate(*expression));
    evaluated.named.emplace_back(name, std::move(value));
  }
  if (arguments.spread != nullptr) {
    HONE_ASSIGN_OR_RETURN(const JinjaValue value, Evaluate(*arguments.spread));
    HONE_ASSIGN_OR_RETURN(const std::vector<JinjaValue> more,
                          Located(arguments.spread->place, Iterate(&run_, value)));
    evaluated.positional.insert(evaluated.positional.end(), more.begin(), more.end());
  }
  if (arguments.named_spread != nullptr) {
    HONE_ASSIGN_OR_RETURN(const JinjaValue value, Evaluate(*arguments.named_spread));
    if (!value.is_dict()) {
      return Located(arguments.named_spread->place,
                     Error(ErrorCode::kInvalidArgument, "** wants a dict"));
    }
    for (const auto& [key, member] : value.AsDict().members) {
      if (!key.is_text()) {
        return Located(arguments.named_spread->place,
                       Error(ErrorCode::kInvalidArgument, "** wants text for keys"));
      }
      evaluated.named.emplace_back(key.AsText().bytes(), member);
    }
  }
  return evaluated;
}

JinjaEvaluator::Evaluated JinjaEvaluator::EvaluateCall(const JinjaExpression& expression) {
  HONE_ASSIGN_OR_RETURN(const JinjaArguments arguments, EvaluateArguments(expression.arguments));
  return Call(expression, arguments);
}

JinjaEvaluator::Evaluated JinjaEvaluator::Call(const JinjaExpression& call,
                                               const JinjaArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const JinjaValue callee, Evaluate(*call.parts[0]));
  if (callee.is(JinjaValue::Kind::kObject)) {
    return Located(call.place, callee.AsObject()->Call(&run_, arguments));
  }
  return Located(
      call.place,
      Error(ErrorCode::kInvalidArgument,
            callee.is_undefined() ? callee.Why()
                                  : fmt::format("'{}' object is not callable", callee.TypeName())));
}

JinjaEvaluator::Evaluated JinjaEvaluator::EvaluateFilter(const JinjaExpression& expression) {
  JinjaValue value;
  if (expression.parts[0] != nullptr) {
    HONE_ASSIGN_OR_RETURN(value, Evaluate(*expression.parts[0]));
  } else {
    value = *block_text_;
  }
  HONE_ASSIGN_OR_RETURN(const JinjaArguments arguments, EvaluateArguments(expression.arguments));
  const JinjaFilter filter = FindJinjaFilter(expression.name);
  if (filter == nullptr) return Located(expression.place, NoSuchFilter(expression.name));
  return Located(expression.place, filter(&run_, value, arguments));
}

JinjaEvaluator::Evaluated JinjaEvaluator::EvaluateTest(const JinjaExpression& expression) {
  HONE_ASSIGN_OR_RETURN(const JinjaValue value, Evaluate(*expression.parts[0]));
  HONE_ASSIGN_OR_RETURN(const JinjaArguments arguments, EvaluateArguments(expression.arguments));
  const JinjaTest test = FindJinjaTest(expression.name);
  if (test == nullptr) return Located(expression.place, NoSuchTest(expression.name));
  const Result<bool> holds = Located(expression.place, test(&run_, value, arguments));
  if (!holds.ok()) return holds.error();
  return JinjaValue(*holds);
}

}  // namespace hone
