// Filters that go through values.

#include <algorithm>

#include <fmt/format.h>

#include "text/jinja/jinja_access.h"
#include "text/jinja/jinja_filters.h"
#include "text/jinja/jinja_operators.h"
#include "text/jinja/jinja_print.h"

namespace hone {
namespace {

using Arguments = JinjaArguments;
using Value = JinjaValue;
using Kind = JinjaValue::Kind;
using Bound = std::vector<std::optional<Value>>;

bool IsTrue(const std::optional<Value>& value) { return value && value->IsTrue(); }

Value WithoutCase(const Value& value) {
  return value.is_text() ? Value::Text(LowerCase(value.AsText().view())) : value;
}

// What filters compare by: the value or its attribute, text without its case.
Result<Value> KeyOf(JinjaRun* run, const Value& value, const std::optional<Value>& attribute,
                    bool case_sensitive) {
  Value key = value;
  if (attribute && !attribute->is_none()) {
    HONE_ASSIGN_OR_RETURN(key, GetPath(run, value, *attribute));
  }
  return case_sensitive ? key : WithoutCase(key);
}

struct Keyed {
  std::vector<Value> keys;
  Value value;
};

// Python's sort: it keeps the order of equals, also when reversed.
Result<std::vector<Value>> Sorted(JinjaRun* run, std::vector<Keyed> items, bool reverse) {
  HONE_RETURN_IF_ERROR(run->Charge(static_cast<int64_t>(items.size()) * 8));
  std::optional<Error> problem;
  const auto less = [&](const Keyed& a, const Keyed& b) {
    for (size_t i = 0; i < a.keys.size() && !problem; ++i) {
      if (const auto paid = run->Charge(a.keys[i]); !paid.ok()) problem = paid.error();
      if (Equal(a.keys[i], b.keys[i])) continue;
      const auto order = Order(a.keys[i], b.keys[i]);
      if (!order.ok()) problem = order.error();
      return order.ok() && *order < 0;
    }
    return false;
  };
  if (reverse) {
    std::stable_sort(items.begin(), items.end(),
                     [&](const Keyed& a, const Keyed& b) { return less(b, a); });
  } else {
    std::stable_sort(items.begin(), items.end(), less);
  }
  if (problem) return *problem;
  std::vector<Value> values;
  for (Keyed& item : items) values.push_back(std::move(item.value));
  return values;
}

// "a,b.c" as several attributes.
std::vector<std::optional<Value>> AttributesOf(const std::optional<Value>& attribute) {
  if (!attribute || !attribute->is_text()) return {attribute};
  std::vector<std::optional<Value>> attributes;
  std::string_view rest = attribute->AsText().view();
  while (true) {
    const size_t comma = rest.find(',');
    attributes.push_back(Value::Text(std::string(rest.substr(0, comma))));
    if (comma == rest.npos) return attributes;
    rest.remove_prefix(comma + 1);
  }
}

Result<Value> Sort(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(
      const Bound bound,
      BindArguments("sort", arguments, {"reverse", "case_sensitive", "attribute"}, 0));
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> values, Iterate(run, value));
  std::vector<Keyed> items;
  for (const Value& item : values) {
    Keyed keyed{{}, item};
    for (const auto& attribute : AttributesOf(bound[2])) {
      HONE_ASSIGN_OR_RETURN(Value key, KeyOf(run, item, attribute, IsTrue(bound[1])));
      keyed.keys.push_back(std::move(key));
    }
    items.push_back(std::move(keyed));
  }
  HONE_ASSIGN_OR_RETURN(std::vector<Value> sorted, Sorted(run, std::move(items), IsTrue(bound[0])));
  return Value::List(std::move(sorted));
}

Result<std::vector<Value>> PairsOf(JinjaRun* run, const Value& dict) {
  HONE_RETURN_IF_ERROR(run->Charge(static_cast<int64_t>(dict.AsDict().members.size())));
  std::vector<Value> pairs;
  for (const auto& member : dict.AsDict().members) {
    HONE_ASSIGN_OR_RETURN(Value pair, Value::Tuple({member.first, member.second}));
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

Result<Value> DictSort(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("dictsort", arguments,
                                                         {"case_sensitive", "by", "reverse"}, 0));
  if (value.is_undefined()) return BadJinja(value.Why());
  if (!value.is_dict()) return BadJinja("dictsort wants a dict");
  const std::string by = bound[1] && bound[1]->is_text() ? bound[1]->AsText().bytes() : "key";
  if (by != "key" && by != "value") return BadJinja("dictsort sorts by \"key\" or \"value\"");
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> pairs, PairsOf(run, value));
  std::vector<Keyed> items;
  for (const Value& pair : pairs) {
    const Value& key = pair.Items()[by == "key" ? 0 : 1];
    items.push_back({{IsTrue(bound[0]) ? key : WithoutCase(key)}, pair});
  }
  HONE_ASSIGN_OR_RETURN(std::vector<Value> sorted, Sorted(run, std::move(items), IsTrue(bound[2])));
  return Value::List(std::move(sorted));
}

Result<Value> Items(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("items", arguments, {}, 0));
  if (value.is_undefined()) return Value::Iterator("generator", {});
  if (!value.is_dict()) return BadJinja("items wants a dict");
  HONE_ASSIGN_OR_RETURN(std::vector<Value> pairs, PairsOf(run, value));
  return Value::Iterator("generator", std::move(pairs));
}

