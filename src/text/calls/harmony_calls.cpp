#include "text/calls/harmony_calls.h"

#include <algorithm>
#include <string>

#include "base/strings.h"
#include "text/calls/call_cursor.h"

namespace hone {
namespace {

constexpr std::string_view kStart = "<|start|>", kChannel = "<|channel|>", kMessage = "<|message|>",
                           kConstrain = "<|constrain|>", kEnd = "<|end|>", kCalled = "<|call|>",
                           kReturn = "<|return|>", kTo = "to=", kFunctions = "functions.";

constexpr std::string_view kEndMarks[] = {kEnd, kCalled, kReturn, kStart};

// What stands before <|message|>.
struct HarmonyHeader {
  std::string_view channel, recipient;
};

// A word up to a blank or a mark.
std::string_view WordAt(std::string_view text, size_t at) {
  return text.substr(at, std::min(text.find_first_of(" \t\r\n<", at), text.size()) - at);
}

HarmonyHeader HeaderOf(std::string_view header) {
  HarmonyHeader read;
  const size_t channel = header.find(kChannel);
  if (channel != header.npos) read.channel = WordAt(header, channel + kChannel.size());
  for (size_t to = header.find(kTo); to != header.npos; to = header.find(kTo, to + 1)) {
    const bool begins = to == 0 || header[to - 1] == ' ' || header[to - 1] == '>';
    if (!begins) continue;
    read.recipient = WordAt(header, to + kTo.size());
    if (read.recipient.starts_with(kFunctions)) read.recipient.remove_prefix(kFunctions.size());
    break;
  }
  return read;
}

// Where a header begins: with a mark, or with "to=" at the beginning of the turn.
bool BeginsHeader(std::string_view text) {
  const std::string_view begun = TrimLeft(text);
  for (const std::string_view mark : {kStart, kChannel, kTo, kMessage, kConstrain}) {
    if (begun.starts_with(mark)) return true;
    if (!begun.empty() && mark.starts_with(begun)) return true;
  }
  return false;
}

// Where a message ends, and how long the mark is that ends it.
ByteRange EndOfMessage(std::string_view text, size_t at) {
  // One walk for all marks, which begin alike: texts of many messages are read in one go.
  for (at = text.find("<|", at); at != text.npos; at = text.find("<|", at + 1)) {
    for (const std::string_view mark : kEndMarks) {
      // <|start|> begins the next one.
      if (text.substr(at).starts_with(mark)) return {at, at + (mark == kStart ? 0 : mark.size())};
    }
  }
  return {text.size(), text.size()};
}

// The message that stands in `body` and ends with `end` is for a tool.
void ReadHarmonyCall(std::string_view recipient, ByteRange body, ByteRange end,
                     CallCursor* cursor) {
  const std::string_view text = cursor->text(), said = text.substr(0, body.end);
  const bool closed = end.begin < text.size();
  const size_t begin = std::min(said.find_first_not_of(kBlanks, body.begin), said.size());
  JsonPrefix json = ParseJsonPrefix(said.substr(begin));
  cursor->MoveTo(end.end);
  if (!json.value) {
    return cursor->Fault(json.cut && !closed ? FaultKind::kIncomplete : FaultKind::kBadJson,
                         "the arguments are not JSON: " + json.problem, end.end);
  }
  const std::string_view behind = Trim(said.substr(begin + json.end));
  // The text may end inside of the mark that ends the message.
  const bool cut = !closed && std::any_of(std::begin(kEndMarks), std::end(kEndMarks),
                                          [&](auto mark) { return mark.starts_with(behind); });
  if (!behind.empty() && !cut) {
    return cursor->Fault(FaultKind::kBadJson, "text behind the arguments", end.end);
  }
  if (!json.value->is_object()) {
    return cursor->Fault(FaultKind::kBadCall, "the arguments must be an object", end.end);
  }
  cursor->MoveTo(begin + json.end);  // the mark behind it ends the turn
  cursor->Call(recipient, *std::move(json.value), RangeIn(text, recipient),
               {begin, begin + json.end});
  cursor->MoveTo(end.end);
}

}  // namespace

void ReadHarmony(std::string_view text, ParsedTurn* parsed) {
  CallCursor cursor(text, 0, parsed);
  std::string content;
  const auto add_thought = [&](std::string_view thought) {
    const std::string words = Readable(Trim(thought));
    if (!parsed->reasoning.empty() && !words.empty()) parsed->reasoning += "\n";
    parsed->reasoning += words;
  };
  while (!cursor.AtEnd()) {
    const size_t begin = cursor.at();
    cursor.Begin(begin);
    if (!BeginsHeader(cursor.rest())) {
      const ByteRange end = EndOfMessage(text, begin);
      content += text.substr(begin, end.begin - begin);
      cursor.MoveTo(end.end);
      continue;
    }
    // A header ends with its message's mark; where another message ends or begins first, it is
    // none.
    const size_t inside = begin + (cursor.rest().starts_with(kStart) ? kStart.size() : 0);
    if (const ByteRange end = EndOfMessage(text, inside);
        end.begin < text.find(kMessage, begin) && end.begin < text.size()) {
      cursor.MoveTo(std::max(end.end, inside));
      cursor.Fault(FaultKind::kBadCall, "a header without <|message|>", cursor.at());
      continue;
    }
    const std::optional<std::string_view> header = cursor.Until(kMessage);
    if (!header) {
      cursor.Cut("the text ends before <|message|>");
      break;
    }
    const HarmonyHeader read = HeaderOf(*header);
    const ByteRange end = EndOfMessage(text, cursor.at());
    const ByteRange body{cursor.at(), end.begin};
    const std::string_view said = text.substr(body.begin, body.end - body.begin);
    if (!read.recipient.empty()) {
      ReadHarmonyCall(read.recipient, body, end, &cursor);
      continue;
    }
    cursor.MoveTo(end.end);
    if (read.channel == "analysis") {
      add_thought(said);
      parsed->thoughts.push_back({begin, end.end});
      if (end.begin == text.size()) cursor.Cut("the thought is not closed with <|end|>");
    } else {
      content += said;
    }
  }
  const bool acts = !parsed->calls.empty() || !parsed->faults.empty();
  parsed->content = Readable(acts ? Trim(content) : std::string_view(content));
}

}  // namespace hone
