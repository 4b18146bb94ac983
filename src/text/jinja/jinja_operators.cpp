#include "text/jinja/jinja_operators.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/jinja/jinja_access.h"
#include "text/jinja/jinja_format.h"

namespace hone {
namespace {

using Kind = JinjaValue::Kind;

Error TooLarge() {
  return Error(ErrorCode::kUnsupported, "whole numbers beyond 64 bits cannot be computed with");
}

Error NoOperator(std::string_view op, const JinjaValue& left, const JinjaValue& right) {
  return BadJinja(fmt::format("unsupported operand types for {}: '{}' and '{}'", op,
                              left.TypeName(), right.TypeName()));
}

template <typename Overflows>
Result<JinjaValue> Checked(Overflows overflows, int64_t a, int64_t b) {
  int64_t result = 0;
  if (overflows(a, b, &result)) return TooLarge();
  return JinjaValue(result);
}

bool Add(int64_t a, int64_t b, int64_t* sum) { return __builtin_add_overflow(a, b, sum); }
bool Subtract(int64_t a, int64_t b, int64_t* rest) { return __builtin_sub_overflow(a, b, rest); }
bool Multiply(int64_t a, int64_t b, int64_t* product) {
  return __builtin_mul_overflow(a, b, product);
}

int64_t FloorQuotient(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0);
}

double FloorRemainder(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b : remainder;
}

Result<JinjaValue> Power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return BadJinja("0 cannot be raised to a negative power");
    return JinjaValue(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return TooLarge();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return TooLarge();
  }
  return JinjaValue(result);
}

Result<JinjaValue> WholeNumbers(std::string_view op, int64_t a, int64_t b) {
  if (op == "+") return Checked(Add, a, b);
  if (op == "-") return Checked(Subtract, a, b);
  if (op == "*") return Checked(Multiply, a, b);
  if (op == "**") return Power(a, b);
  if (b == 0) return BadJinja("division by zero");
  if (op == "/") return JinjaValue(static_cast<double>(a) / static_cast<double>(b));
  // The one quotient that does not fit.
  if (b == -1) return op == "%" ? JinjaValue(0) : Checked(Subtract, 0, a);
  const int64_t quotient = FloorQuotient(a, b);
  return JinjaValue(op == "//" ? quotient : a - quotient * b);
}

Result<JinjaValue> Reals(std::string_view op, double a, double b) {
  if (op == "+") return JinjaValue(a + b);
  if (op == "-") return JinjaValue(a - b);
  if (op == "*") return JinjaValue(a * b);
  if (op == "**") return JinjaValue(std::pow(a, b));
  if (b == 0) return BadJinja("division by zero");
  if (op == "/") return JinjaValue(a / b);
  return JinjaValue(op == "//" ? std::floor(a / b) : FloorRemainder(a, b));
}

Result<JinjaValue> Numbers(std::string_view op, const JinjaValue& left, const JinjaValue& right) {
  if (left.AsInteger() && right.AsInteger()) {
    return WholeNumbers(op, *left.AsInteger(), *right.AsInteger());
  }
  const bool whole = !left.is(Kind::kReal) && !right.is(Kind::kReal);
  if (whole) return TooLarge();
  return Reals(op, *left.AsReal(), *right.AsReal());
}

Result<JinjaValue> Concatenated(JinjaRun* run, const JinjaText& left, const JinjaText& right) {
  HONE_RETURN_IF_ERROR(run->ChargeText(left.size() + right.size()));
  const bool markup = left.markup() || right.markup();
  JinjaText sum = markup ? EscapedForHtml(left) : left;
  sum.Append(markup ? EscapedForHtml(right) : right);
  return JinjaValue(sum.WithMarkup(markup));
}

Result<JinjaValue> Repeated(JinjaRun* run, const JinjaValue& value, int64_t times) {
  times = std::max<int64_t>(times, 0);
  // Before anything is made.
  const int64_t once = value.is_text() ? static_cast<int64_t>(value.AsText().size() / 16) + 1
                                       : 4 * value.Extent().count;
  int64_t work = 0;
  if (__builtin_mul_overflow(once, times, &work)) work = run->limits().work + 1;
  HONE_RETURN_IF_ERROR(run->Charge(work));
  if (value.is_text()) {
    JinjaText text = value.AsText().Part(0, 0);
    for (int64_t i = 0; i < times; ++i) text.Append(value.AsText());
    return JinjaValue(std::move(text));
  }
  std::vector<JinjaValue> items;
  for (int64_t i = 0; i < times; ++i) {
    items.insert(items.end(), value.Items().begin(), value.Items().end());
  }
  return value.is(Kind::kTuple) ? JinjaValue::Tuple(std::move(items))
                                : JinjaValue::List(std::move(items));
}