Result<Value> Unique(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("unique", arguments, {"case_sensitive", "attribute"}, 0));
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> values, Iterate(run, value));
  std::vector<Value> seen, unique;
  for (const Value& item : values) {
    HONE_ASSIGN_OR_RETURN(Value key, KeyOf(run, item, bound[1], IsTrue(bound[0])));
    if (!IsHashable(key)) return BadJinja("unhashable type: '" + key.TypeName() + "'");
    HONE_RETURN_IF_ERROR(run->Charge(static_cast<int64_t>(seen.size())));
    if (std::any_of(seen.begin(), seen.end(), [&](const Value& k) { return Equal(k, key); })) {
      continue;
    }
    seen.push_back(std::move(key));
    unique.push_back(item);
  }
  return Value::Iterator("generator", std::move(unique));
}

template <bool kLargest>
Result<Value> Extreme(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments(kLargest ? "max" : "min", arguments,
                                                         {"case_sensitive", "attribute"}, 0));
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> values, Iterate(run, value));
  if (values.empty()) return Value::Undefined("No aggregated item, sequence was empty.");
  Value best = values[0];
  HONE_ASSIGN_OR_RETURN(Value best_key, KeyOf(run, best, bound[1], IsTrue(bound[0])));
  for (size_t i = 1; i < values.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(Value key, KeyOf(run, values[i], bound[1], IsTrue(bound[0])));
    HONE_ASSIGN_OR_RETURN(const bool better, Compare(run, kLargest ? ">" : "<", key, best_key));
    if (!better) continue;
    best = values[i];
    best_key = std::move(key);
  }
  return best;
}

Result<Value> Sum(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("sum", arguments, {"attribute", "start"}, 0));
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> values, Iterate(run, value));
  Value sum = bound[1].value_or(Value(0));
  for (const Value& item : values) {
    HONE_ASSIGN_OR_RETURN(const Value term, KeyOf(run, item, bound[0], true));
    HONE_ASSIGN_OR_RETURN(sum, Arithmetic(run, "+", sum, term));
  }
  return sum;
}

Result<Value> First(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("first", arguments, {}, 0));
  if (value.is(Kind::kIterator)) {  // takes one and leaves the others
    JinjaIterator& iterator = value.AsIterator();
    if (iterator.next < iterator.values.size()) return iterator.values[iterator.next++];
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> values, Iterate(run, value));
  if (values.empty()) return Value::Undefined("No first item, sequence was empty.");
  return values.front();
}

Result<Value> Last(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("last", arguments, {}, 0));
  if (value.is(Kind::kIterator))
    return BadJinja("'" + value.TypeName() + "' object is not reversible");
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> values, Iterate(run, value));
  if (values.empty()) return Value::Undefined("No last item, sequence was empty.");
  return values.back();
}

Result<Value> Length(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("length", arguments, {}, 0));
  if (value.is_text()) HONE_RETURN_IF_ERROR(run->ChargeText(value.AsText().size()));
  const std::optional<int64_t> length = LengthOf(value);
  if (!length) return BadJinja("object of type '" + value.TypeName() + "' has no len()");
  return Value(*length);
}

Result<Value> List(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("list", arguments, {}, 0));
  HONE_ASSIGN_OR_RETURN(std::vector<Value> values, Iterate(run, value));
  return Value::List(std::move(values));
}

Result<Value> Reverse(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_RETURN_IF_ERROR(BindArguments("reverse", arguments, {}, 0));
  if (value.is_text()) return GetSlice(run, value, Value(), Value(), Value(-1));
  HONE_ASSIGN_OR_RETURN(std::vector<Value> values, Iterate(run, value));
  std::reverse(values.begin(), values.end());
  if (value.is(Kind::kIterator)) return Value::List(std::move(values));
  return Value::Iterator(value.is(Kind::kList) ? "list_reverseiterator" : "reversed",
                         std::move(values));
}

