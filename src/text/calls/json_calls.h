#pragma once

#include <string_view>

#include "text/turn_text.h"

// Calls that are objects of JSON, alone or in a list: {"name", "arguments"}. "tool_name" and
// "parameters" are other words for the same.

namespace hone {

// What stands around the JSON.
struct JsonEnclosure {
  std::string_view open, close;
  bool close_may_lack = false;  // the JSON ends the call
  bool keyed = false;           // {"NAME": {arguments}}
  bool declines = false;        // other JSON, or text, than a call's is left as it is
};

// Reads from the opening mark at text[open] and returns where to go on: `open` itself where it
// declines. Calls of a list have ranges of their own; the first has the opening mark, the last the
// closing one. A list that is cut off has no calls.
size_t ReadJsonCalls(std::string_view text, size_t open, const JsonEnclosure& enclosure,
                     ParsedTurn* parsed);

// Whether a text begins with a list of calls, or with what can become one.
bool BeginsJsonCalls(std::string_view text);

}  // namespace hone
