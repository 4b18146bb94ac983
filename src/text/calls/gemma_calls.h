#pragma once

#include <string_view>

#include "text/turn_text.h"

namespace hone {

// Calls as Gemma writes them: call:NAME{key:<escape>text<escape>,other:1,list:[...]}. Texts stand
// between two of the same mark; numbers, true, false and null as in JSON; other words are text.
struct GemmaMarks {
  std::string_view open, close;  // around each call
  std::string_view quote;        // on both sides of a text
};

inline constexpr GemmaMarks kFunctionGemma = {"<start_function_call>", "<end_function_call>",
                                              "<escape>"};
inline constexpr GemmaMarks kGemma4 = {"<|tool_call>", "<tool_call|>", "<|\"|>"};

// Reads from the opening mark at text[open] and returns where to go on. A call is whole where its
// closing mark stands.
size_t ReadGemmaCall(const GemmaMarks& marks, std::string_view text, size_t open,
                     ParsedTurn* parsed);

}  // namespace hone
