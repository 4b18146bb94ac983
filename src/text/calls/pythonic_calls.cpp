#include "text/calls/pythonic_calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/strings.h"
#include "text/calls/call_cursor.h"
#include "text/calls/python_literals.h"

namespace hone {
namespace {

// What could be read of one call.
struct PythonCall {
  std::string_view name;
  Json arguments = Json::Object();
  ByteRange arguments_range;
  bool whole = false;
  bool cut = false;
  std::string_view problem;
};

// NAME(key=value, ...), from where the literals stand to behind the bracket.
PythonCall ReadPythonCall(PythonLiterals* literals) {
  PythonCall call;
  const auto stop = [&](bool cut, std::string_view problem) {
    call.cut = cut;
    call.problem = problem;
    return std::move(call);
  };
  call.name = literals->Name();
  if (literals->AtEnd()) return stop(true, "the text ends before its arguments");
  if (call.name.empty()) return stop(false, "it has no name");
  literals->SkipBlanks();
  if (!literals->Skip('(')) return stop(literals->AtEnd(), "( must follow its name");
  call.arguments_range.begin = literals->at();
  bool comma = true;
  while (true) {
    literals->SkipBlanks();
    call.arguments_range.end = literals->at();
    if (literals->AtEnd()) return stop(true, "the text ends inside of its arguments");
    if (literals->Skip(')')) break;
    if (!comma) return stop(false, "a comma or ) must follow an argument");
    const std::string_view key = literals->Name();
    literals->SkipBlanks();
    const bool named = !key.empty() && literals->Skip('=');
    if (!named) return stop(literals->AtEnd(), "arguments must have names");
    std::optional<Json> value = literals->Value();
    if (!value) return stop(literals->cut(), "an argument is no literal");
    call.arguments.Set(Readable(key), *std::move(value));
    literals->SkipBlanks();
    comma = literals->Skip(',');
  }
  call.whole = true;
  return call;
}

size_t BehindMark(std::string_view text, size_t at, std::string_view close) {
  const size_t found = text.find(close, at);
  return found == text.npos ? text.size() : found + close.size();
}

// Reads the calls of a list and returns where it ends: behind its bracket, or where the closing
// mark stands. The cursor has the faults.
class ListReader {
 public:
  ListReader(std::string_view text, const PythonEnclosure& enclosure, CallCursor* cursor)
      : text_(text), close_(enclosure.close), cursor_(*cursor), literals_(text, cursor->at()) {}

  size_t Run(size_t open, ParsedTurn* parsed) {
    literals_.SkipBlanks();
    in_brackets_ = literals_.Skip('[');
    bool first = true;
    while (true) {
      literals_.SkipBlanks();
      cursor_.Begin(first ? open : literals_.at());
      if (literals_.AtEnd()) return Cut("the text ends before the end of the list");
      if (AtClose()) {
        if (first) return Bad("the list of calls is empty");
        return Close(parsed);
      }
      PythonCall call = ReadPythonCall(&literals_);
      if (!call.whole) return call.cut ? Cut(call.problem) : Bad(call.problem);
      const size_t end = literals_.at();
      literals_.SkipBlanks();
      if (literals_.AtEnd()) return Cut("the text ends before the end of the list");
      const bool line = !in_brackets_ &&
                        text_.substr(end, literals_.at() - end).find('\n') < literals_.at() - end;
      const bool followed = AtClose() || literals_.Skip(',') || line;
      if (!followed) {
        const bool cut = close_.starts_with(text_.substr(literals_.at()));
        return cut ? Cut("the text ends before the end of the list")
                   : Bad("a comma or the end of the list must follow a call");
      }
      cursor_.MoveTo(end);
      cursor_.Call(call.name, std::move(call.arguments), RangeIn(text_, call.name),
                   call.arguments_range);
      first = false;
    }
  }

 private:
  bool AtClose() const {
    if (in_brackets_) return text_[literals_.at()] == ']';
    return !close_.empty() && text_.substr(literals_.at()).starts_with(close_);
  }

  // Behind the list; the last call has its end.
  size_t Close(ParsedTurn* parsed) {
    size_t end = literals_.at() + (in_brackets_ ? 1 : 0);
    const size_t mark = std::min(text_.find_first_not_of(kBlanks, end), text_.size());
    const std::string_view rest = text_.substr(mark);
    if (!close_.empty() && rest.starts_with(close_)) end = mark + close_.size();
    if (!rest.empty() && close_.starts_with(rest)) end = text_.size();
    if (!parsed->calls.empty()) parsed->calls.back().range.end = end;
    return end;
  }

  size_t Cut(std::string_view problem) {
    cursor_.Cut(problem);
    return text_.size();
  }

  size_t Bad(std::string_view problem) {
    const std::string_view close = close_.empty() ? std::string_view("]") : close_;
    const size_t end = BehindMark(text_, literals_.at(), close);
    cursor_.Fault(FaultKind::kBadCall, problem, end);
    return end;
  }

  std::string_view text_, close_;
  CallCursor& cursor_;
  PythonLiterals literals_;
  bool in_brackets_ = false;
};

}  // namespace

size_t ReadPythonCalls(std::string_view text, size_t open, const PythonEnclosure& enclosure,
                       ParsedTurn* parsed) {
  CallCursor cursor(text, open, parsed);
  cursor.Skip(enclosure.open);
  return ListReader(text, enclosure, &cursor).Run(open, parsed);
}

bool BeginsPythonCalls(std::string_view text) {
  if (!text.starts_with('[')) return false;
  PythonLiterals literals(text, 1);
  literals.SkipBlanks();
  const std::string_view name = literals.Name();
  literals.SkipBlanks();
  if (literals.AtEnd()) return true;
  const bool is_name = !name.empty() && (name[0] < '0' || name[0] > '9') && name[0] != '.';
  return is_name && literals.Skip('(');
}

bool ReadBuiltInCall(std::string_view text, size_t open, size_t at, ParsedTurn* parsed) {
  constexpr std::string_view kCall = ".call";
  PythonLiterals literals(text, at);
  PythonCall call = ReadPythonCall(&literals);
  CallCursor cursor(text, literals.at(), parsed);
  cursor.Begin(open);
  if (!call.name.ends_with(kCall)) {
    // The name may be cut off.
    if (!literals.AtEnd() || call.name.empty()) return false;
    return cursor.Cut(call.problem), true;
  }
  if (call.cut) return cursor.Cut(call.problem), true;
  if (!call.whole) return false;
  call.name.remove_suffix(kCall.size());
  cursor.Call(call.name, std::move(call.arguments), RangeIn(text, call.name), call.arguments_range);
  return true;
}

}  // namespace hone
