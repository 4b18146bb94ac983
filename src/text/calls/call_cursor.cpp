#include "text/calls/call_cursor.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace hone {

bool CallCursor::Skip(std::string_view mark) {
  if (!rest().starts_with(mark)) return false;
  at_ += mark.size();
  return true;
}

void CallCursor::SkipBlanks() {
  at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
}

std::optional<std::string_view> CallCursor::Until(std::string_view mark) {
  const size_t found = text_.find(mark, at_);
  if (found == text_.npos) return std::nullopt;
  const std::string_view before = text_.substr(at_, found - at_);
  at_ = found + mark.size();
  return before;
}

std::optional<Json> CallCursor::Arguments(ByteRange* range) {
  SkipBlanks();
  JsonPrefix json = ParseJsonPrefix(rest());
  if (!json.value) {
    Fault(json.cut ? FaultKind::kIncomplete : FaultKind::kBadJson,
          "the arguments are not JSON: " + json.problem, json.cut ? text_.size() : at_ + json.end);
    if (json.cut) at_ = text_.size();
    return std::nullopt;
  }
  *range = {at_, at_ + json.end};
  at_ += json.end;
  if (!json.value->is_object()) {
    Fault(FaultKind::kBadCall, "the arguments must be an object", at_);
    return std::nullopt;
  }
  return std::move(json.value);
}

void CallCursor::Fault(FaultKind kind, std::string_view problem, size_t end) {
  parsed_.faults.push_back({kind, "the call: " + std::string(problem), {begin_, end}});
}

void CallCursor::Cut(std::string_view problem) {
  Fault(FaultKind::kIncomplete, problem, text_.size());
  at_ = text_.size();
}

void CallCursor::Unreadable(std::string_view wanted, std::string_view close) {
  if (CutBefore(wanted) || CutBefore(close)) {
    return Cut("the text ends before " + std::string(CutBefore(close) ? close : wanted));
  }
  if (!Until(close)) at_ = text_.size();
  Fault(FaultKind::kBadCall, std::string(wanted) + " is wanted", at_);
}

void CallCursor::Call(std::string_view name, Json arguments, ByteRange name_range,
                      ByteRange arguments_range) {
  if (Trim(name).empty()) return Fault(FaultKind::kBadCall, "it has no name", at_);
  // Another format may have the same marks around other things.
  if (name.find_first_of("{}\"<>\n") != name.npos) {
    return Fault(FaultKind::kBadCall, "its name is no name of a tool", at_);
  }
  parsed_.calls.push_back(
      {Readable(name), std::move(arguments), {begin_, at_}, name_range, arguments_range});
}

Json UnquotedValue(std::string_view raw) {
  if (raw.size() > 1 && raw.front() == '\n' && raw.back() == '\n') {
    raw = raw.substr(1, raw.size() - 2);
  }
  Result<Json> json = ParseJson(Trim(raw));
  return json.ok() && !json->is_string() ? *std::move(json) : Json(Readable(raw));
}

ByteRange JsonMemberRange(std::string_view text, size_t begin, std::string_view key) {
  size_t at = begin + 1;
  const auto skip = [&](std::string_view marks) {
    at = std::min(text.find_first_not_of(marks, at), text.size());
  };
  while (true) {
    skip(" \t\r\n,");
    const JsonPrefix name = ParseJsonPrefix(text.substr(at));
    if (!name.value || !name.value->is_string()) return {};
    at += name.end;
    skip(" \t\r\n:");
    const JsonPrefix value = ParseJsonPrefix(text.substr(at));
    if (!value.value) return {};
    const ByteRange range{at, at + value.end};
    if (name.value->AsString() == key) {
      return value.value->is_string() ? ByteRange{range.begin + 1, range.end - 1} : range;
    }
    at = range.end;
  }
}

}  // namespace hone
