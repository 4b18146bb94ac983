#include "text/call_format.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"
#include "text/function_xml.h"
#include "text/hermes.h"
#include "text/turn_text.h"

namespace hone {
namespace {

constexpr std::string_view kPythonTag = "<|python_tag|>";
constexpr std::array<std::pair<CallFormat, std::string_view>, 4> kNames = {{
    {CallFormat::kHermes, "hermes"},
    {CallFormat::kLlama3, "llama3"},
    {CallFormat::kQwenXml, "qwen-xml"},
    {CallFormat::kNone, "none"},
}};

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

ParsedTurn ParseHermes(std::string_view turn, const TurnText& body, TurnEnd end) {
  static constexpr HermesVariant kVariant = HermesVariant::kQwen25;
  // Its own end markers are gone already, or are not what ends a turn of this model.
  ParsedTurn parsed = NewHermes(kVariant)->Parse(body.text, body.ended ? TurnEnd::kEnded : end);
  AddTrailingFault(turn, body, &parsed);
  return parsed;
}

}  // namespace

std::optional<CallFormat> CallFormatOf(std::string_view name) {
  for (const auto& [format, known] : kNames) {
    if (known == name) return format;
  }
  return std::nullopt;
}

CallFormat GuessCallFormat(std::string_view source) {
  const auto says = [&](std::string_view text) { return source.find(text) != source.npos; };
  if (says("<function=") && says("<parameter=")) return CallFormat::kQwenXml;
  if (says("<tool_call>")) return CallFormat::kHermes;
  if (says("<|start_header_id|>") && says("parameters")) return CallFormat::kLlama3;
  return CallFormat::kNone;
}

TurnMarks MarksOf(CallFormat format) {
  TurnMarks marks;
  marks.think_open = kThinkOpen;
  marks.think_close = kThinkClose;
  if (format == CallFormat::kHermes) marks.call_opens = {"<tool_call>"};
  if (format == CallFormat::kQwenXml) marks.call_opens = {"<tool_call>", "<function="};
  if (format == CallFormat::kLlama3) marks.call_opens = {std::string(kPythonTag)};
  marks.json_calls = format == CallFormat::kLlama3;
  return marks;
}

ParsedTurn ParseTurnIn(CallFormat format, std::string_view turn,
                       const std::vector<std::string>& stops, TurnEnd end) {
  const TurnText body = WithoutEndMarkers(turn, stops, end);
  if (format == CallFormat::kHermes) return ParseHermes(turn, body, end);
  ParsedTurn parsed;
  if (format == CallFormat::kQwenXml) {
    ReadFunctionXml(body.text, &parsed);
  } else {
    const size_t from = ReadThought(format, body.text, &parsed);
    if (format == CallFormat::kLlama3 && from < body.text.size()) {
      ReadLlama3(body.text, from, &parsed);
    } else {
      parsed.content = Readable(body.text.substr(from));
    }
  }
  AddTrailingFault(turn, body, &parsed);
  std::vector<std::string_view> markers(stops.begin(), stops.end());
  if (format == CallFormat::kLlama3) markers.push_back(kPythonTag);
  if (format == CallFormat::kQwenXml) markers.push_back("<tool_call>");
  AddCutFault(body, end, markers, &parsed);
  if (!parsed.calls.empty() || !parsed.faults.empty()) return parsed;
  if (Trim(parsed.content).empty()) {
    parsed.faults.push_back({FaultKind::kNoAction, "the turn is empty", {0, turn.size()}});
  } else {
    parsed.answer = parsed.content;
  }
  return parsed;
}

}  // namespace hone
