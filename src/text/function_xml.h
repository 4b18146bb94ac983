#pragma once

#include "text/turn_text.h"

namespace hone {

// Reads the thought, the text and the calls of a turn in the format of Qwen3-Coder and its like:
// <tool_call><function=NAME><parameter=KEY>value</parameter></function></tool_call>. The outer tags
// may be missing. A value that is JSON, but not a string, is that value; any other is text, less
// one line break at each end. (What its schema says is not known here: a number where text is
// wanted comes out as a number.) What cannot be read is a fault.
void ReadFunctionXml(std::string_view text, ParsedTurn* parsed);

}  // namespace hone
