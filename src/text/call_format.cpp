#include "text/call_format.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"
#include "text/calls/call_spellings.h"
#include "text/calls/harmony_calls.h"
#include "text/calls/named_calls.h"
#include "text/calls/pythonic_calls.h"
#include "text/function_xml.h"
#include "text/hermes.h"
#include "text/turn_text.h"

namespace hone {
namespace {

constexpr std::string_view kPythonTag = "<|python_tag|>", kNoneName = "none";

void AddFault(FaultKind kind, std::string_view message, ByteRange range, ParsedTurn* parsed) {
  parsed->faults.push_back({kind, std::string(message), range});
}

// One {"name", "parameters"} at text[at]. False when it is none; *next is where to go on.
bool ReadLlama3Call(std::string_view text, size_t at, size_t* next, ParsedTurn* parsed) {
  const JsonPrefix json = ParseJsonPrefix(text.substr(at));
  *next = text.size();
  if (!json.value) {
    AddFault(json.cut ? FaultKind::kIncomplete : FaultKind::kBadJson,
             "the call is not JSON: " + json.problem, {at, text.size()}, parsed);
    return false;
  }
  const ByteRange range{at, at + json.end};
  *next = range.end;
  const Json* name = json.value->Find("name");
  const Json* arguments = json.value->Find("parameters");
  if (arguments == nullptr) arguments = json.value->Find("arguments");
  if (name == nullptr || !name->is_string() || name->AsString().empty()) {
    AddFault(FaultKind::kBadCall, "\"name\" must be the name of a tool", range, parsed);
    return false;
  }
  if (arguments == nullptr || !arguments->is_object()) {
    AddFault(FaultKind::kBadCall, "\"parameters\" must be an object", range, parsed);
    return false;
  }
  parsed->calls.push_back({name->AsString(), *arguments, range});
  return true;
}

// JSON is a call when it says so: an object that begins with a name. Other JSON is an answer.
bool BeginsCall(std::string_view text) {
  if (!text.starts_with('{')) return false;
  const JsonPrefix json = ParseJsonPrefix(text);
  if (json.value) return json.value->Find("name") != nullptr;
  const std::string_view inside = TrimLeft(text.substr(1));
  constexpr std::string_view kKey = "\"name\"";
  return inside.starts_with(kKey) || (json.cut && kKey.starts_with(inside));
}

// Takes the thought off the beginning and returns where the rest begins.
size_t ReadThought(CallFormat format, std::string_view text, ParsedTurn* parsed) {
  const std::string_view begun = TrimLeft(text);
  const bool opened = begun.starts_with(kThinkOpen);
  const size_t begin = opened ? RangeIn(text, begun).begin + kThinkOpen.size() : 0;
  const size_t close = text.find(kThinkClose, begin);
  if (close == text.npos) {
    if (!opened) return 0;
    parsed->reasoning = Readable(Trim(text.substr(begin)));
    parsed->thoughts.push_back({begin - kThinkOpen.size(), text.size()});
    AddFault(FaultKind::kIncomplete, "the thought is not closed with </think>",
             {begin - kThinkOpen.size(), text.size()}, parsed);
    return text.size();
  }
  // Without its opening it is no thought where it stands in what a call says.
  if (!opened && format == CallFormat::kLlama3 &&
      (begun.starts_with(kPythonTag) || BeginsCall(begun))) {
    return 0;
  }
  parsed->reasoning = Readable(Trim(text.substr(begin, close - begin)));
  parsed->thoughts.push_back({opened ? begin - kThinkOpen.size() : 0, close + kThinkClose.size()});
  return std::min(text.find_first_not_of('\n', close + kThinkClose.size()), text.size());
}

void ReadLlama3(std::string_view text, size_t from, ParsedTurn* parsed) {
  const std::string_view begun = TrimLeft(text.substr(from));
  const bool tagged = begun.starts_with(kPythonTag);
  size_t at = RangeIn(text, begun).begin + (tagged ? kPythonTag.size() : 0);
  if (!tagged && !BeginsCall(begun)) {
    parsed->content = Readable(text.substr(from));
    return;
  }
  bool more = true;
  while (more) {
    if (!ReadLlama3Call(text, at, &at, parsed)) break;
    // Several stand behind each other with semicolons or line breaks between them.
    const size_t next = text.find_first_not_of(" \t\r\n;", at);
    more = next != text.npos;
    if (!more) break;
    if (!BeginsCall(text.substr(next))) {
      AddFault(FaultKind::kUnexpectedText, "text behind the call", {next, text.size()}, parsed);
      break;
    }
    at = next;
  }
}

// As Llama 3's, and its built-in tools behind the tag.
void ReadLlama3Tag(std::string_view text, size_t from, ParsedTurn* parsed) {
  const std::string_view begun = TrimLeft(text.substr(from));
  if (begun.starts_with(kPythonTag)) {
    const size_t open = RangeIn(text, begun).begin;
    const size_t at =
        std::min(text.find_first_not_of(kBlanks, open + kPythonTag.size()), text.size());
    if (at < text.size() && text[at] != '{' && ReadBuiltInCall(text, open, at, parsed)) return;
  }
  ReadLlama3(text, from, parsed);
}

// Where the first of the marks stands; npos when none does.
size_t FirstMark(std::string_view text, const std::vector<std::string_view>& marks, size_t from) {
  size_t first = text.npos;
  for (const std::string_view mark : marks) first = std::min(first, text.find(mark, from));
  return first;
}

// Takes the thought off the beginning and returns where the rest begins. Without its opening, which
// may stand in the prompt, it is a thought only before all calls.
size_t ReadSpelledThought(const CallSpelling& spelling, std::string_view text, ParsedTurn* parsed) {
  const std::string_view begun = TrimLeft(text);
  for (const auto& [open, close] : spelling.thoughts) {
    const bool opened = begun.starts_with(open);
    const size_t begin = opened ? RangeIn(text, begun).begin + open.size() : 0;
    const size_t end = text.find(close, begin);
    if (opened && end == text.npos) {
      parsed->reasoning = Readable(Trim(text.substr(begin)));
      parsed->thoughts.push_back({begin - open.size(), text.size()});
      AddFault(FaultKind::kIncomplete, fmt::format("the thought is not closed with {}", close),
               {begin - open.size(), text.size()}, parsed);
      return text.size();
    }
    if (end == text.npos) continue;
    const bool calls_before = FirstMark(text.substr(0, end), spelling.opens, 0) != text.npos ||
                              (spelling.begins != nullptr && spelling.begins(begun));
    if (!opened && calls_before) continue;
    parsed->reasoning = Readable(Trim(text.substr(begin, end - begin)));
    parsed->thoughts.push_back({opened ? begin - open.size() : 0, end + close.size()});
    return std::min(text.find_first_not_of('\n', end + close.size()), text.size());
  }
  return 0;
}

// Text less the marks that say nothing.
std::string WithoutSilent(const CallSpelling& spelling, std::string_view text) {
  std::string rest(text);
  for (const std::string_view mark : spelling.silent) {
    for (size_t at = rest.find(mark); at != rest.npos; at = rest.find(mark, at)) {
      rest.erase(at, mark.size());
    }
  }
  return rest;
}

// A format of the table: text, and calls wherever one of their marks stands.
void ReadSpelled(const CallSpelling& spelling, std::string_view text, size_t from,
                 ParsedTurn* parsed) {
  const std::string_view begun = TrimLeft(text.substr(from));
  if (spelling.begins != nullptr && spelling.begins(begun)) {
    const size_t end = spelling.read(text, RangeIn(text, begun).begin, parsed);
    if (const std::string_view rest = Trim(text.substr(end)); !rest.empty()) {
      AddFault(FaultKind::kUnexpectedText, "text behind the calls", RangeIn(text, rest), parsed);
    }
    return;
  }
  std::string content;
  for (size_t at = from, search = from; at < text.size();) {
    const size_t open = std::min(FirstMark(text, spelling.opens, search), text.size());
    const size_t next = open < text.size() ? spelling.read(text, open, parsed) : open;
    if (next == open && open < text.size()) {  // it is text
      search = open + 1;
      continue;
    }
    const std::string_view before = text.substr(at, open - at);
    if (!Trim(before).empty()) content += WithoutSilent(spelling, before);
    at = search = next;
    if (open == text.size()) break;
  }
  const bool acts = !parsed->calls.empty() || !parsed->faults.empty();
  parsed->content = Readable(acts ? Trim(content) : std::string_view(content));
}

// The marks that a text may have been cut off in: those that are no words.
std::vector<std::string_view> CutMarks(CallFormat format, const std::vector<std::string>& stops) {
  std::vector<std::string_view> marks(stops.begin(), stops.end());
  if (format == CallFormat::kLlama3) marks.push_back(kPythonTag);
  if (format == CallFormat::kQwenXml) marks.push_back("<tool_call>");
  const CallSpelling* spelling = FindSpelling(format);
  if (spelling == nullptr || format == CallFormat::kLlama3 || format == CallFormat::kQwenXml) {
    return marks;
  }
  for (const auto* list : {&spelling->opens, &spelling->silent}) {
    for (const std::string_view mark : *list) {
      if (mark[0] == '<' || mark[0] == '[' || mark[0] == ']') marks.push_back(mark);
    }
  }
  return marks;
}

void ReadBody(CallFormat format, std::string_view text, ParsedTurn* parsed) {
  const CallSpelling* spelling = FindSpelling(format);
  if (format == CallFormat::kQwenXml) return ReadFunctionXml(text, parsed);
  if (format == CallFormat::kHarmony) return ReadHarmony(text, parsed);
  const bool llama = format == CallFormat::kLlama3 || format == CallFormat::kLlama3Tag;
  if (spelling == nullptr || llama) {
    const size_t from = ReadThought(llama ? CallFormat::kLlama3 : format, text, parsed);
    if (from == text.size() || !llama) {
      parsed->content = Readable(text.substr(from));
    } else if (format == CallFormat::kLlama3Tag) {
      ReadLlama3Tag(text, from, parsed);
    } else {
      ReadLlama3(text, from, parsed);
    }
    return;
  }
  const size_t from = ReadSpelledThought(*spelling, text, parsed);
  if (format != CallFormat::kFunctionary) return ReadSpelled(*spelling, text, from, parsed);
  if (BeginsFunctionary(text.substr(from))) return ReadFunctionary(text, from, parsed);
  parsed->content = Readable(text.substr(from));
}

// Whether a mark of the format stands in the text. Cheap.
bool MayHaveCall(const CallSpelling& spelling, std::string_view text) {
  const std::string_view begun = TrimLeft(text);
  return (begun.starts_with('{') && spelling.format == CallFormat::kLlama3) ||
         FirstMark(text, spelling.opens, 0) != text.npos ||
         (spelling.begins != nullptr && spelling.begins(begun));
}

bool IsNamedLikeATool(const ParsedCall& call) {
  return call.name.find_first_of("{}[]()<>\"' \t\n:,") == call.name.npos;
}

ParsedTurn ParseHermes(std::string_view turn, const TurnText& body, TurnEnd end) {
  static constexpr HermesVariant kVariant = HermesVariant::kQwen25;
  // Its own end markers are gone already, or are not what ends a turn of this model.
  ParsedTurn parsed = NewHermes(kVariant)->Parse(body.text, body.ended ? TurnEnd::kEnded : end);
  AddTrailingFault(turn, body, &parsed);
  return parsed;
}

}  // namespace

std::optional<CallFormat> CallFormatOf(std::string_view name) {
  if (name == kNoneName) return CallFormat::kNone;
  for (const CallSpelling& spelling : CallSpellings()) {
    if (spelling.name == name) return spelling.format;
  }
  return std::nullopt;
}

std::string_view CallFormatName(CallFormat format) {
  const CallSpelling* spelling = FindSpelling(format);
  return spelling == nullptr ? kNoneName : spelling->name;
}

std::vector<std::string> CallFormatNames() {
  std::vector<std::string> names;
  for (const CallSpelling& spelling : CallSpellings()) names.emplace_back(spelling.name);
  names.emplace_back(kNoneName);
  return names;
}

CallFormat GuessCallFormat(std::string_view source) {
  const auto says = [&](std::string_view text) { return source.find(text) != source.npos; };
  for (const CallSpelling& spelling : CallSpellings()) {
    for (const auto& signature : spelling.signatures) {
      if (std::all_of(signature.begin(), signature.end(), says)) return spelling.format;
    }
  }
  return CallFormat::kNone;
}

std::optional<CallFormat> CallFormatReading(std::string_view turn, const MessageCall& call,
                                            const std::vector<std::string>& stops) {
  const auto reads = [&](CallFormat format, bool alone) {
    const ParsedTurn parsed = ParseTurnIn(format, turn, stops, TurnEnd::kEnded);
    return parsed.faults.empty() && parsed.calls.size() == 1 && parsed.calls[0].name == call.name &&
           parsed.calls[0].arguments == call.arguments && !(alone && !Trim(parsed.content).empty());
  };
  // A format that leaves no text over fits better, and some read what these first ones write.
  for (const bool alone : {true, false}) {
    for (const CallFormat format :
         {CallFormat::kHermes, CallFormat::kQwenXml, CallFormat::kLlama3}) {
      if (reads(format, alone)) return format;
    }
    for (const CallSpelling& spelling : CallSpellings()) {
      if (reads(spelling.format, alone)) return spelling.format;
    }
  }
  // Some templates write texts without their quotes.
  const bool pythonic = Trim(turn).starts_with("[" + call.name + "(");
  return pythonic ? std::optional(CallFormat::kPythonic) : std::nullopt;
}

TurnMarks MarksOf(CallFormat format, std::string_view source) {
  TurnMarks marks;
  marks.think_open = kThinkOpen;
  marks.think_close = kThinkClose;
  const CallSpelling* spelling = FindSpelling(format);
  if (spelling == nullptr) return marks;
  ThoughtMarks thought = spelling->thoughts.empty() ? ThoughtMarks() : spelling->thoughts[0];
  for (const ThoughtMarks& known : spelling->thoughts) {
    if (source.find(known.close) == source.npos) continue;
    thought = known;
    break;
  }
  marks.think_open = thought.open;
  marks.think_close = thought.close;
  marks.call_opens.assign(spelling->opens.begin(), spelling->opens.end());
  marks.call_closes.assign(spelling->closes.begin(), spelling->closes.end());
  marks.json_arguments = spelling->json_arguments;
  marks.json_calls = format == CallFormat::kLlama3 || format == CallFormat::kLlama3Tag;
  marks.bare_calls =
      spelling->begins != nullptr || marks.json_calls || format == CallFormat::kFunctionary;
  if (marks.json_calls) marks.bare_first = "{";
  if (spelling->begins != nullptr) marks.bare_first = "[";
  marks.whole_only = spelling->begins != nullptr || !spelling->silent.empty() ||
                     format == CallFormat::kHarmony || format == CallFormat::kFunctionary;
  return marks;
}

ParsedTurn ParseTurnIn(CallFormat format, std::string_view turn,
                       const std::vector<std::string>& stops, TurnEnd end) {
  const TurnText body = WithoutEndMarkers(turn, stops, end);
  if (format == CallFormat::kHermes) return ParseHermes(turn, body, end);
  ParsedTurn parsed;
  ReadBody(format, body.text, &parsed);
  AddTrailingFault(turn, body, &parsed);
  AddCutFault(body, end, CutMarks(format, stops), &parsed);
  if (!parsed.calls.empty() || !parsed.faults.empty()) return parsed;
  if (Trim(parsed.content).empty()) {
    parsed.faults.push_back({FaultKind::kNoAction, "the turn is empty", {0, turn.size()}});
  } else {
    parsed.answer = parsed.content;
  }
  return parsed;
}

std::optional<UnreadCall> FindUnreadCall(std::string_view answer) {
  for (const CallSpelling& spelling : CallSpellings()) {
    if (!MayHaveCall(spelling, answer)) continue;
    const ParsedTurn parsed = ParseTurnIn(spelling.format, answer, {}, TurnEnd::kEnded);
    if (!parsed.calls.empty()) return UnreadCall{parsed.calls[0].name, spelling.format};
  }
  return std::nullopt;
}

std::optional<UnreadCall> FindUnreadCallInFaulty(std::string_view turn) {
  for (const CallSpelling& spelling : CallSpellings()) {
    // It forgives what others call a fault, so it would be named for every slip.
    if (spelling.format == CallFormat::kGranite || !MayHaveCall(spelling, turn)) continue;
    const ParsedTurn parsed = ParseTurnIn(spelling.format, turn, {}, TurnEnd::kEnded);
    const bool whole = parsed.faults.empty() && !parsed.calls.empty();
    if (whole && std::all_of(parsed.calls.begin(), parsed.calls.end(), IsNamedLikeATool)) {
      return UnreadCall{parsed.calls[0].name, spelling.format};
    }
  }
  return std::nullopt;
}

std::string NoteOn(const UnreadCall& call) {
  const CallSpelling& spelling = *FindSpelling(call.format);
  return fmt::format(
      "this looks like a call of {} as {} write it, which the dialect does not read: if it is "
      "one, choose template:FOLDER?calls={}",
      call.name, spelling.models, spelling.name);
}

std::string NoteOnUnreadCall(std::string_view answer) {
  const std::optional<UnreadCall> call = FindUnreadCall(answer);
  return call ? NoteOn(*call) : "";
}

}  // namespace hone
