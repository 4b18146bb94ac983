// The table of call formats. A new one is a row here, and a reader where none of the families fits.

#include "text/calls/call_spellings.h"

#include "base/strings.h"
#include "text/calls/gemma_calls.h"
#include "text/calls/json_calls.h"
#include "text/calls/named_calls.h"
#include "text/calls/pythonic_calls.h"
#include "text/calls/xml_calls.h"

namespace hone {
namespace {

constexpr JsonEnclosure kJsonEnclosures[] = {
    {.open = "<|tool_call|>", .close = "<|/tool_call|>", .close_may_lack = true},
    {.open = "<function_call>", .close = "</function_call>", .close_may_lack = true},
    {.open = "functools", .close = "", .close_may_lack = true, .declines = true},
    {.open = "<tool_call>", .close = "</tool_call>", .close_may_lack = true},
    {.open = "<tool_calls>", .close = "</tool_calls>"},
    {.open = "<TOOLCALL>", .close = "</TOOLCALL>"},
    {.open = "<|tools_prefix|>", .close = "<|tools_suffix|>", .keyed = true},
    {.open = "<|action_start|><|plugin|>", .close = "<|action_end|>"},
    {.open = "<|START_ACTION|>", .close = "<|END_ACTION|>"},
    {.open = "Action: ```json", .close = "```"},
    {.open = "Action:```json", .close = "```"},
    {.open = "```json", .close = "```", .declines = true},
    {.open = "<|function_call|>", .close = "", .close_may_lack = true},
    {.open = "<|message_sep|>\n\nfunction call<|role_sep|>\n", .close = "", .close_may_lack = true},
};

// Whichever of them stands there, the longest first where one begins another.
size_t ReadEnclosed(std::string_view text, size_t open, ParsedTurn* parsed) {
  for (const JsonEnclosure& enclosure : kJsonEnclosures) {
    if (!text.substr(open).starts_with(enclosure.open)) continue;
    return ReadJsonCalls(text, open, enclosure, parsed);
  }
  return ReadJsonCalls(text, open, {.close_may_lack = true}, parsed);  // a bare list
}

size_t ReadPythonic(std::string_view text, size_t open, ParsedTurn* parsed) {
  constexpr PythonEnclosure kEnclosures[] = {{"<|python_start|>", "<|python_end|>"},
                                             {"<|tool_call_start|>", "<|tool_call_end|>"},
                                             {"<function_calls>", "</function_calls>"}};
  for (const PythonEnclosure& enclosure : kEnclosures) {
    if (!text.substr(open).starts_with(enclosure.open)) continue;
    return ReadPythonCalls(text, open, enclosure, parsed);
  }
  return ReadPythonCalls(text, open, {}, parsed);  // a bare list
}

template <const NamedSection& kSection>
size_t ReadSection(std::string_view text, size_t open, ParsedTurn* parsed) {
  return ReadNamedSection(kSection, text, open, parsed);
}

template <const XmlCalls& kXml>
size_t ReadXml(std::string_view text, size_t open, ParsedTurn* parsed) {
  return ReadXmlCalls(kXml, text, open, parsed);
}

// Version 3.2 calls the section function_calls, version 4 tool_calls.
size_t ReadDeepSeekXml(std::string_view text, size_t open, ParsedTurn* parsed) {
  const bool fourth = text.substr(open).starts_with(kDeepSeekV4Calls.open);
  return ReadXmlCalls(fourth ? kDeepSeekV4Calls : kDeepSeekXmlCalls, text, open, parsed);
}

size_t ReadGemma(std::string_view text, size_t open, ParsedTurn* parsed) {
  const bool fourth = text.substr(open).starts_with(kGemma4.open);
  return ReadGemmaCall(fourth ? kGemma4 : kFunctionGemma, text, open, parsed);
}

constexpr ThoughtMarks kThink = {kThinkOpen, kThinkClose};

// Those that name a format by marks of its own.
std::vector<CallSpelling> MarkedSpellings() {
  using F = CallFormat;
  return {
      {.format = F::kMistral,
       .name = "mistral",
       .models = "Mistral, Ministral, Magistral, Devstral",
       .opens = {"[TOOL_CALLS]"},
       .read = ReadMistralCall,
       .json_arguments = true,
       .thoughts = {{"[THINK]", "[/THINK]"}, kThink},
       .signatures = {{"[TOOL_CALLS]"}}},
      {.format = F::kDeepSeek,
       .name = "deepseek",
       .models = "DeepSeek V3, R1, V3.1",
       .opens = {kDeepSeekSection.open, kDeepSeekSection.call_open},
       .read = ReadSection<kDeepSeekSection>,
       .closes = {kDeepSeekSection.call_close},
       .signatures = {{kDeepSeekSection.call_open}}},
      {.format = F::kDeepSeekXml,
       .name = "deepseek-xml",
       .models = "DeepSeek V3.2, V4",
       .opens = {kDeepSeekXmlCalls.open, kDeepSeekV4Calls.open, kDeepSeekXmlCalls.call_open},
       .read = ReadDeepSeekXml,
       .closes = {kDeepSeekXmlCalls.call_close},
       .signatures = {{"DSML", "invoke name="}}},
      {.format = F::kGlm,
       .name = "glm",
       .models = "GLM 4.5 to 4.7, Laguna",
       .opens = {"<tool_call>"},
       .read = ReadGlmCall,
       .closes = {"</tool_call>"},
       .signatures = {{"<arg_key>", "<arg_value>", "<tool_call>"}}},
      {.format = F::kMiniMaxM3,
       .name = "minimax-m3",
       .models = "MiniMax M3",
       .opens = {"]<]minimax[>[<tool_call>"},
       .read = ReadMiniMaxM3Calls,
       .closes = {"]<]minimax[>[</invoke>"},
       .thoughts = {{"<mm:think>", "</mm:think>"}},
       .signatures = {{"]<]minimax[>["}}},
      {.format = F::kMiniMax,
       .name = "minimax",
       .models = "MiniMax M2",
       .opens = {kMiniMaxCalls.open},
       .read = ReadXml<kMiniMaxCalls>,
       .closes = {kMiniMaxCalls.call_close},
       .signatures = {{kMiniMaxCalls.open}}},
      {.format = F::kMuse,
       .name = "muse",
       .models = "Muse Glimmer",
       .opens = {kMuseCalls.open},
       .read = ReadXml<kMuseCalls>,
       .closes = {kMuseCalls.call_close},
       .signatures = {{"atem:function_calls"}}},
      {.format = F::kSeed,
       .name = "seed",
       .models = "Seed-OSS",
       .opens = {kSeedCalls.open},
       .read = ReadXml<kSeedCalls>,
       .closes = {kSeedCalls.call_close},
       .thoughts = {{"<seed:think>", "</seed:think>"}, kThink},
       .signatures = {{"seed:tool_call"}}},
      {.format = F::kKimiK2,
       .name = "kimi",
       .models = "Kimi K2",
       .opens = {kKimiSection.open, kKimiSection.call_open},
       .read = ReadSection<kKimiSection>,
       .closes = {kKimiSection.call_close},
       .signatures = {{kKimiSection.call_open}}},
      {.format = F::kKimiK3,
       .name = "kimi-k3",
       .models = "Kimi K3",
       .opens = {kKimiK3Calls.open},
       .read = ReadXml<kKimiK3Calls>,
       .closes = {kKimiK3Calls.call_close},
       .thoughts = {{"<|open|>think<|sep|>", "<|close|>think<|sep|>"}},
       .silent = {"<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>"},
       .signatures = {{"<|open|>", "<|sep|>", "argument"}}},
      {.format = F::kSolar,
       .name = "solar",
       .models = "Solar Open",
       .opens = {kSolarSection.open, kSolarSection.call_open},
       .read = ReadSection<kSolarSection>,
       .closes = {kSolarSection.call_close},
       .thoughts = {{"<|think|>", "<|end|><|begin|>assistant"}, kThink},
       .silent = {"<|content|>"},
       .signatures = {{kSolarSection.call_open}}},
      {.format = F::kGemma,
       .name = "gemma",
       .models = "FunctionGemma, Gemma 4",
       .opens = {kFunctionGemma.open, kGemma4.open},
       .read = ReadGemma,
       .closes = {kFunctionGemma.close, kGemma4.close},
       .thoughts = {{"<|channel>thought", "<channel|>"}, kThink},
       .silent = {"<channel|>", "<|tool_response>", "<start_function_response>"},
       .signatures = {{kFunctionGemma.open}, {kGemma4.open}}},
  };
}

// Those whose calls are JSON or Python, and those that read whole turns.
std::vector<CallSpelling> PlainSpellings() {
  using F = CallFormat;
  return {
      {.format = F::kCommand,
       .name = "command",
       .models = "Command R, R+, R7B, A",
       .opens = {"<|START_ACTION|>", "Action: ```json", "Action:```json"},
       .read = ReadEnclosed,
       .json_arguments = true,
       .thoughts = {{"<|START_THINKING|>", "<|END_THINKING|>"}},
       .silent = {"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"},
       .signatures = {{"<|START_ACTION|>"}, {"Action:", "tool_name"}}},
      {.format = F::kGranite,
       .name = "granite",
       .models = "Granite 3, Granite 20B",
       .opens = {"<|tool_call|>", "<function_call>", "<tool_call>"},
       .read = ReadEnclosed,
       .json_arguments = true,
       .signatures = {{"start_of_role", "<|tool_call|>"}, {"<function_call>"}}},
      {.format = F::kPhi4,
       .name = "phi4",
       .models = "Phi-4-mini, FireFunction 2",
       .opens = {"<|tool_call|>", "functools"},
       .read = ReadEnclosed,
       .json_arguments = true,
       .signatures = {{"<|tool_call|>", "<|end|>"}, {"functools["}}},
      {.format = F::kToolCalls,
       .name = "tool-calls",
       .models = "Apriel, Hunyuan, Jamba, MiniMax M1, Nemotron Nano 2, InternLM 2, Apertus",
       .opens = {"<tool_calls>", "<TOOLCALL>", "<|tools_prefix|>", "<|action_start|><|plugin|>"},
       .read = ReadEnclosed,
       .json_arguments = true,
       .thoughts = {kThink, {"Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"}},
       .silent = {"[END FINAL RESPONSE]"},
       .signatures = {{"<tool_calls>"}, {"<TOOLCALL>"}, {"<|tools_prefix|>"}, {"<|plugin|>"}}},
      {.format = F::kGigaChat,
       .name = "gigachat",
       .models = "GigaChat 3",
       .opens = {"<|function_call|>", "<|message_sep|>\n\nfunction call<|role_sep|>\n"},
       .read = ReadEnclosed,
       .json_arguments = true,
       .signatures = {{"<|function_call|>"}, {"function call<|role_sep|>"}}},
      {.format = F::kMiniCpm,
       .name = "minicpm",
       .models = "MiniCPM 5",
       .opens = {kMiniCpmCalls.call_open},
       .read = ReadXml<kMiniCpmCalls>,
       .closes = {kMiniCpmCalls.call_close},
       .signatures = {{"<function name=", "<param name="}}},
      {.format = F::kQwenXml,
       .name = "qwen-xml",
       .models = "Qwen3-Coder, Qwen 3.5, Nemotron 3",
       .opens = {"<tool_call>", "<function="},
       .closes = {"</function>"},
       .signatures = {{"<function=", "<parameter="}}},
      {.format = F::kFunctionTag,
       .name = "function-tag",
       .models = "Functionary 3.1",
       .opens = {"<function="},
       .read = ReadFunctionTag,
       .closes = {"</function>"},
       .signatures = {{"<function="}}},
      {.format = F::kHermes,
       .name = "hermes",
       .models = "Hermes, Qwen 2.5 and 3, Granite 4, MiMo",
       .opens = {"<tool_call>"},
       .closes = {"</tool_call>"},
       .signatures = {{"<tool_call>"}}},
      {.format = F::kHarmony,
       .name = "harmony",
       .models = "gpt-oss",
       .opens = {"<|channel|>commentary to=", "to=functions."},
       .json_arguments = true,
       .thoughts = {},
       .signatures = {{"<|channel|>", "to=functions."}}},
      {.format = F::kPythonic,
       .name = "pythonic",
       .models = "Llama 3.2 and 4, ToolACE, Gemma 3, LFM2, Olmo 3",
       .opens = {"<|python_start|>", "<|tool_call_start|>", "<function_calls>"},
       .read = ReadPythonic,
       .begins = BeginsPythonCalls,
       .signatures = {{"<|tool_call_start|>"},
                      {"<|tool_list_start|>"},
                      {"<|python_start|>"},
                      {"[func_name1("}}},
      {.format = F::kLlama3Tag,
       .name = "llama3-tag",
       .models = "Llama 3.1 to 3.3 with their tools",
       .opens = {"<|python_tag|>"},
       .signatures = {{"<|python_tag|>", ".call("}}},
      {.format = F::kLlama3,
       .name = "llama3",
       .models = "Llama 3.1 to 3.3",
       .opens = {"<|python_tag|>"},
       .json_arguments = true,
       .signatures = {{"<|start_header_id|>", "parameters"}}},
      {.format = F::kJsonList,
       .name = "json-list",
       .models = "xLAM, Hammer",
       .opens = {"```json"},
       .read = ReadEnclosed,
       .json_arguments = true,
       .begins = BeginsJsonCalls},
      {.format = F::kFunctionary,
       .name = "functionary",
       .models = "Functionary 3.2",
       .json_arguments = true,
       .signatures = {{">>>", "recipient"}}},
  };
}

}  // namespace

std::span<const CallSpelling> CallSpellings() {
  static const std::vector<CallSpelling> all = [] {
    std::vector<CallSpelling> rows = MarkedSpellings();
    for (CallSpelling& row : PlainSpellings()) rows.push_back(std::move(row));
    return rows;
  }();
  return all;
}

const CallSpelling* FindSpelling(CallFormat format) {
  for (const CallSpelling& spelling : CallSpellings()) {
    if (spelling.format == format) return &spelling;
  }
  return nullptr;
}

}  // namespace hone
