#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/dialect.h"

// What the parsers of all dialects do alike.

namespace hone {

// Around thought, in most models' turns.
inline constexpr std::string_view kThinkOpen = "<think>", kThinkClose = "</think>";

// A policy turn without its end markers.
struct TurnText {
  std::string_view text;  // up to the first end marker
  bool ended = false;     // an end marker was there, or the caller says the turn ended
  bool trailing = false;  // text follows the end marker
};
TurnText WithoutEndMarkers(std::string_view turn, const std::vector<std::string>& markers,
                           TurnEnd end);

// The range of `part`, a view into `whole`.
ByteRange RangeIn(std::string_view whole, std::string_view part);

// A fault for text behind the end marker. An answer with such a tail is no answer.
void AddTrailingFault(std::string_view turn, const TurnText& text, ParsedTurn* parsed);

// A fault for a turn that a limit cut off and, when the end is unknown, for one that stops inside
// one of the markers. Nothing when the turn ended, or is known to be incomplete already.
void AddCutFault(const TurnText& text, TurnEnd end, const std::vector<std::string_view>& markers,
                 ParsedTurn* parsed);

// Valid UTF-8 for what people and tools get to see.
std::string Readable(std::string_view bytes);

// One JSON value between `begin` and `close`, as it stands in a text the policy wrote.
struct EnclosedJson {
  std::optional<Json> value;  // present when value and closing marker are both there
  size_t end = 0;             // behind the closing marker; without a value, where to go on reading
  FaultKind fault = FaultKind::kBadJson;
  std::string problem;
};
// Reads from text[begin], just behind the opening marker.
EnclosedJson ReadEnclosedJson(std::string_view text, size_t begin, std::string_view close);

// Reads {"name", "arguments"} between tags, from the opening tag at text[open]: a call, or the
// fault in it. *next is where to go on.
void ReadNamedCall(std::string_view text, size_t open, std::string_view open_tag,
                   std::string_view close_tag, size_t* next, ParsedTurn* parsed);

}  // namespace hone
