#pragma once

#include <string_view>

#include "text/turn_text.h"

namespace hone {

// Reads a turn of gpt-oss, which is a sequence of messages:
//
//   <|channel|>analysis<|message|>thought<|end|><|start|>assistant<|channel|>final<|message|>answer
//   <|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{...}<|call|>
//
// "to=" may also stand before the channel. What is for nobody is a thought in the channel analysis,
// and text in all others. The range of a call ends before the mark that ends its message. Text
// without a header is text. What cannot be read is a fault.
void ReadHarmony(std::string_view text, ParsedTurn* parsed);

}  // namespace hone
