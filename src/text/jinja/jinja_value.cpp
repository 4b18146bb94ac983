#include "text/jinja/jinja_value.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/utf8.h"

namespace hone {
namespace {

using Kind = JinjaValue::Kind;

void Enclose(const JinjaValue& value, JinjaExtent* extent) {
  const JinjaExtent inner = value.Extent();
  extent->depth = std::max(extent->depth, inner.depth + 1);
  extent->count = std::min(extent->count + inner.count, JinjaValue::kLargest.count + 1);
}

JinjaExtent ExtentOver(const std::vector<JinjaValue>& values) {
  JinjaExtent extent{.depth = 1};
  for (const JinjaValue& value : values) Enclose(value, &extent);
  return extent;
}

Result<void> CheckExtent(const JinjaExtent& extent) {
  constexpr JinjaExtent kLargest = JinjaValue::kLargest;
  if (extent.depth > kLargest.depth) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("values are nested more than {} deep", kLargest.depth));
  }
  if (extent.count > kLargest.count) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("a value holds more than {} others", kLargest.count));
  }
  return {};
}

bool EqualItems(const std::vector<JinjaValue>& a, const std::vector<JinjaValue>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), Equal);
}

bool EqualDicts(const JinjaDict& a, const JinjaDict& b) {
  if (a.members.size() != b.members.size()) return false;
  return std::all_of(a.members.begin(), a.members.end(), [&](const auto& member) {
    const JinjaValue* other = b.Find(member.first);
    return other != nullptr && Equal(member.second, *other);
  });
}

bool EqualNumbers(const JinjaValue& a, const JinjaValue& b) {
  const std::optional<int64_t> x = a.AsInteger(), y = b.AsInteger();
  if (x && y) return *x == *y;
  if (a.is(Kind::kBigInteger) && b.is(Kind::kBigInteger)) {
    return a.AsBigInteger() == b.AsBigInteger();
  }
  return *a.AsReal() == *b.AsReal();
}

}  // namespace

const JinjaValue* JinjaDict::Find(const JinjaValue& key) const {
  for (const auto& member : members) {
    if (Equal(member.first, key)) return &member.second;
  }
  return nullptr;
}

const JinjaValue* JinjaDict::Find(std::string_view key) const {
  for (const auto& member : members) {
    if (member.first.is_text() && member.first.AsText().view() == key) return &member.second;
  }
  return nullptr;
}

void JinjaDict::Set(JinjaValue key, JinjaValue value) {
  for (auto& member : members) {
    if (!Equal(member.first, key)) continue;
    member.second = std::move(value);
    return;
  }
  members.emplace_back(std::move(key), std::move(value));
}

int64_t JinjaRange::size() const {
  int64_t distance = 0;
  if (__builtin_sub_overflow(stop, start, &distance)) {
    return (stop > start) == (step > 0) ? std::numeric_limits<int64_t>::max() : 0;
  }
  if ((distance > 0) != (step > 0) || distance == 0) return 0;
  return (distance - (step > 0 ? 1 : -1)) / step + 1;
}

JinjaValue JinjaValue::Undefined(std::string why) {
  JinjaValue value;
  value.value_ = std::make_shared<const JinjaUndefined>(JinjaUndefined{std::move(why)});
  return value;
}

JinjaValue::JinjaValue(BigInteger value)
    : value_(std::make_shared<const BigInteger>(std::move(value))) {}

JinjaValue::JinjaValue(JinjaText value)
    : value_(std::make_shared<const JinjaText>(std::move(value))) {}

Result<JinjaValue> JinjaValue::List(std::vector<JinjaValue> values) {
  const JinjaExtent extent = ExtentOver(values);
  HONE_RETURN_IF_ERROR(CheckExtent(extent));
  JinjaValue list;
  list.value_ = Sequence{Kind::kList, "list",
                         std::make_shared<const JinjaItems>(JinjaItems{std::move(values), extent})};
  return list;
}

Result<JinjaValue> JinjaValue::Tuple(std::vector<JinjaValue> values) {
  HONE_ASSIGN_OR_RETURN(JinjaValue tuple, List(std::move(values)));
  std::get<Sequence>(tuple.value_).kind = Kind::kTuple;
  std::get<Sequence>(tuple.value_).type = "tuple";
  return tuple;
}

