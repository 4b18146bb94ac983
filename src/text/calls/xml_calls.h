#pragma once

#include <string_view>

#include "text/turn_text.h"

// Calls whose arguments stand between tags, one by one, as text. A value that is JSON, but not a
// string, is that value; any other is text. (What its schema says is not known here.) Where a tag
// says whether its value is text, that counts.
//
// Each function reads from the opening mark at text[open] and returns where to go on. A call is
// whole where its own closing tag stands; the tag that closes a section of several may be missing.
// The first call of a section has the tag that opens it, the last one the tag that closes it.

namespace hone {

// <section><call NAME><parameter KEY>value</parameter></call></section>. Names stand behind the
// beginning of a tag, with or without quotes; other attributes may follow up to the end of the tag.
struct XmlCalls {
  std::string_view open, close;  // around all calls; empty: there is nothing
  std::string_view call_open, call_close;
  std::string_view parameter_open, parameter_close;
  std::string_view tag_end = ">";
};

inline constexpr XmlCalls kSeedCalls = {"<seed:tool_call>", "</seed:tool_call>", "<function=",
                                        "</function>",      "<parameter=",       "</parameter>"};
inline constexpr XmlCalls kMiniMaxCalls = {"<minimax:tool_call>", "</minimax:tool_call>",
                                           "<invoke name=",       "</invoke>",
                                           "<parameter name=",    "</parameter>"};
inline constexpr XmlCalls kDeepSeekXmlCalls = {
    "<｜DSML｜function_calls>", "</｜DSML｜function_calls>", "<｜DSML｜invoke name=",
    "</｜DSML｜invoke>",        "<｜DSML｜parameter name=",  "</｜DSML｜parameter>"};
inline constexpr XmlCalls kDeepSeekV4Calls = {"<｜DSML｜tool_calls>",     "</｜DSML｜tool_calls>",
                                              "<｜DSML｜invoke name=",    "</｜DSML｜invoke>",
                                              "<｜DSML｜parameter name=", "</｜DSML｜parameter>"};
inline constexpr XmlCalls kMuseCalls = {"<atem:function_calls>", "</atem:function_calls>",
                                        "<atem:invoke name=",    "</atem:invoke>",
                                        "<atem:parameter name=", "</atem:parameter>"};
inline constexpr XmlCalls kMiniCpmCalls = {
    "", "", "<function name=", "</function>", "<param name=", "</param>"};
inline constexpr XmlCalls kKimiK3Calls = {"<|open|>tools<|sep|>",
                                          "<|close|>tools<|sep|>",
                                          "<|open|>call tool=",
                                          "<|close|>call<|sep|>",
                                          "<|open|>argument key=",
                                          "<|close|>argument<|sep|>",
                                          "<|sep|>"};

size_t ReadXmlCalls(const XmlCalls& spelling, std::string_view text, size_t open,
                    ParsedTurn* parsed);

// <tool_call>NAME<arg_key>KEY</arg_key><arg_value>value</arg_value></tool_call>, with or without
// line breaks between the tags.
size_t ReadGlmCall(std::string_view text, size_t open, ParsedTurn* parsed);

// Where every tag has ]<]minimax[>[ before it, and arguments are elements that may hold others: a
// list is elements named "item".
size_t ReadMiniMaxM3Calls(std::string_view text, size_t open, ParsedTurn* parsed);

}  // namespace hone
