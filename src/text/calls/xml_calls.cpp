#include "text/calls/xml_calls.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/strings.h"
#include "text/calls/call_cursor.h"

namespace hone {
namespace {

constexpr std::string_view kCdataOpen = "<![CDATA[", kCdataClose = "]]>";
constexpr std::string_view kGlmOpen = "<tool_call>", kGlmClose = "</tool_call>",
                           kGlmKeyOpen = "<arg_key>", kGlmKeyClose = "</arg_key>",
                           kGlmValueOpen = "<arg_value>", kGlmValueClose = "</arg_value>";
constexpr std::string_view kM3Mark = "]<]minimax[>[", kM3Open = "]<]minimax[>[<tool_call>",
                           kM3Close = "]<]minimax[>[</tool_call>",
                           kM3CallOpen = "]<]minimax[>[<invoke name=",
                           kM3CallClose = "]<]minimax[>[</invoke>";
constexpr int kM3Deepest = 64;

// A name and what else its tag says. Nothing when the tag is not closed.
struct NamedTag {
  std::string_view name, attributes;
};
std::optional<NamedTag> ReadNamedTag(std::string_view tag_end, CallCursor* cursor) {
  NamedTag tag;
  const std::string_view rest = cursor->rest();
  const char quote = rest.empty() ? '\0' : rest[0];
  if (quote == '"' || quote == '\'') {
    cursor->MoveTo(cursor->at() + 1);
    const auto name = cursor->Until(std::string_view(&quote, 1));
    const auto attributes = name ? cursor->Until(tag_end) : std::nullopt;
    if (!attributes) return std::nullopt;
    return NamedTag{*name, *attributes};
  }
  const auto name = cursor->Until(tag_end);
  if (!name) return std::nullopt;
  return NamedTag{*name, {}};
}

// The value of a parameter, by what its tag says about it. Nothing where that is wrong.
std::optional<Json> ParameterValue(std::string_view raw, std::string_view attributes) {
  const auto says = [&](std::string_view text) { return attributes.find(text) != text.npos; };
  if (says("string=\"true\"") || says("type=\"string\"")) return Json(Readable(raw));
  if (says("string=\"false\"") || says("type=\"")) {
    Result<Json> json = ParseJson(Trim(raw));
    return json.ok() ? std::optional(*std::move(json)) : std::nullopt;
  }
  return UnquotedValue(raw);
}

// From behind what opens a parameter. False when the call has ended with a fault.
bool ReadParameter(const XmlCalls& spelling, Json* arguments, CallCursor* cursor) {
  const std::optional<NamedTag> tag = ReadNamedTag(spelling.tag_end, cursor);
  if (!tag) return cursor->Cut("the text ends inside of a parameter's tag"), false;
  std::optional<std::string_view> raw;
  bool quoted = false;
  if (cursor->Skip(kCdataOpen)) {
    quoted = true;
    raw = cursor->Until(kCdataClose);
    cursor->SkipBlanks();
    if (raw && !cursor->Skip(spelling.parameter_close)) {
      cursor->Unreadable(spelling.parameter_close, spelling.call_close);
      return false;
    }
  } else {
    raw = cursor->Until(spelling.parameter_close);
  }
  if (!raw) return cursor->Cut("a parameter is not closed"), false;
  std::optional<Json> value = quoted ? Json(Readable(*raw)) : ParameterValue(*raw, tag->attributes);
  if (!value) {
    if (!cursor->Until(spelling.call_close)) return cursor->Cut("a parameter is not JSON"), false;
    cursor->Fault(FaultKind::kBadJson, fmt::format("{} is not JSON", Readable(tag->name)),
                  cursor->at());
    return false;
  }
  arguments->Set(Readable(tag->name), *std::move(value));
  return true;
}

// From behind what opens a call.
void ReadXmlCall(const XmlCalls& spelling, CallCursor* cursor) {
  const std::optional<NamedTag> tag = ReadNamedTag(spelling.tag_end, cursor);
  if (!tag) return cursor->Cut("the text ends inside of its name");
  Json arguments = Json::Object();
  const size_t begin = cursor->at();
  while (true) {
    cursor->SkipBlanks();
    const size_t end = cursor->at();
    if (cursor->Skip(spelling.call_close)) {
      return cursor->Call(tag->name, std::move(arguments), RangeIn(cursor->text(), tag->name),
                          {begin, end});
    }
    if (!cursor->Skip(spelling.parameter_open)) {
      return cursor->Unreadable(spelling.parameter_open, spelling.call_close);
    }
    if (!ReadParameter(spelling, &arguments, cursor)) return;
  }
}

// An element's content, up to its closing tag: elements, or text. Nothing, and a fault, when it is
// not closed as it should be.
std::optional<Json> ReadM3Element(const std::string& close, int depth, CallCursor* cursor);

// Elements up to what closes them.
std::optional<Json> ReadM3Elements(std::string_view close, int depth, CallCursor* cursor) {
  Json members = Json::Object();
  Json::Array items;
  while (true) {
    cursor->SkipBlanks();
    if (cursor->Skip(close)) break;
    const size_t begin = cursor->at();
    const bool opened = cursor->Skip(kM3Mark) && cursor->Skip("<");
    const auto name = opened ? cursor->Until(">") : std::nullopt;
    if (opened && !name) return cursor->Cut("the text ends inside of a tag"), std::nullopt;
    if (!opened || name->starts_with('/') || depth > kM3Deepest) {
      const std::string_view rest = cursor->text().substr(begin);
      if (close.starts_with(rest) || kM3CallOpen.starts_with(rest)) {
        return cursor->Cut("the text ends before a tag"), std::nullopt;
      }
      cursor->MoveTo(begin);
      if (!cursor->Until(kM3CallClose)) cursor->MoveTo(cursor->text().size());
      cursor->Fault(FaultKind::kBadCall, "a tag does not fit", cursor->at());
      return std::nullopt;
    }
    const std::string closing = std::string(kM3Mark) + "</" + std::string(*name) + ">";
    std::optional<Json> value = ReadM3Element(closing, depth + 1, cursor);
    if (!value) return std::nullopt;
    if (*name == "item") {
      items.push_back(*std::move(value));
    } else {
      members.Set(Readable(*name), *std::move(value));
    }
  }
  return items.empty() ? members : Json(std::move(items));
}

std::optional<Json> ReadM3Element(const std::string& close, int depth, CallCursor* cursor) {
  const std::string_view begun = TrimLeft(cursor->rest());
  if (begun.starts_with(kM3Mark) && !begun.starts_with(close)) {
    return ReadM3Elements(close, depth, cursor);
  }
  const std::optional<std::string_view> raw = cursor->Until(kM3Mark);
  if (!raw) return cursor->Cut("the text ends inside of an argument"), std::nullopt;
  cursor->MoveTo(cursor->at() - kM3Mark.size());
  if (cursor->Skip(close)) return UnquotedValue(*raw);
  cursor->Unreadable(close, kM3CallClose);
  return std::nullopt;
}

void ReadM3Call(CallCursor* cursor) {
  const std::optional<NamedTag> tag = ReadNamedTag(">", cursor);
  if (!tag) return cursor->Cut("the text ends inside of its name");
  const size_t begin = cursor->at();
  std::optional<Json> arguments = ReadM3Elements(kM3CallClose, 0, cursor);
  if (!arguments) return;
  if (!arguments->is_object()) {
    return cursor->Fault(FaultKind::kBadCall, "its arguments have no names", cursor->at());
  }
  cursor->Call(tag->name, *std::move(arguments), RangeIn(cursor->text(), tag->name),
               {begin, cursor->at() - kM3CallClose.size()});
}

// Calls one after the other, with what opens and closes all of them around.
template <typename ReadOne>
size_t ReadXmlSection(const XmlCalls& section, size_t open, const ReadOne& read_one,
                      CallCursor* cursor, ParsedTurn* parsed) {
  const bool in_section = !section.open.empty() && cursor->Skip(section.open);
  const size_t calls = parsed->calls.size(), faults = parsed->faults.size();
  while (true) {
    cursor->SkipBlanks();
    const bool first = parsed->calls.size() == calls && parsed->faults.size() == faults;
    cursor->Begin(first ? open : cursor->at());
    if (cursor->Skip(section.call_open)) {
      read_one(cursor);
      if (!in_section) return cursor->at();
    } else if (in_section && cursor->Skip(section.close)) {
      if (first) cursor->Fault(FaultKind::kBadCall, "the section is empty", cursor->at());
      if (parsed->calls.size() > calls) parsed->calls.back().range.end = cursor->at();
      return cursor->at();
    } else if (cursor->AtEnd() && !first) {
      return cursor->at();  // its end is missing, no call is
    } else {
      cursor->Unreadable(section.call_open, section.close);
      return cursor->at();
    }
  }
}

}  // namespace

size_t ReadXmlCalls(const XmlCalls& spelling, std::string_view text, size_t open,
                    ParsedTurn* parsed) {
  CallCursor cursor(text, open, parsed);
  const auto read_one = [&](CallCursor* at) { ReadXmlCall(spelling, at); };
  return ReadXmlSection(spelling, open, read_one, &cursor, parsed);
}

size_t ReadMiniMaxM3Calls(std::string_view text, size_t open, ParsedTurn* parsed) {
  constexpr XmlCalls kSection = {kM3Open, kM3Close, kM3CallOpen, kM3CallClose, "", ""};
  CallCursor cursor(text, open, parsed);
  return ReadXmlSection(kSection, open, ReadM3Call, &cursor, parsed);
}

size_t ReadGlmCall(std::string_view text, size_t open, ParsedTurn* parsed) {
  CallCursor cursor(text, open, parsed);
  cursor.Skip(kGlmOpen);
  cursor.SkipBlanks();
  const size_t begin = cursor.at(), end = text.find_first_of("<\n", begin);
  if (end == text.npos) return cursor.Cut("the text ends inside of its name"), text.size();
  const std::string_view name = Trim(text.substr(begin, end - begin));
  cursor.MoveTo(end);
  Json arguments = Json::Object();
  while (true) {
    cursor.SkipBlanks();
    const size_t closing = cursor.at();
    if (cursor.Skip(kGlmClose)) {
      const ByteRange name_range = name.empty() ? ByteRange{begin, begin} : RangeIn(text, name);
      cursor.Call(name, std::move(arguments), name_range, {end, closing});
      return cursor.at();
    }
    if (!cursor.Skip(kGlmKeyOpen)) return cursor.Unreadable(kGlmKeyOpen, kGlmClose), cursor.at();
    const auto key = cursor.Until(kGlmKeyClose);
    if (!key) return cursor.Cut("a key is not closed"), text.size();
    cursor.SkipBlanks();
    if (!cursor.Skip(kGlmValueOpen)) {
      return cursor.Unreadable(kGlmValueOpen, kGlmClose), cursor.at();
    }
    const auto value = cursor.Until(kGlmValueClose);
    if (!value) return cursor.Cut("a value is not closed"), text.size();
    arguments.Set(Readable(Trim(*key)), UnquotedValue(*value));
  }
}

}  // namespace hone
