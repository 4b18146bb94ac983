#include "evaluate/suites/python_calls.h"

#include <cmath>
#include <limits>
#include <optional>

#include "base/strings.h"
#include "evaluate/suites/python_expression.h"

namespace hone {
namespace {

using Kind = PythonNode::Kind;
using ExpressionValue = std::optional<Json>;  // nothing: it cannot be read

constexpr size_t kLongestText = 1 << 20;  // that arithmetic makes of texts and lists

__extension__ using Wide = __int128;  // what 64 bits may run over into

ExpressionValue Resolved(const PythonNode& node);

Json Tuple(Json::Array elements) {
  return Json::Of({{std::string(kPythonTuple), std::move(elements)}});
}

// --- arithmetic ----------------------------------------------------------------------------------

ExpressionValue Whole(Wide value) {
  if (value > std::numeric_limits<int64_t>::max() || value < std::numeric_limits<int64_t>::min()) {
    return std::nullopt;
  }
  return Json(static_cast<int64_t>(value));
}

// Booleans are numbers there.
std::optional<int64_t> AsWhole(const Json& value) {
  if (value.is_bool()) return value.AsBool() ? 1 : 0;
  if (value.is_integer()) return value.AsInteger();
  return std::nullopt;
}

ExpressionValue WholePower(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return std::nullopt;
    return Json(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  Wide power = 1;
  for (int64_t i = 0; i < exponent; ++i) {
    power *= base;
    if (!Whole(power)) return std::nullopt;
    if (base == 0 || base == 1) break;
    if (base == -1) return Json(int64_t{exponent % 2 == 0 ? 1 : -1});
  }
  return Whole(power);
}

ExpressionValue OfWholes(std::string_view symbol, int64_t a, int64_t b) {
  const Wide x = a, y = b;
  if (symbol == "+") return Whole(x + y);
  if (symbol == "-") return Whole(x - y);
  if (symbol == "*") return Whole(x * y);
  if (symbol == "|") return Json(a | b);
  if (symbol == "&") return Json(a & b);
  if (symbol == "^") return Json(a ^ b);
  if (symbol == "**") return WholePower(a, b);
  if (symbol == "<<" || symbol == ">>") {
    if (b < 0) return std::nullopt;
    if (symbol == ">>") return Json(b > 62 ? int64_t{a < 0 ? -1 : 0} : a >> b);
    return b > 62 ? (a == 0 ? ExpressionValue(Json(0)) : std::nullopt) : Whole(x * (Wide{1} << b));
  }
  if (b == 0) return std::nullopt;
  if (symbol == "/") return Json(static_cast<double>(a) / static_cast<double>(b));
  // Python rounds down, and the remainder has the sign of the divisor.
  const Wide quotient = x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
  if (symbol == "//") return Whole(quotient);
  if (symbol == "%") return Whole(x - quotient * y);
  return std::nullopt;
}

ExpressionValue OfReals(std::string_view symbol, double a, double b) {
  if (symbol == "+") return Json(a + b);
  if (symbol == "-") return Json(a - b);
  if (symbol == "*") return Json(a * b);
  if (symbol == "**") {
    const double power = std::pow(a, b);
    // What is not a real number, or has no finite value, is no value there.
    if (std::isnan(power) || (std::isinf(power) && std::isfinite(a) && std::isfinite(b))) {
      return std::nullopt;
    }
    return Json(power);
  }
  if (b == 0) return std::nullopt;
  if (symbol == "/") return Json(a / b);
  double remainder = std::fmod(a, b);
  if (remainder != 0 && (remainder < 0) != (b < 0)) remainder += b;
  if (symbol == "%") return Json(remainder);
  if (symbol == "//") return Json(std::floor((a - remainder) / b + 0.5));
  return std::nullopt;
}

// Bytes and elements, those of elements too: what a copy takes.
size_t WeightOf(const Json& value) {
  if (value.is_string()) return value.AsString().size() + 1;
  size_t weight = 1;
  if (value.is_array()) {
    for (const Json& one : value.AsArray()) weight += WeightOf(one);
  }
  if (value.is_object()) {
    for (const auto& [name, one] : value.AsObject()) weight += name.size() + WeightOf(one);
  }
  return weight;
}

// Texts and lists: joined, or repeated.
ExpressionValue OfSequences(std::string_view symbol, const Json& a, const Json& b) {
  if (symbol == "+" && a.is_string() && b.is_string()) return Json(a.AsString() + b.AsString());
  if (symbol == "+" && a.is_array() && b.is_array()) {
    Json::Array joined = a.AsArray();
    joined.insert(joined.end(), b.AsArray().begin(), b.AsArray().end());
    return Json(std::move(joined));
  }
  if (symbol != "*") return std::nullopt;
  const bool first = a.is_string() || a.is_array();
  const Json& sequence = first ? a : b;
  const std::optional<int64_t> times = AsWhole(first ? b : a);
  if (!times || !(sequence.is_string() || sequence.is_array())) return std::nullopt;
  const size_t size = WeightOf(sequence);
  const size_t repeats = *times > 0 ? static_cast<size_t>(*times) : 0;
  if (repeats > 0 && size > kLongestText / repeats) return std::nullopt;
  std::string text;
  Json::Array list;
  for (size_t i = 0; i < repeats; ++i) {
    if (sequence.is_string()) {
      text += sequence.AsString();
    } else {
      list.insert(list.end(), sequence.AsArray().begin(), sequence.AsArray().end());
    }
  }
  return sequence.is_string() ? Json(std::move(text)) : Json(std::move(list));
}

ExpressionValue Evaluated(const PythonNode& node);

ExpressionValue EvaluatedSign(const PythonNode& node) {
  const ExpressionValue inner = Evaluated(node.children[0]);
  if (!inner) return std::nullopt;
  const std::optional<int64_t> whole = AsWhole(*inner);
  if (node.text == "not") {
    if (!whole && !inner->is_number()) return std::nullopt;
    return Json(whole ? *whole == 0 : inner->AsDouble() == 0);
  }
  if (whole) {
    if (node.text == "-") return Whole(-static_cast<Wide>(*whole));
    return Json(node.text == "~" ? ~*whole : *whole);
  }
  if (!inner->is_number() || node.text == "~") return std::nullopt;
  return Json(node.text == "-" ? -inner->AsDouble() : inner->AsDouble());
}

// As Python computes it; names stand for nothing here.
ExpressionValue Evaluated(const PythonNode& node) {
  switch (node.kind) {
    case Kind::kConstant: return node.value;
    case Kind::kUnary: return EvaluatedSign(node);
    case Kind::kList: {
      Json::Array list;
      for (const PythonNode& child : node.children) {
        ExpressionValue element = Evaluated(child);
        if (!element) return std::nullopt;
        list.push_back(*std::move(element));
      }
      return Json(std::move(list));
    }
    case Kind::kBinary: {
      const ExpressionValue a = Evaluated(node.children[0]), b = Evaluated(node.children[1]);
      if (!a || !b) return std::nullopt;
      const auto x = AsWhole(*a), y = AsWhole(*b);
      if (x && y) return OfWholes(node.text, *x, *y);
      const bool numbers = (x || a->is_number()) && (y || b->is_number());
      if (!numbers) return OfSequences(node.text, *a, *b);
      return OfReals(node.text, x ? static_cast<double>(*x) : a->AsDouble(),
                     y ? static_cast<double>(*y) : b->AsDouble());
    }
    default: return std::nullopt;
  }
}

// --- values --------------------------------------------------------------------------------------

std::string NameOf(const PythonNode& function) {
  if (function.kind == Kind::kName) return function.text;
  if (function.kind != Kind::kAttribute) return "";
  const std::string before = NameOf(function.children[0]);
  return before.empty() ? function.text : before + "." + function.text;
}

ExpressionValue ResolvedCall(const PythonNode& call) {
  Json arguments = Json::Of({});
  for (size_t i = 0; i < call.keywords.size(); ++i) {
    ExpressionValue resolved = Resolved(call.values[i]);
    if (!resolved) return std::nullopt;
    arguments.Set(call.keywords[i].empty() ? "**" : call.keywords[i], *std::move(resolved));
  }
  return Json::Of({{NameOf(call.children[0]), std::move(arguments)}});
}

std::optional<Json::Array> ResolvedList(const PythonNode& node) {
  Json::Array list;
  for (const PythonNode& child : node.children) {
    ExpressionValue element = Resolved(child);
    if (!element) return std::nullopt;
    list.push_back(*std::move(element));
  }
  return list;
}

ExpressionValue ResolvedDict(const PythonNode& node) {
  Json dict = Json::Of({});
  for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const ExpressionValue key = Resolved(node.children[i]);
    ExpressionValue value = Resolved(node.children[i + 1]);
    // A list, or a dictionary, cannot be a key there.
    if (!key || !value || key->is_array() ||
        (key->is_object() && key->Find(kPythonTuple) == nullptr &&
         key->Find(kPythonBytes) == nullptr)) {
      return std::nullopt;
    }
    dict.Set(key->is_string() ? key->AsString() : "<" + PythonSource(node.children[i]) + ">",
             *std::move(value));
  }
  return dict;
}

// Any sign is read as a minus, before a plain number only.
ExpressionValue Negated(const PythonNode& operand) {
  if (operand.kind != Kind::kConstant) return std::nullopt;
  if (const auto whole = AsWhole(operand.value)) return Whole(-static_cast<Wide>(*whole));
  if (operand.value.kind() == Json::Kind::kBigInteger) {
    const Result<Json> negative = ParseJson("-" + DumpJson(operand.value));
    return negative.ok() ? ExpressionValue(*negative) : std::nullopt;
  }
  if (!operand.value.is_number()) return std::nullopt;
  return Json(-operand.value.AsDouble());
}

ExpressionValue Resolved(const PythonNode& node) {
  switch (node.kind) {
    case Kind::kConstant: return node.value;
    case Kind::kEllipsis: return Json("...");
    case Kind::kBytes: return Json::Of({{std::string(kPythonBytes), node.text}});
    case Kind::kName: return Json(node.text);
    case Kind::kUnary: return Negated(node.children[0]);
    case Kind::kBinary: return Evaluated(node);
    case Kind::kDict: return ResolvedDict(node);
    case Kind::kCall:
      return node.keywords.empty() ? ExpressionValue(Json(PythonSource(node))) : ResolvedCall(node);
    case Kind::kSubscript: return Json(PythonSource(node));
    case Kind::kList:
    case Kind::kTuple: {
      std::optional<Json::Array> list = ResolvedList(node);
      if (!list) return std::nullopt;
      return node.kind == Kind::kList ? Json(*std::move(list)) : Tuple(*std::move(list));
    }
    default: return std::nullopt;
  }
}

}  // namespace

Result<Json> PythonCallsFromText(std::string_view text) {
  std::string code(Trim(text, "`\n "));
  if (!code.starts_with('[')) code.insert(0, "[");
  if (!code.ends_with(']')) code += "]";
  HONE_ASSIGN_OR_RETURN(const PythonNode parsed, ParsePythonExpression(code));
  const Error no_calls(ErrorCode::kParse, "this is Python, but no list of calls");
  if (parsed.kind != Kind::kList && parsed.kind != Kind::kTuple && parsed.kind != Kind::kSet) {
    return no_calls;
  }
  Json::Array calls;
  for (const PythonNode& element : parsed.children) {
    if (element.kind != Kind::kCall) return no_calls;
    ExpressionValue call = ResolvedCall(element);
    if (!call) return Error(ErrorCode::kParse, "an argument is no value: " + PythonSource(element));
    calls.push_back(*std::move(call));
  }
  return Json(std::move(calls));
}

}  // namespace hone
