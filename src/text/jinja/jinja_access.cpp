#include "text/jinja/jinja_access.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "text/jinja/jinja_methods.h"

namespace hone {
namespace {

using Kind = JinjaValue::Kind;

std::string Shown(const JinjaValue& value) {
  return value.is_none() ? "None" : fmt::format("'{} object'", value.TypeName());
}

bool IsForbidden(const JinjaValue& value, std::string_view name) {
  static constexpr std::array<std::string_view, 5> kDict = {"clear", "pop", "popitem", "setdefault",
                                                            "update"};
  static constexpr std::array<std::string_view, 8> kList = {"append", "clear",  "extend",  "insert",
                                                            "pop",    "remove", "reverse", "sort"};
  const auto among = [&](const auto& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return (value.is_dict() && among(kDict)) || (value.is(Kind::kList) && among(kList));
}

// A method or a member of an object, or undefined where the sandbox forbids it.
std::optional<JinjaValue> Attribute(JinjaRun* run, const JinjaValue& value, std::string_view name) {
  if (value.is(Kind::kObject)) return value.AsObject()->Member(name);
  if (IsForbidden(value, name)) {
    return JinjaValue::Undefined(
        fmt::format("access to attribute '{}' of '{}' object is unsafe", name, value.TypeName()));
  }
  const JinjaFunction::Body method = FindJinjaMethod(value, name);
  if (method == nullptr) return std::nullopt;
  return JinjaValue(run->Keep(std::make_unique<JinjaFunction>(std::string(name), value, method)));
}

// The item at an index that may count from the end; nothing when it is outside.
std::optional<size_t> IndexIn(int64_t index, size_t size) {
  if (index < 0) index += static_cast<int64_t>(size);
  if (index < 0 || index >= static_cast<int64_t>(size)) return std::nullopt;
  return static_cast<size_t>(index);
}

Result<std::optional<JinjaValue>> Item(JinjaRun* run, const JinjaValue& value,
                                       const JinjaValue& key) {
  using Found = std::optional<JinjaValue>;
  if (value.is_dict()) {
    if (!IsHashable(key)) return Found();
    const JinjaDict& dict = value.AsDict();
    HONE_RETURN_IF_ERROR(run->Charge(1 + static_cast<int64_t>(dict.members.size() / 8)));
    const JinjaValue* found = dict.Find(key);
    return found == nullptr ? Found() : Found(*found);
  }
  const std::optional<int64_t> number = key.AsInteger();
  if (!number) return Found();
  switch (value.kind()) {
    case Kind::kText: {
      const JinjaText& text = value.AsText();
      HONE_RETURN_IF_ERROR(run->ChargeText(text.size()));
      const auto index = IndexIn(*number, CountCharacters(text.view()));
      if (!index) return Found();
      const size_t begin = CharacterOffset(text.view(), *index);
      const size_t length = CharacterOffset(text.view().substr(begin), 1);
      return Found(JinjaValue(text.Part(begin, begin + length)));
    }
    case Kind::kList:
    case Kind::kTuple: {
      const auto index = IndexIn(*number, value.Items().size());
      return index ? Found(value.Items()[*index]) : Found();
    }
    case Kind::kRange: {
      const JinjaRange& range = value.AsRange();
      const auto index = IndexIn(*number, static_cast<size_t>(range.size()));
      return index ? Found(range.start + static_cast<int64_t>(*index) * range.step) : Found();
    }
    default: return Found();
  }
}

// Where a slice begins, how it goes on, and how many it takes: slice.indices of Python.
struct Steps {
  int64_t start = 0, step = 1, count = 0;
};

Result<Steps> StepsOf(int64_t size, const JinjaValue& start, const JinjaValue& stop,
                      const JinjaValue& step) {
  for (const JinjaValue* bound : {&start, &stop, &step}) {
    if (!bound->is_none() && !bound->AsInteger()) {
      return bound->is_undefined() ? BadJinja(bound->Why())
                                   : BadJinja("slice indices must be integers or None");
    }
  }
  // No text or list comes near these ends, and sums with them stay whole numbers of 64 bits.
  constexpr int64_t kFar = int64_t{1} << 40;
  Steps steps;
  steps.step = std::clamp(step.AsInteger().value_or(1), -kFar, kFar);
  if (steps.step == 0) return BadJinja("slice step cannot be zero");
  const bool forward = steps.step > 0;
  const auto clamped = [&](const JinjaValue& bound, int64_t missing) {
    if (bound.is_none()) return missing;
    int64_t at = std::clamp(*bound.AsInteger(), -kFar, kFar);
    if (at < 0) at += size;
    return forward ? std::clamp<int64_t>(at, 0, size) : std::clamp<int64_t>(at, -1, size - 1);
  };
  steps.start = clamped(start, forward ? 0 : size - 1);
  const int64_t end = clamped(stop, forward ? size : -1);
  const int64_t distance = forward ? end - steps.start : steps.start - end;
  const int64_t stride = forward ? steps.step : -steps.step;
  steps.count = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  return steps;
}

Result<JinjaValue> SliceOfText(JinjaRun* run, const JinjaText& text, const JinjaValue& start,
                               const JinjaValue& stop, const JinjaValue& step) {
  HONE_RETURN_IF_ERROR(run->ChargeText(text.size()));
  const std::vector<size_t> offsets = CharacterOffsets(text.view());
  const auto size = static_cast<int64_t>(offsets.size()) - 1;
  HONE_ASSIGN_OR_RETURN(const Steps steps, StepsOf(size, start, stop, step));
  if (steps.count == 0) return JinjaValue::Text("");
  if (steps.step == 1) {
    return JinjaValue(text.Part(offsets[static_cast<size_t>(steps.start)],
                                offsets[static_cast<size_t>(steps.start + steps.count)]));
  }
  HONE_RETURN_IF_ERROR(run->Charge(steps.count));
  JinjaText slice;
  for (int64_t i = 0; i < steps.count; ++i) {
    const auto at = static_cast<size_t>(steps.start + i * steps.step);
    slice.Append(text.Part(offsets[at], offsets[at + 1]));
  }
  return JinjaValue(std::move(slice));
}

}  // namespace

Result<JinjaValue> GetMember(JinjaRun* run, const JinjaValue& value, std::string_view name) {
  if (value.is_undefined()) return BadJinja(value.Why());
  if (std::optional<JinjaValue> attribute = Attribute(run, value, name)) return *attribute;
  if (value.is_dict()) {
    const JinjaDict& dict = value.AsDict();
    HONE_RETURN_IF_ERROR(run->Charge(1 + static_cast<int64_t>(dict.members.size() / 8)));
    if (const JinjaValue* found = dict.Find(name)) return *found;
  }
  return JinjaValue::Undefined(fmt::format("{} has no attribute '{}'", Shown(value), name));
}

Result<JinjaValue> GetItem(JinjaRun* run, const JinjaValue& value, const JinjaValue& key) {
  if (value.is_undefined()) return BadJinja(value.Why());
  HONE_ASSIGN_OR_RETURN(const std::optional<JinjaValue> item, Item(run, value, key));
  if (item) return *item;
  if (!key.is_text()) {
    return JinjaValue::Undefined(fmt::format("{} has no such element", Shown(value)));
  }
  const std::string& name = key.AsText().bytes();
  if (std::optional<JinjaValue> attribute = Attribute(run, value, name)) return *attribute;
  return JinjaValue::Undefined(fmt::format("{} has no attribute '{}'", Shown(value), name));
}

Result<JinjaValue> GetSlice(JinjaRun* run, const JinjaValue& value, const JinjaValue& start,
                            const JinjaValue& stop, const JinjaValue& step) {
  if (value.is_undefined()) return BadJinja(value.Why());
  if (value.is_text()) return SliceOfText(run, value.AsText(), start, stop, step);
  if (!value.is(Kind::kList) && !value.is(Kind::kTuple) && !value.is(Kind::kRange)) {
    return BadJinja(fmt::format("'{}' object cannot be sliced", value.TypeName()));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<JinjaValue> items, Iterate(run, value));
  HONE_ASSIGN_OR_RETURN(const Steps steps,
                        StepsOf(static_cast<int64_t>(items.size()), start, stop, step));
  std::vector<JinjaValue> slice;
  slice.reserve(static_cast<size_t>(steps.count));
  for (int64_t i = 0; i < steps.count; ++i) {
    slice.push_back(items[static_cast<size_t>(steps.start + i * steps.step)]);
  }
  return value.is(Kind::kTuple) ? JinjaValue::Tuple(std::move(slice))
                                : JinjaValue::List(std::move(slice));
}

Result<JinjaValue> GetPath(JinjaRun* run, const JinjaValue& value, const JinjaValue& path) {
  if (!path.is_text()) return GetItem(run, value, path);
  std::string_view rest = path.AsText().view();
  JinjaValue at = value;
  while (true) {
    const size_t dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    int64_t index = 0;
    if (number) std::from_chars(part.data(), part.data() + part.size(), index);
    HONE_ASSIGN_OR_RETURN(
        at, GetItem(run, at, number ? JinjaValue(index) : JinjaValue::Text(std::string(part))));
    if (dot == rest.npos) return at;
    rest.remove_prefix(dot + 1);
  }
}

bool IsIterable(const JinjaValue& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kText:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kView:
    case Kind::kDict:
    case Kind::kRange:
    case Kind::kIterator: return true;
    default: return false;
  }
}

Error NotIterable(const JinjaValue& value) {
  return BadJinja(fmt::format("'{}' object is not iterable", value.TypeName()));
}

Result<std::vector<JinjaValue>> Iterate(JinjaRun* run, const JinjaValue& value) {
  std::vector<JinjaValue> values;
  switch (value.kind()) {
    case Kind::kUndefined: return values;
    case Kind::kText: {
      const JinjaText& text = value.AsText();
      // Every character becomes a value, which takes a hundred times its room.
      HONE_RETURN_IF_ERROR(run->Charge(8 * static_cast<int64_t>(text.size())));
      const std::vector<size_t> offsets = CharacterOffsets(text.view());
      for (size_t i = 0; i + 1 < offsets.size(); ++i) {
        values.emplace_back(text.Part(offsets[i], offsets[i + 1]));
      }
      return values;
    }
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kView:
      HONE_RETURN_IF_ERROR(run->Charge(static_cast<int64_t>(value.Items().size())));
      return value.Items();
    case Kind::kDict:
      HONE_RETURN_IF_ERROR(run->Charge(static_cast<int64_t>(value.AsDict().members.size())));
      for (const auto& member : value.AsDict().members) values.push_back(member.first);
      return values;
    case Kind::kRange: {
      const JinjaRange& range = value.AsRange();
      HONE_RETURN_IF_ERROR(run->Charge(range.size()));
      for (int64_t i = 0; i < range.size(); ++i) values.emplace_back(range.start + i * range.step);
      return values;
    }
    case Kind::kIterator: {
      JinjaIterator& iterator = value.AsIterator();
      values.assign(iterator.values.begin() + static_cast<int64_t>(iterator.next),
                    iterator.values.end());
      iterator.next = iterator.values.size();
      HONE_RETURN_IF_ERROR(run->Charge(static_cast<int64_t>(values.size())));
      return values;
    }
    default: return NotIterable(value);
  }
}

std::optional<int64_t> LengthOf(const JinjaValue& value) {
  switch (value.kind()) {
    case Kind::kUndefined: return 0;
    case Kind::kText: return static_cast<int64_t>(CountCharacters(value.AsText().view()));
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kView: return static_cast<int64_t>(value.Items().size());
    case Kind::kDict: return static_cast<int64_t>(value.AsDict().members.size());
    case Kind::kRange: return value.AsRange().size();
    default: return std::nullopt;
  }
}

}  // namespace hone