Result<Value> Join(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("join", arguments, {"d", "attribute"}, 0));
  JinjaText separator;
  if (bound[0]) {
    HONE_ASSIGN_OR_RETURN(separator, ToText(run, *bound[0]));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> values, Iterate(run, value));
  JinjaText joined;
  for (size_t i = 0; i < values.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const Value item, KeyOf(run, values[i], bound[1], true));
    HONE_ASSIGN_OR_RETURN(const JinjaText text, ToText(run, item));
    HONE_RETURN_IF_ERROR(run->ChargeText(text.size() + separator.size()));
    if (i > 0) joined.Append(separator);
    joined.Append(text);
  }
  return Value(joined.WithMarkup(false));
}

// An attribute of an attribute and so on, where a default stands in for each that is missing.
Result<Value> PathOr(JinjaRun* run, Value value, const Value& path,
                     const std::optional<Value>& otherwise) {
  const bool has_default = otherwise && !otherwise->is_none();
  std::string_view rest = path.is_text() ? path.AsText().view() : "";
  while (true) {
    const size_t dot = rest.find('.');
    const Value part = path.is_text() ? Value::Text(std::string(rest.substr(0, dot))) : path;
    HONE_ASSIGN_OR_RETURN(value, GetPath(run, value, part));
    if (value.is_undefined() && has_default) value = *otherwise;
    if (dot == rest.npos) return value;
    rest.remove_prefix(dot + 1);
  }
}

Result<Value> Map(JinjaRun* run, const Value& value, const Arguments& arguments) {
  // What is false has nothing in it there, None and 0 included.
  if (!value.IsTrue()) return Value::Iterator("generator", {});
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> values, Iterate(run, value));
  std::vector<Value> mapped;
  if (values.empty()) return Value::Iterator("generator", {});
  if (arguments.positional.empty()) {
    HONE_ASSIGN_OR_RETURN(const Bound bound,
                          BindArguments("map", arguments, {"attribute", "default"}, 1));
    for (const Value& item : values) {
      HONE_ASSIGN_OR_RETURN(Value member, PathOr(run, item, *bound[0], bound[1]));
      mapped.push_back(std::move(member));
    }
    return Value::Iterator("generator", std::move(mapped));
  }
  if (!arguments.positional[0].is_text()) return BadJinja("map wants the name of a filter");
  const std::string& name = arguments.positional[0].AsText().bytes();
  const JinjaFilter filter = FindJinjaFilter(name);
  if (filter == nullptr) return NoSuchFilter(name);
  const Arguments rest{{arguments.positional.begin() + 1, arguments.positional.end()},
                       arguments.named};
  for (const Value& item : values) {
    HONE_ASSIGN_OR_RETURN(Value result, filter(run, item, rest));
    mapped.push_back(std::move(result));
  }
  return Value::Iterator("generator", std::move(mapped));
}

// select, reject, selectattr, rejectattr.
template <bool kKeeps, bool kByAttribute>
Result<Value> Choose(JinjaRun* run, const Value& value, const Arguments& arguments) {
  if (!value.IsTrue()) return Value::Iterator("generator", {});  // as for map
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> values, Iterate(run, value));
  if (values.empty()) return Value::Iterator("generator", {});
  const std::vector<Value>& given = arguments.positional;
  constexpr size_t kSkip = kByAttribute ? 1 : 0;
  if (given.size() < kSkip) return BadJinja("wants the name of an attribute");
  JinjaTest test = nullptr;
  Arguments rest{{}, arguments.named};
  if (given.size() > kSkip) {
    if (!given[kSkip].is_text()) return BadJinja("wants the name of a test");
    test = FindJinjaTest(given[kSkip].AsText().view());
    if (test == nullptr) return NoSuchTest(given[kSkip].AsText().view());
    rest.positional.assign(given.begin() + kSkip + 1, given.end());
  }
  std::vector<Value> chosen;
  for (const Value& item : values) {
    Value looked_at = item;
    if (kByAttribute) {
      HONE_ASSIGN_OR_RETURN(looked_at, GetPath(run, item, given[0]));
    }
    bool holds = looked_at.IsTrue();
    if (test != nullptr) {
      HONE_ASSIGN_OR_RETURN(holds, test(run, looked_at, rest));
    }
    if (holds == kKeeps) chosen.push_back(item);
  }
  return Value::Iterator("generator", std::move(chosen));
}

