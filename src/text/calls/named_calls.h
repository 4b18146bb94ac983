#pragma once

#include <string_view>

#include "text/turn_text.h"

// Calls that are a name and, behind a mark, an object of JSON: as Mistral, DeepSeek, Kimi K2,
// Functionary and Solar write them.
//
// Each function reads from the opening mark at text[open] and returns where to go on. A call is
// whole where its own closing mark stands (or its JSON ends, where there is none); the mark that
// closes a section of several may be missing. The first call of a section has the mark that opens
// it, the last one the mark that closes it.

namespace hone {

// [TOOL_CALLS]NAME[CALL_ID]ID[ARGS]{...}, where the id may be missing, or [TOOL_CALLS][{"name",
// "arguments"}, ...].
size_t ReadMistralCall(std::string_view text, size_t open, ParsedTurn* parsed);

// A call between marks of its own, in a section.
struct NamedSection {
  std::string_view open, close;            // around all calls
  std::string_view call_open, call_close;  // around each
  std::string_view separator;              // behind the name
  bool fenced = false;    // "function" stands for the name, which follows, and ```json around JSON
  bool numbered = false;  // functions.NAME:0
  std::string_view id_separator;  // behind an id, before the name
};

inline constexpr NamedSection kDeepSeekSection = {.open = "<｜tool▁calls▁begin｜>",
                                                  .close = "<｜tool▁calls▁end｜>",
                                                  .call_open = "<｜tool▁call▁begin｜>",
                                                  .call_close = "<｜tool▁call▁end｜>",
                                                  .separator = "<｜tool▁sep｜>",
                                                  .fenced = true};
inline constexpr NamedSection kKimiSection = {.open = "<|tool_calls_section_begin|>",
                                              .close = "<|tool_calls_section_end|>",
                                              .call_open = "<|tool_call_begin|>",
                                              .call_close = "<|tool_call_end|>",
                                              .separator = "<|tool_call_argument_begin|>",
                                              .numbered = true};
inline constexpr NamedSection kSolarSection = {.open = "<|tool_calls|>",
                                               .close = "<|calls|>",
                                               .call_open = "<|tool_call:begin|>",
                                               .call_close = "<|tool_call:end|>",
                                               .separator = "<|tool_call:args|>",
                                               .id_separator = "<|tool_call:name|>"};

// A section, or a call that stands without one.
size_t ReadNamedSection(const NamedSection& section, std::string_view text, size_t open,
                        ParsedTurn* parsed);

// <function=NAME>{...}</function>.
size_t ReadFunctionTag(std::string_view text, size_t open, ParsedTurn* parsed);

// A whole turn of Functionary 3.2, whose prompt ends with >>>: NAME, a line break and {...}, or
// "all", a line break and text; several with >>> between them.
void ReadFunctionary(std::string_view text, size_t from, ParsedTurn* parsed);
// Whether it is in that form: behind a line with one word.
bool BeginsFunctionary(std::string_view text);

}  // namespace hone
