#include "text/jinja/jinja_methods.h"

#include <algorithm>
#include <cmath>

#include "text/jinja/jinja_access.h"

namespace hone {
namespace {

using Arguments = JinjaArguments;
using Value = JinjaValue;
using Bound = std::vector<std::optional<Value>>;

Result<Value> DictGet(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("get", arguments, {"key", "default"}, 1));
  if (!IsHashable(*bound[0])) return BadJinja("unhashable type: '" + bound[0]->TypeName() + "'");
  HONE_RETURN_IF_ERROR(run->Charge(1 + static_cast<int64_t>(self.AsDict().members.size() / 8)));
  const Value* found = self.AsDict().Find(*bound[0]);
  return found != nullptr ? *found : bound[1].value_or(Value());
}

Result<Value> DictItems(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("items", arguments, {}, 0));
  HONE_RETURN_IF_ERROR(run->Charge(static_cast<int64_t>(self.AsDict().members.size())));
  std::vector<Value> items;
  for (const auto& member : self.AsDict().members) {
    HONE_ASSIGN_OR_RETURN(Value pair, Value::Tuple({member.first, member.second}));
    items.push_back(std::move(pair));
  }
  return Value::View("dict_items", std::move(items));
}

Result<Value> DictKeys(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("keys", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(std::vector<Value> keys, Iterate(run, self));
  return Value::View("dict_keys", std::move(keys));
}

Result<Value> DictValues(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("values", arguments, {}, 0));
  HONE_RETURN_IF_ERROR(run->Charge(static_cast<int64_t>(self.AsDict().members.size())));
  std::vector<Value> values;
  for (const auto& member : self.AsDict().members) values.push_back(member.second);
  return Value::View("dict_values", std::move(values));
}

// Values do not change, so that a copy is the value.
Result<Value> Copy(JinjaRun*, const Value& self, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("copy", arguments, {}, 0));
  return self;
}

Result<Value> SequenceCount(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("count", arguments, {"value"}, 1));
  HONE_RETURN_IF_ERROR(run->Charge(self));
  const auto& items = self.Items();
  return Value(static_cast<int64_t>(std::count_if(
      items.begin(), items.end(), [&](const Value& item) { return Equal(item, *bound[0]); })));
}

Result<Value> SequenceIndex(JinjaRun* run, const Value& self, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("index", arguments, {"value"}, 1));
  HONE_RETURN_IF_ERROR(run->Charge(self));
  const auto& items = self.Items();
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&](const Value& item) { return Equal(item, *bound[0]); });
  if (found == items.end()) return BadJinja("the value is not in the " + self.TypeName());
  return Value(static_cast<int64_t>(found - items.begin()));
}

Result<Value> IsWhole(JinjaRun*, const Value& self, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("is_integer", arguments, {}, 0));
  const double real = *self.AsReal();
  return Value(std::isfinite(real) && std::floor(real) == real);
}

}  // namespace

JinjaFunction::Body FindJinjaMethod(const JinjaValue& value, std::string_view name) {
  switch (value.kind()) {
    case Value::Kind::kText: return FindJinjaTextMethod(name);
    case Value::Kind::kDict:
      return name == "get"      ? DictGet
             : name == "items"  ? DictItems
             : name == "keys"   ? DictKeys
             : name == "values" ? DictValues
             : name == "copy"   ? Copy
                                : nullptr;
    case Value::Kind::kList:
    case Value::Kind::kTuple:
      return name == "count"                                  ? SequenceCount
             : name == "index"                                ? SequenceIndex
             : name == "copy" && value.is(Value::Kind::kList) ? Copy
                                                              : nullptr;
    case Value::Kind::kReal:
    case Value::Kind::kInteger: return name == "is_integer" ? IsWhole : nullptr;
    default: return nullptr;
  }
}

}  // namespace hone