Result<Value> GroupBy(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(
      const Bound bound,
      BindArguments("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1));
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> values, Iterate(run, value));
  const auto key_of = [&](const Value& item, bool case_sensitive) -> Result<Value> {
    HONE_ASSIGN_OR_RETURN(Value key, PathOr(run, item, *bound[0], bound[1]));
    return case_sensitive ? key : WithoutCase(key);
  };
  std::vector<Keyed> items;
  for (const Value& item : values) {
    HONE_ASSIGN_OR_RETURN(Value key, key_of(item, IsTrue(bound[2])));
    items.push_back({{std::move(key)}, item});
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> sorted, Sorted(run, std::move(items), false));
  std::vector<Value> groups;
  for (size_t begin = 0; begin < sorted.size();) {
    HONE_ASSIGN_OR_RETURN(const Value key, key_of(sorted[begin], IsTrue(bound[2])));
    std::vector<Value> members;
    size_t end = begin;
    for (; end < sorted.size(); ++end) {
      HONE_ASSIGN_OR_RETURN(const Value other, key_of(sorted[end], IsTrue(bound[2])));
      if (!Equal(key, other)) break;
      members.push_back(sorted[end]);
    }
    HONE_ASSIGN_OR_RETURN(Value shown, key_of(sorted[begin], true));
    HONE_ASSIGN_OR_RETURN(Value list, Value::List(std::move(members)));
    HONE_ASSIGN_OR_RETURN(Value group, Value::Tuple({std::move(shown), std::move(list)}));
    groups.push_back(std::move(group));
    begin = end;
  }
  return Value::List(std::move(groups));
}

Result<int64_t> WantCount(const std::optional<Value>& value) {
  const std::optional<int64_t> count = value->AsInteger();
  if (!count || *count < 1) return BadJinja("wants a number of at least 1");
  return *count;
}

Result<Value> Batch(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("batch", arguments, {"linecount", "fill_with"}, 1));
  HONE_ASSIGN_OR_RETURN(const int64_t size, WantCount(bound[0]));
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> values, Iterate(run, value));
  std::vector<Value> batches;
  for (size_t begin = 0; begin < values.size();) {
    const size_t end = begin + static_cast<size_t>(std::min<int64_t>(
                                   size, static_cast<int64_t>(values.size() - begin)));
    std::vector<Value> batch(values.begin() + static_cast<int64_t>(begin),
                             values.begin() + static_cast<int64_t>(end));
    if (bound[1] && !bound[1]->is_none()) {
      HONE_RETURN_IF_ERROR(run->Charge(size));
      batch.resize(static_cast<size_t>(size), *bound[1]);
    }
    HONE_ASSIGN_OR_RETURN(Value list, Value::List(std::move(batch)));
    batches.push_back(std::move(list));
    begin = end;
  }
  return Value::Iterator("generator", std::move(batches));
}

Result<Value> Slice(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound,
                        BindArguments("slice", arguments, {"slices", "fill_with"}, 1));
  HONE_ASSIGN_OR_RETURN(const int64_t count, WantCount(bound[0]));
  HONE_RETURN_IF_ERROR(run->Charge(count));
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> values, Iterate(run, value));
  const auto size = static_cast<int64_t>(values.size());
  std::vector<Value> slices;
  auto at = values.begin();
  for (int64_t i = 0; i < count; ++i) {
    const bool extra = i < size % count;
    const auto end = at + size / count + (extra ? 1 : 0);
    std::vector<Value> slice(at, end);
    if (!extra && bound[1] && !bound[1]->is_none()) slice.push_back(*bound[1]);
    HONE_ASSIGN_OR_RETURN(Value list, Value::List(std::move(slice)));
    slices.push_back(std::move(list));
    at = end;
  }
  return Value::Iterator("generator", std::move(slices));
}

Result<Value> Attr(JinjaRun* run, const Value& value, const Arguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Bound bound, BindArguments("attr", arguments, {"name"}, 1));
  if (!bound[0]->is_text()) return BadJinja("attr wants the name of an attribute");
  // Attributes only: the members of a dict are its items.
  if (value.is_dict() && value.AsDict().Find(bound[0]->AsText().view()) != nullptr) {
    return Value::Undefined("'dict object' has no attribute '" + bound[0]->AsText().bytes() + "'");
  }
  return GetMember(run, value, bound[0]->AsText().view());
}

struct Named {
  std::string_view name;
  JinjaFilter filter;
};

constexpr Named kFilters[] = {
    {"attr", Attr},
    {"batch", Batch},
    {"count", Length},
    {"dictsort", DictSort},
    {"first", First},
    {"groupby", GroupBy},
    {"items", Items},
    {"join", Join},
    {"last", Last},
    {"length", Length},
    {"list", List},
    {"map", Map},
    {"max", Extreme<true>},
    {"min", Extreme<false>},
    {"reject", Choose<false, false>},
    {"rejectattr", Choose<false, true>},
    {"reverse", Reverse},
    {"select", Choose<true, false>},
    {"selectattr", Choose<true, true>},
    {"slice", Slice},
    {"sort", Sort},
    {"sum", Sum},
    {"unique", Unique},
};

}  // namespace

JinjaFilter FindJinjaSequenceFilter(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFilters), std::end(kFilters),
                                   [&](const Named& filter) { return filter.name == name; });
  return found == std::end(kFilters) ? nullptr : found->filter;
}

}  // namespace hone