bool IsRepeatable(const JinjaValue& value) {
  return value.is_text() || value.is(Kind::kList) || value.is(Kind::kTuple);
}

}  // namespace

Result<JinjaValue> Arithmetic(JinjaRun* run, std::string_view op, const JinjaValue& left,
                              const JinjaValue& right) {
  if (left.is_undefined()) return BadJinja(left.Why());
  if (op == "%" && left.is_text()) return FormatPercent(run, left.AsText(), right);
  if (right.is_undefined()) return BadJinja(right.Why());
  if (left.is_number() && right.is_number()) return Numbers(op, left, right);
  if (op == "+" && left.is_text() && right.is_text()) {
    return Concatenated(run, left.AsText(), right.AsText());
  }
  if (op == "+" && left.kind() == right.kind() && (left.is(Kind::kList) || left.is(Kind::kTuple))) {
    HONE_ASSIGN_OR_RETURN(std::vector<JinjaValue> sum, Iterate(run, left));
    HONE_ASSIGN_OR_RETURN(const std::vector<JinjaValue> more, Iterate(run, right));
    sum.insert(sum.end(), more.begin(), more.end());
    return left.is(Kind::kTuple) ? JinjaValue::Tuple(std::move(sum))
                                 : JinjaValue::List(std::move(sum));
  }
  if (op == "*" && IsRepeatable(left) && right.AsInteger()) {
    return Repeated(run, left, *right.AsInteger());
  }
  if (op == "*" && IsRepeatable(right) && left.AsInteger()) {
    return Repeated(run, right, *left.AsInteger());
  }
  return NoOperator(op, left, right);
}

Result<JinjaValue> Negative(const JinjaValue& value) {
  if (value.is_undefined()) return BadJinja(value.Why());
  if (value.is(Kind::kReal)) return JinjaValue(-*value.AsReal());
  if (const std::optional<int64_t> integer = value.AsInteger()) {
    return WholeNumbers("-", 0, *integer);
  }
  if (value.is(Kind::kBigInteger)) {
    const std::string& digits = value.AsBigInteger().digits;
    return JinjaValue(BigInteger{digits.starts_with('-') ? digits.substr(1) : "-" + digits});
  }
  return BadJinja(fmt::format("bad operand type for unary -: '{}'", value.TypeName()));
}

Result<JinjaValue> Positive(const JinjaValue& value) {
  if (value.is_undefined()) return BadJinja(value.Why());
  if (value.is(Kind::kBool)) return JinjaValue(*value.AsInteger());
  if (value.is_number()) return value;
  return BadJinja(fmt::format("bad operand type for unary +: '{}'", value.TypeName()));
}

Result<bool> Compare(JinjaRun* run, std::string_view op, const JinjaValue& left,
                     const JinjaValue& right) {
  if (op == "in") return Contains(run, left, right);
  if (op == "not in") {
    HONE_ASSIGN_OR_RETURN(const bool inside, Contains(run, left, right));
    return !inside;
  }
  HONE_RETURN_IF_ERROR(run->Charge(std::min(left.Extent().count, right.Extent().count)));
  if (op == "==") return Equal(left, right);
  if (op == "!=") return !Equal(left, right);
  HONE_ASSIGN_OR_RETURN(const std::strong_ordering order, Order(left, right));
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  if (op == ">") return order > 0;
  return order >= 0;
}

Result<bool> Contains(JinjaRun* run, const JinjaValue& item, const JinjaValue& container) {
  if (container.is_text()) {
    if (item.is_undefined()) return BadJinja(item.Why());
    if (!item.is_text()) {
      return BadJinja(fmt::format("only text can be in text, not '{}'", item.TypeName()));
    }
    HONE_RETURN_IF_ERROR(run->ChargeText(container.AsText().size()));
    return container.AsText().view().find(item.AsText().view()) != std::string_view::npos;
  }
  if (container.is_dict()) {
    if (!IsHashable(item)) return BadJinja(fmt::format("unhashable type: '{}'", item.TypeName()));
    HONE_RETURN_IF_ERROR(run->Charge(1 + container.Extent().count / 8));
    return container.AsDict().Find(item) != nullptr;
  }
  if (!IsIterable(container)) {
    return BadJinja(fmt::format("'{}' object holds nothing to look for", container.TypeName()));
  }
  HONE_RETURN_IF_ERROR(run->Charge(container));
  HONE_ASSIGN_OR_RETURN(const std::vector<JinjaValue> items, Iterate(run, container));
  return std::any_of(items.begin(), items.end(),
                     [&](const JinjaValue& other) { return Equal(item, other); });
}

}  // namespace hone
