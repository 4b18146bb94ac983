#include "text/calls/json_calls.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>

#include <fmt/format.h>

#include "base/strings.h"
#include "text/calls/call_cursor.h"

namespace hone {
namespace {

constexpr std::string_view kNameKeys[] = {"name", "tool_name"};
constexpr std::string_view kArgumentKeys[] = {"arguments", "parameters"};

// The first of the keys that is there; null when none is.
template <size_t kCount>
const Json* FindFirst(const Json& object, const std::string_view (&keys)[kCount],
                      std::string_view* found) {
  for (const std::string_view key : keys) {
    const Json* value = object.Find(key);
    if (value == nullptr) continue;
    *found = key;
    return value;
  }
  return nullptr;
}

// One element, which stands at text[json.begin, json.end) and belongs to `range`.
void AddJsonCall(std::string_view text, const Json& object, ByteRange json, ByteRange range,
                 ParsedTurn* parsed) {
  const auto fault = [&](std::string_view problem) {
    parsed->faults.push_back({FaultKind::kBadCall, fmt::format("the call: {}", problem), range});
  };
  if (!object.is_object()) return fault("an object with \"name\" and \"arguments\" is wanted");
  std::string_view name_key, arguments_key;
  const Json* name = FindFirst(object, kNameKeys, &name_key);
  const Json* arguments = FindFirst(object, kArgumentKeys, &arguments_key);
  if (name == nullptr || !name->is_string() || name->AsString().empty()) {
    return fault("\"name\" must be the name of a tool");
  }
  if (arguments == nullptr || !arguments->is_object()) {
    return fault("\"arguments\" must be an object");
  }
  parsed->calls.push_back({name->AsString(), *arguments, range,
                           JsonMemberRange(text, json.begin, name_key),
                           JsonMemberRange(text, json.begin, arguments_key)});
}

// {"NAME": {arguments}}.
void AddKeyedCall(std::string_view text, const Json& object, ByteRange json, ByteRange range,
                  ParsedTurn* parsed) {
  if (!object.is_object() || object.AsObject().size() != 1 ||
      object.AsObject().begin()->first.empty() || !object.AsObject().begin()->second.is_object()) {
    parsed->faults.push_back(
        {FaultKind::kBadCall, "the call: an object {NAME: {arguments}} is wanted", range});
    return;
  }
  const auto& [name, arguments] = *object.AsObject().begin();
  const size_t quote = text.find('"', json.begin);
  parsed->calls.push_back(
      {name, arguments, range,
       ByteRange{quote + 1, quote + 1 + ParseJsonPrefix(text.substr(quote)).end - 2},
       JsonMemberRange(text, json.begin, name)});
}

// Where the elements of the list stand that begins at text[begin].
std::vector<ByteRange> ElementRanges(std::string_view text, size_t begin, size_t count) {
  std::vector<ByteRange> ranges;
  size_t at = begin + 1;
  for (size_t i = 0; i < count; ++i) {
    at = std::min(text.find_first_not_of(" \t\r\n,", at), text.size());
    const size_t end = at + ParseJsonPrefix(text.substr(at)).end;
    ranges.push_back({at, end});
    at = end;
  }
  return ranges;
}

// What was read between the marks: an object or a list, at text[json], in `whole`.
void AddJsonValue(std::string_view text, const Json& value, size_t json, ByteRange whole,
                  const std::function<void(const Json&, ByteRange, ByteRange)>& add) {
  if (!value.is_array()) return add(value, {json, whole.end}, whole);
  const Json::Array& list = value.AsArray();
  const std::vector<ByteRange> ranges = ElementRanges(text, json, list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    ByteRange range = ranges[i];
    if (i == 0) range.begin = whole.begin;
    if (i + 1 == list.size()) range.end = whole.end;
    add(list[i], ranges[i], range);
  }
}

// Whether an object of a call begins here, or what can become one.
bool BeginsJsonCall(std::string_view text) {
  if (text.empty()) return true;
  if (!text.starts_with('{')) return false;
  const std::string_view inside = TrimLeft(text.substr(1));
  for (const std::string_view key : {"\"name\"", "\"tool_name\"", "\"tool_call_id\"", "\"id\""}) {
    if (inside.starts_with(key) || key.starts_with(inside)) return true;
  }
  const JsonPrefix json = ParseJsonPrefix(text);
  return json.value && json.value->Find("name") != nullptr && json.value->Find("arguments");
}

// Behind an unreadable call: where the closing mark ends.
size_t BehindJson(std::string_view text, size_t at, std::string_view close) {
  const size_t found = close.empty() ? text.npos : text.find(close, at);
  return found == text.npos ? text.size() : found + close.size();
}

}  // namespace

bool BeginsJsonCalls(std::string_view text) {
  return text.starts_with('[') && BeginsJsonCall(TrimLeft(text.substr(1)));
}

size_t ReadJsonCalls(std::string_view text, size_t open, const JsonEnclosure& enclosure,
                     ParsedTurn* parsed) {
  const size_t json =
      std::min(text.find_first_not_of(kBlanks, open + enclosure.open.size()), text.size());
  if (enclosure.declines && json < text.size() && !BeginsJsonCalls(text.substr(json)) &&
      !BeginsJsonCall(text.substr(json))) {
    return open;
  }
  EnclosedJson read;
  if (enclosure.close_may_lack) {
    const JsonPrefix prefix = ParseJsonPrefix(text.substr(json));
    read.value = prefix.value;
    read.end = json + prefix.end;
    read.fault = prefix.cut ? FaultKind::kIncomplete : FaultKind::kBadJson;
    read.problem = "not JSON: " + prefix.problem;
    const size_t next = std::min(text.find_first_not_of(kBlanks, read.end), text.size());
    if (!read.value) {
      read.end = prefix.cut ? text.size() : BehindJson(text, read.end, enclosure.close);
    } else if (const std::string_view rest = text.substr(next); !enclosure.close.empty()) {
      if (rest.starts_with(enclosure.close)) read.end = next + enclosure.close.size();
      if (!rest.empty() && enclosure.close.starts_with(rest)) read.end = text.size();
    }
  } else {
    read = ReadEnclosedJson(text, json, enclosure.close);
  }
  if (!read.value) {
    parsed->faults.push_back(
        {read.fault, fmt::format("{}: {}", enclosure.open, read.problem), {open, read.end}});
    return read.end;
  }
  const ByteRange whole{open, read.end};
  if (read.value->is_array() && read.value->AsArray().empty()) {
    parsed->faults.push_back({FaultKind::kBadCall, "the list of calls is empty", whole});
  }
  const auto add_one = enclosure.keyed ? AddKeyedCall : AddJsonCall;
  AddJsonValue(text, *read.value, json, whole, [&](const Json& one, ByteRange at, ByteRange range) {
    add_one(text, one, at, range, parsed);
  });
  return read.end;
}

}  // namespace hone
