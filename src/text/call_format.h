#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/dialect.h"

namespace hone {

// How a model whose conversations follow its own template spells calls. Which models write which,
// with an example of each: docs/dialects.md; the table: calls/call_spellings.h.
enum class CallFormat {
  kHermes,     // <tool_call>{"name", "arguments"}</tool_call>, any number
  kLlama3,     // {"name", "parameters"} as the whole turn, perhaps behind <|python_tag|>
  kQwenXml,    // <tool_call><function=NAME><parameter=KEY>value</parameter>...: function_xml.h
  kLlama3Tag,  // kLlama3, and <|python_tag|>NAME.call(key="value")
  kPythonic,   // [NAME(key="value"), ...]
  kMistral,    // [TOOL_CALLS]NAME[ARGS]{...}, or [TOOL_CALLS][{"name", "arguments"}, ...]
  kDeepSeek,  // <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{...}...
  kDeepSeekXml,  // <｜DSML｜function_calls><｜DSML｜invoke name="NAME">...
  kGlm,          // <tool_call>NAME<arg_key>KEY</arg_key><arg_value>value</arg_value></tool_call>
  kMiniMax,      // <minimax:tool_call><invoke name="NAME"><parameter name="KEY">value...
  kMiniMaxM3,    // the same with arguments as elements, and a mark before each tag
  kKimiK2,       // <|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{...}...
  kKimiK3,       // <|open|>call tool="NAME"<|sep|><|open|>argument key="KEY"<|sep|>value...
  kHarmony,      // <|channel|>commentary to=functions.NAME<|message|>{...}<|call|>
  kGranite,      // <|tool_call|>[{"name", "arguments"}, ...]
  kCommand,      // <|START_ACTION|>[{"tool_name", "parameters"}, ...]<|END_ACTION|>
  kGemma,        // <start_function_call>call:NAME{key:<escape>value<escape>}<end_function_call>
  kPhi4,         // functools[{"name", "arguments"}, ...]
  kJsonList,     // [{"name", "arguments"}, ...] as the whole turn
  kToolCalls,    // <tool_calls>[{"name", "arguments"}, ...]</tool_calls> and the like
  kGigaChat,     // <|function_call|>{"name", "arguments"}
  kSeed,         // <seed:tool_call><function=NAME><parameter=KEY>value</parameter>...
  kMiniCpm,      // <function name="NAME"><param name="KEY">value</param></function>
  kMuse,         // <atem:function_calls><atem:invoke name="NAME">...
  kSolar,        // <|tool_call:begin|>ID<|tool_call:name|>NAME<|tool_call:args|>{...}...
  kFunctionTag,  // <function=NAME>{...}</function>
  kFunctionary,  // NAME, a line break and {...}, with >>> between several
  kNone,         // none: every turn is an answer
};

// By the name that settings have for it.
std::optional<CallFormat> CallFormatOf(std::string_view name);
std::string_view CallFormatName(CallFormat format);
// All names, `none` at the end.
std::vector<std::string> CallFormatNames();

// What a template that spells calls so says in its text.
CallFormat GuessCallFormat(std::string_view source);

// The format in which a turn, which ends with one of the stops, says exactly this call. Nothing
// when there is none. It is how a model's format is found: its template is made to write a call.
std::optional<CallFormat> CallFormatReading(std::string_view turn, const MessageCall& call,
                                            const std::vector<std::string>& stops);

// How a turn of the format is laid out, all but what ends it. Of several marks around thoughts, it
// has those that stand in the template's text.
TurnMarks MarksOf(CallFormat format, std::string_view source = {});

// Reads a turn that ends with one of the stops (Dialect::Parse).
ParsedTurn ParseTurnIn(CallFormat format, std::string_view turn,
                       const std::vector<std::string>& stops, TurnEnd end);

// A call in a format that was not chosen: what a turn says that its own dialect finds no call in.
struct UnreadCall {
  std::string name;  // of the tool
  CallFormat format;
};
// In an answer. Cheap where no mark of a format stands in it.
std::optional<UnreadCall> FindUnreadCall(std::string_view answer);
// In the text of a turn whose call could not be read: only where another format reads all of it.
std::optional<UnreadCall> FindUnreadCallInFaulty(std::string_view turn);

// What to tell people about it, with the setting that would read it.
std::string NoteOn(const UnreadCall& call);
// The same about an answer; empty when it is no such call.
std::string NoteOnUnreadCall(std::string_view answer);

}  // namespace hone
