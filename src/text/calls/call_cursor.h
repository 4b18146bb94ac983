#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/turn_text.h"

// What the readers of all call formats do alike: they go over a turn from left to right, and never
// look behind what stands there, so that a turn that is cut off gives the calls that were whole.

namespace hone {

// A place in a turn, and what was read before it. `text` and `parsed` must outlive it.
class CallCursor {
 public:
  CallCursor(std::string_view text, size_t at, ParsedTurn* parsed)
      : text_(text), at_(at), begin_(at), parsed_(*parsed) {}

  size_t at() const { return at_; }
  void MoveTo(size_t at) { at_ = at; }
  bool AtEnd() const { return at_ >= text_.size(); }
  std::string_view text() const { return text_; }
  std::string_view rest() const { return text_.substr(at_); }

  // The call that is being read begins at `begin`: its range and those of its faults do.
  void Begin(size_t begin) { begin_ = begin; }
  size_t begin() const { return begin_; }

  bool Skip(std::string_view mark);
  void SkipBlanks();
  // What stands before the mark; moves behind it. Nothing, and no move, when there is no mark.
  std::optional<std::string_view> Until(std::string_view mark);
  // Whether the text ends here, or inside of the mark.
  bool CutBefore(std::string_view mark) const {
    return rest().size() < mark.size() && mark.starts_with(rest());
  }

  // An object of JSON, and where it stands. A fault when there is none.
  std::optional<Json> Arguments(ByteRange* range);

  // What is wrong with the call, from its beginning to `end`.
  void Fault(FaultKind kind, std::string_view problem, size_t end);
  // The text ends inside of the call: there is no more to read.
  void Cut(std::string_view problem);
  // Something else stands where `wanted` should: the call ends behind the next `close`, or at the
  // text's end. Cut where the text ends before it could tell.
  void Unreadable(std::string_view wanted, std::string_view close);

  void Call(std::string_view name, Json arguments, ByteRange name_range, ByteRange arguments_range);

 private:
  std::string_view text_;
  size_t at_, begin_;
  ParsedTurn& parsed_;
};

// A value that a format writes without quotes: JSON that is no string is that value, all else is
// text, less the line breaks at both ends where there are two.
Json UnquotedValue(std::string_view raw);

// Where the value of a member stands in an object of JSON that begins at text[begin] and can be
// read; of a string, what is between its quotes. Empty when there is no such member.
ByteRange JsonMemberRange(std::string_view text, size_t begin, std::string_view key);

}  // namespace hone
