#pragma once

#include <string_view>

#include "text/turn_text.h"

// Calls as Python writes them: [get_weather(city="Paris"), get_time(zone="CET")]. Arguments have
// names, and values are literals (python_literals.h). A call is whole where a comma, a line break
// or the end of the list stands behind it.

namespace hone {

struct PythonEnclosure {
  std::string_view open, close;  // around the list, whose brackets may be missing inside them
};

// Reads from the opening mark at text[open] and returns where to go on.
size_t ReadPythonCalls(std::string_view text, size_t open, const PythonEnclosure& enclosure,
                       ParsedTurn* parsed);

// Whether a text begins with such a list, or with what can become one.
bool BeginsPythonCalls(std::string_view text);

// A built-in tool of Llama 3, behind <|python_tag|>: NAME.call(query="..."), from text[at].
// `open` is where the call begins. False, and nothing read, when it is something else.
bool ReadBuiltInCall(std::string_view text, size_t open, size_t at, ParsedTurn* parsed);

}  // namespace hone
