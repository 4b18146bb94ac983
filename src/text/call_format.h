#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/dialect.h"

namespace hone {

// How a model whose conversations follow its own template spells calls. Thoughts stand in <think>,
// before everything else; the prompt may have opened them.
enum class CallFormat {
  kHermes,   // <tool_call>{"name", "arguments"}</tool_call>, any number
  kLlama3,   // {"name", "parameters"} as the whole turn, perhaps behind <|python_tag|>
  kQwenXml,  // <tool_call><function=NAME><parameter=KEY>value</parameter>...: function_xml.h
  kNone,     // none: every turn is an answer
};

std::optional<CallFormat> CallFormatOf(std::string_view name);
// What a template that spells calls so says in its text.
CallFormat GuessCallFormat(std::string_view source);

// How a turn of the format is laid out, all but what ends it.
TurnMarks MarksOf(CallFormat format);

// Reads a turn that ends with one of the stops (Dialect::Parse).
ParsedTurn ParseTurnIn(CallFormat format, std::string_view turn,
                       const std::vector<std::string>& stops, TurnEnd end);

}  // namespace hone