Result<JinjaValue> JinjaValue::View(const char* type, std::vector<JinjaValue> values) {
  HONE_ASSIGN_OR_RETURN(JinjaValue view, List(std::move(values)));
  std::get<Sequence>(view.value_).kind = Kind::kView;
  std::get<Sequence>(view.value_).type = type;
  return view;
}

Result<JinjaValue> JinjaValue::Dict(JinjaDict dict) {
  dict.extent = {.depth = 1};
  for (const auto& [key, value] : dict.members) {
    Enclose(key, &dict.extent);
    Enclose(value, &dict.extent);
  }
  HONE_RETURN_IF_ERROR(CheckExtent(dict.extent));
  JinjaValue value;
  value.value_ = std::make_shared<const JinjaDict>(std::move(dict));
  return value;
}

Result<JinjaValue> JinjaValue::Iterator(std::string type, std::vector<JinjaValue> values) {
  const JinjaExtent extent = ExtentOver(values);
  HONE_RETURN_IF_ERROR(CheckExtent(extent));
  JinjaValue value;
  value.value_ =
      std::make_shared<JinjaIterator>(JinjaIterator{std::move(type), std::move(values), 0, extent});
  return value;
}

Result<JinjaValue> JinjaValue::FromJson(const Json& json, bool foreign) {
  const auto text = [&](const std::string& bytes) {
    std::string utf8 = IsUtf8(bytes) ? bytes : Utf8Lossy(bytes);
    return foreign ? JinjaText::Foreign(std::move(utf8)) : JinjaText(std::move(utf8));
  };
  switch (json.kind()) {
    case Json::Kind::kNull: return JinjaValue();
    case Json::Kind::kBool: return JinjaValue(json.AsBool());
    case Json::Kind::kInteger: return JinjaValue(json.AsInteger());
    case Json::Kind::kBigInteger: return JinjaValue(BigInteger{DumpJson(json)});
    case Json::Kind::kReal: return JinjaValue(json.AsDouble());
    case Json::Kind::kString: return JinjaValue(text(json.AsString()));
    case Json::Kind::kArray: {
      std::vector<JinjaValue> values;
      values.reserve(json.AsArray().size());
      for (const Json& item : json.AsArray()) {
        HONE_ASSIGN_OR_RETURN(JinjaValue value, FromJson(item, foreign));
        values.push_back(std::move(value));
      }
      return List(std::move(values));
    }
    case Json::Kind::kObject: break;
  }
  // The keys of a JSON object are apart already: they need not be looked for.
  JinjaDict dict;
  dict.members.reserve(json.AsObject().size());
  for (const auto& [key, member] : json.AsObject()) {
    HONE_ASSIGN_OR_RETURN(JinjaValue value, FromJson(member, foreign));
    dict.members.emplace_back(text(key), std::move(value));
  }
  return Dict(std::move(dict));
}

JinjaValue::Kind JinjaValue::kind() const {
  static constexpr Kind kKinds[] = {Kind::kNone, Kind::kUndefined,  Kind::kBool,     Kind::kInteger,
                                    Kind::kReal, Kind::kBigInteger, Kind::kText,     Kind::kList,
                                    Kind::kDict, Kind::kRange,      Kind::kIterator, Kind::kObject};
  const auto* sequence = std::get_if<Sequence>(&value_);
  return sequence != nullptr ? sequence->kind : kKinds[value_.index()];
}

bool JinjaValue::is_number() const {
  const Kind k = kind();
  return k == Kind::kBool || k == Kind::kInteger || k == Kind::kBigInteger || k == Kind::kReal;
}

std::optional<int64_t> JinjaValue::AsInteger() const {
  if (is(Kind::kBool)) return AsBool() ? 1 : 0;
  if (is(Kind::kInteger)) return Get<int64_t>();
  return std::nullopt;
}

std::optional<double> JinjaValue::AsReal() const {
  if (is(Kind::kReal)) return Get<double>();
  if (is(Kind::kBigInteger)) return Json(AsBigInteger()).AsDouble();
  if (const std::optional<int64_t> integer = AsInteger()) return static_cast<double>(*integer);
  return std::nullopt;
}

const std::string& JinjaValue::Why() const {
  return Get<std::shared_ptr<const JinjaUndefined>>()->why;
}

