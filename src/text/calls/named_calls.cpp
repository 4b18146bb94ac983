#include "text/calls/named_calls.h"

#include <algorithm>
#include <string>

#include "base/strings.h"
#include "text/calls/call_cursor.h"
#include "text/calls/json_calls.h"

namespace hone {
namespace {

constexpr std::string_view kMistralOpen = "[TOOL_CALLS]", kMistralId = "[CALL_ID]",
                           kMistralArguments = "[ARGS]";
constexpr std::string_view kFunctionTag = "<function=", kFunctionTagClose = "</function>";
constexpr std::string_view kFunctionarySpeaker = ">>>", kFunctionaryAll = "all";
constexpr std::string_view kFence = "```", kJsonFence = "```json";

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '/' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
}

// What is a name from its first to its last character.
bool IsName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsNameCharacter);
}

ByteRange TrimmedRange(std::string_view text, std::string_view part) {
  const std::string_view trimmed = Trim(part);
  return trimmed.empty() ? RangeIn(text, part) : RangeIn(text, trimmed);
}

std::string_view At(std::string_view text, ByteRange range) {
  return text.substr(range.begin, range.end - range.begin);
}

// functions.NAME:0 without what stands around the name.
ByteRange WithoutNumber(std::string_view text, ByteRange id) {
  constexpr std::string_view kPrefix = "functions.";
  if (At(text, id).starts_with(kPrefix)) id.begin += kPrefix.size();
  const size_t colon = At(text, id).rfind(':');
  if (colon == std::string_view::npos) return id;
  const std::string_view number = At(text, id).substr(colon + 1);
  const bool is_number = !number.empty() && number.find_first_not_of("0123456789") == number.npos;
  if (is_number) id.end = id.begin + colon;
  return id;
}

// The JSON behind a name, and the mark that closes the call.
void ReadArgumentsUpTo(std::string_view close, ByteRange name, CallCursor* cursor) {
  ByteRange range;
  const bool fenced = cursor->Skip(kJsonFence);
  if (!fenced && cursor->CutBefore(kJsonFence)) return cursor->Cut("it has no arguments");
  std::optional<Json> arguments = cursor->Arguments(&range);
  if (!arguments) {
    // Go on behind the call, where it ends.
    if (!cursor->Until(close)) cursor->MoveTo(cursor->text().size());
    return;
  }
  cursor->SkipBlanks();
  if (fenced && !cursor->Skip(kFence)) return cursor->Unreadable(kFence, close);
  cursor->SkipBlanks();
  if (!cursor->Skip(close)) return cursor->Unreadable(close, close);
  cursor->Call(At(cursor->text(), name), *std::move(arguments), name, range);
}

// From behind the mark that opens a call.
void ReadNamedCallIn(const NamedSection& section, CallCursor* cursor) {
  const size_t limit = cursor->text().find(section.call_close, cursor->at());
  if (!section.id_separator.empty() && !cursor->Until(section.id_separator)) {
    return cursor->Cut("the text ends before its name");
  }
  const std::optional<std::string_view> before = cursor->Until(section.separator);
  if (!before || cursor->at() > limit) {
    // Another call may follow.
    cursor->MoveTo(limit == std::string_view::npos ? cursor->text().size()
                                                   : limit + section.call_close.size());
    const bool cut = limit == std::string_view::npos;
    return cursor->Fault(cut ? FaultKind::kIncomplete : FaultKind::kBadCall,
                         std::string(section.separator) + " must follow its name", cursor->at());
  }
  ByteRange name = TrimmedRange(cursor->text(), *before);
  if (section.numbered) name = WithoutNumber(cursor->text(), name);
  cursor->SkipBlanks();
  // The older form says what kind of call it is first, and the name on a line of its own.
  if (section.fenced && !cursor->AtEnd() && !cursor->rest().starts_with('{')) {
    const std::optional<std::string_view> line = cursor->Until("\n");
    if (!line) return cursor->Cut("the text ends before its arguments");
    name = TrimmedRange(cursor->text(), *line);
    if (name.begin < name.end && !IsName(At(cursor->text(), name))) {
      cursor->Until(section.call_close);
      return cursor->Fault(FaultKind::kBadCall, "its name is no name", cursor->at());
    }
  }
  ReadArgumentsUpTo(section.call_close, name, cursor);
}

}  // namespace