const std::vector<JinjaValue>& JinjaValue::Items() const { return Get<Sequence>().items->values; }

bool JinjaValue::IsTrue() const {
  switch (kind()) {
    case Kind::kUndefined:
    case Kind::kNone: return false;
    case Kind::kBool: return AsBool();
    case Kind::kInteger: return Get<int64_t>() != 0;
    case Kind::kReal: return Get<double>() != 0;
    case Kind::kBigInteger: return true;
    case Kind::kText: return !AsText().empty();
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kView: return !Items().empty();
    case Kind::kDict: return !AsDict().members.empty();
    case Kind::kRange: return AsRange().size() > 0;
    case Kind::kIterator:
    case Kind::kObject: return true;
  }
  return false;
}

JinjaExtent JinjaValue::Extent() const {
  if (const auto* sequence = std::get_if<Sequence>(&value_)) return sequence->items->extent;
  if (is(Kind::kDict)) return AsDict().extent;
  if (is(Kind::kIterator)) return AsIterator().extent;
  if (is(Kind::kText)) return {0, 1 + static_cast<int64_t>(AsText().size() / 64)};
  return {};
}

std::string JinjaValue::TypeName() const {
  switch (kind()) {
    case Kind::kUndefined: return "Undefined";
    case Kind::kNone: return "NoneType";
    case Kind::kBool: return "bool";
    case Kind::kInteger:
    case Kind::kBigInteger: return "int";
    case Kind::kReal: return "float";
    case Kind::kText: return "str";
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kView: return Get<Sequence>().type;
    case Kind::kDict: return "dict";
    case Kind::kRange: return "range";
    case Kind::kIterator: return AsIterator().type;
    case Kind::kObject: return AsObject()->TypeName();
  }
  return "";
}

Result<JinjaValue> JinjaObject::Call(JinjaRun*, const JinjaArguments&) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("'{}' object is not callable", TypeName()));
}

bool Equal(const JinjaValue& a, const JinjaValue& b) {
  if (a.is_number() && b.is_number()) return EqualNumbers(a, b);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kUndefined:
    case Kind::kNone: return true;
    case Kind::kText: return a.AsText().bytes() == b.AsText().bytes();
    case Kind::kList:
    case Kind::kTuple: return EqualItems(a.Items(), b.Items());
    case Kind::kView: return a.TypeName() == b.TypeName() && EqualItems(a.Items(), b.Items());
    case Kind::kDict: return EqualDicts(a.AsDict(), b.AsDict());
    case Kind::kRange: return a.AsRange() == b.AsRange();
    case Kind::kIterator: return &a.AsIterator() == &b.AsIterator();
    case Kind::kObject: return a.AsObject() == b.AsObject();
    default: return false;
  }
}

Result<std::strong_ordering> Order(const JinjaValue& a, const JinjaValue& b) {
  if (a.is_undefined() || b.is_undefined()) {
    return Error(ErrorCode::kInvalidArgument, a.is_undefined() ? a.Why() : b.Why());
  }
  if (a.is_number() && b.is_number()) {
    if (const auto x = a.AsInteger(), y = b.AsInteger(); x && y) return *x <=> *y;
    const double x = *a.AsReal(), y = *b.AsReal();
    return x < y   ? std::strong_ordering::less
           : x > y ? std::strong_ordering::greater
                   : std::strong_ordering::equal;
  }
  // The order of UTF-8 is that of the characters.
  if (a.is_text() && b.is_text()) return a.AsText().bytes() <=> b.AsText().bytes();
  const bool sequences = (a.is(Kind::kList) || a.is(Kind::kTuple)) && a.kind() == b.kind();
  if (!sequences) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' and '{}' have no order", a.TypeName(), b.TypeName()));
  }
  const auto &x = a.Items(), &y = b.Items();
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!Equal(x[i], y[i])) return Order(x[i], y[i]);
  }
  return x.size() <=> y.size();
}

bool IsHashable(const JinjaValue& value) {
  if (value.is(Kind::kTuple)) {
    return std::all_of(value.Items().begin(), value.Items().end(), IsHashable);
  }
  return !value.is(Kind::kList) && !value.is(Kind::kDict);
}

}  // namespace hone