size_t ReadMistralCall(std::string_view text, size_t open, ParsedTurn* parsed) {
  CallCursor cursor(text, open, parsed);
  cursor.Skip(kMistralOpen);
  cursor.SkipBlanks();
  if (cursor.AtEnd()) return cursor.Cut("it has not begun"), text.size();
  if (cursor.rest().starts_with('[') || cursor.rest().starts_with('{')) {
    return ReadJsonCalls(text, open, {.open = kMistralOpen, .close_may_lack = true}, parsed);
  }
  const size_t begin = cursor.at();
  while (!cursor.AtEnd() && IsNameCharacter(text[cursor.at()])) cursor.MoveTo(cursor.at() + 1);
  const ByteRange name{begin, cursor.at()};
  if (cursor.Skip(kMistralId)) {
    while (!cursor.AtEnd() && IsNameCharacter(text[cursor.at()])) cursor.MoveTo(cursor.at() + 1);
  } else if (!cursor.AtEnd() && cursor.CutBefore(kMistralId)) {
    return cursor.Cut("the text ends before its arguments"), text.size();
  }
  cursor.SkipBlanks();
  // Some write the arguments right behind the name.
  if (!cursor.Skip(kMistralArguments) && !cursor.rest().starts_with('{')) {
    if (cursor.CutBefore(kMistralArguments)) {
      return cursor.Cut("the text ends before its arguments"), text.size();
    }
    cursor.MoveTo(std::min(text.find(kMistralOpen, cursor.at()), text.size()));
    cursor.Fault(FaultKind::kBadCall, "[ARGS] must follow its name", cursor.at());
    return cursor.at();
  }
  ByteRange range;
  std::optional<Json> arguments = cursor.Arguments(&range);
  if (arguments) {
    cursor.Call(At(text, name), *std::move(arguments), name, range);
  } else {
    cursor.MoveTo(std::min(text.find(kMistralOpen, cursor.at()), text.size()));
  }
  return cursor.at();
}

size_t ReadNamedSection(const NamedSection& section, std::string_view text, size_t open,
                        ParsedTurn* parsed) {
  CallCursor cursor(text, open, parsed);
  const bool in_section = cursor.Skip(section.open);
  const size_t calls = parsed->calls.size(), faults = parsed->faults.size();
  while (true) {
    cursor.SkipBlanks();
    const size_t here = cursor.at();
    const bool first = parsed->calls.size() == calls && parsed->faults.size() == faults;
    cursor.Begin(first ? open : here);
    if (cursor.Skip(section.call_open)) {
      ReadNamedCallIn(section, &cursor);
      if (!in_section) return cursor.at();
    } else if (cursor.Skip(section.close)) {
      if (first) cursor.Fault(FaultKind::kBadCall, "the section is empty", cursor.at());
      if (parsed->calls.size() > calls) parsed->calls.back().range.end = cursor.at();
      return cursor.at();
    } else if (cursor.AtEnd() && !first) {
      return cursor.at();  // its end is missing, no call is
    } else {
      cursor.Unreadable(section.call_open, section.close);
      return cursor.at();
    }
  }
}

size_t ReadFunctionTag(std::string_view text, size_t open, ParsedTurn* parsed) {
  CallCursor cursor(text, open, parsed);
  cursor.Skip(kFunctionTag);
  const std::optional<std::string_view> name = cursor.Until(">");
  if (!name) return cursor.Cut("its name is not closed with >"), text.size();
  ReadArgumentsUpTo(kFunctionTagClose, RangeIn(text, *name), &cursor);
  return cursor.at();
}

bool BeginsFunctionary(std::string_view text) {
  if (text.starts_with(kFunctionarySpeaker)) text.remove_prefix(kFunctionarySpeaker.size());
  const size_t line = text.find('\n');
  const std::string_view speaker = text.substr(0, line);
  if (line == text.npos) return IsName(speaker);
  if (speaker == kFunctionaryAll) return true;
  const std::string_view behind = TrimLeft(text.substr(line));
  return IsName(speaker) && (behind.empty() || behind.starts_with('{'));
}

void ReadFunctionary(std::string_view text, size_t from, ParsedTurn* parsed) {
  CallCursor cursor(text, from, parsed);
  std::string content;
  while (!cursor.AtEnd()) {
    cursor.Begin(cursor.at());
    cursor.Skip(kFunctionarySpeaker);
    const std::optional<std::string_view> speaker = cursor.Until("\n");
    if (!speaker) {
      cursor.Cut("the text ends before its arguments");
      break;
    }
    const size_t next = std::min(text.find(kFunctionarySpeaker, cursor.at()), text.size());
    if (*speaker == kFunctionaryAll) {
      content += text.substr(cursor.at(), next - cursor.at());
      cursor.MoveTo(next);
      continue;
    }
    ByteRange range;
    std::optional<Json> arguments = cursor.Arguments(&range);
    if (arguments) {
      cursor.Call(*speaker, *std::move(arguments), RangeIn(text, *speaker), range);
      cursor.SkipBlanks();
    }
    if (!cursor.AtEnd() && (!arguments || !cursor.rest().starts_with(kFunctionarySpeaker))) {
      const size_t behind = std::min(text.find(kFunctionarySpeaker, cursor.at()), text.size());
      if (arguments && !cursor.CutBefore(kFunctionarySpeaker)) {
        parsed->faults.push_back(
            {FaultKind::kUnexpectedText, "text behind the call", {cursor.at(), behind}});
      }
      cursor.MoveTo(behind);
    }
  }
  parsed->content = Readable(content);
}

}  // namespace hone
