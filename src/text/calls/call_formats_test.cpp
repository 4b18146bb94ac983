// Every format of the table, on turns that support/call_turns.h writes: what is read, where it
// stands, and what is read of a turn that is cut off at any byte.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/file.h"
#include "base/strings.h"
#include "support/call_turns.h"
#include "text/call_format.h"
#include "text/calls/call_spellings.h"

namespace hone {
namespace {

struct Turn {
  std::string text;
  std::string reasoning, content;
};

// The calls alone, behind a thought, behind a thought that the prompt opened, and with text beside
// them.
std::vector<Turn> TurnsAround(const CallWriter& writer, const std::string& calls) {
  const std::string thought = "Let me see: 2 < 3.";
  if (writer.traits.own_header) {
    const std::string analysis = "<|channel|>analysis<|message|>" + thought + "<|end|>";
    const std::string said = "<|start|>assistant<|channel|>commentary<|message|>One moment.<|end|>";
    return {{calls, "", ""},
            {analysis + "<|start|>assistant" + calls, thought, ""},
            {analysis + said + "<|start|>assistant" + calls, thought, "One moment."}};
  }
  std::vector<Turn> turns = {
      {calls, "", ""},
      {writer.think_open + thought + writer.think_close + calls, thought, ""},
      {thought + writer.think_close + "\n\n" + calls, thought, ""},
  };
  if (writer.traits.alone) return turns;
  turns.push_back({"One moment.\n" + calls, "", "One moment."});
  turns.push_back({calls + "\nThat is all.", "", "That is all."});
  turns.push_back({writer.think_open + thought + writer.think_close + "\nOne moment.\n" + calls,
                   thought, "One moment."});
  return turns;
}

ParsedTurn ReadIn(const CallWriter& writer, std::string_view turn, TurnEnd end) {
  return ParseTurnIn(writer.format, turn, {"<|the_end|>"}, end);
}

std::string_view Slice(std::string_view text, ByteRange range) {
  return text.substr(range.begin, range.end - range.begin);
}

void ExpectCalls(const Turn& turn, const std::vector<SpokenCall>& calls, const ParsedTurn& parsed) {
  EXPECT_TRUE(parsed.faults.empty()) << parsed.faults[0].message;
  EXPECT_FALSE(parsed.answer.has_value());
  EXPECT_EQ(parsed.reasoning, turn.reasoning);
  EXPECT_EQ(Trim(parsed.content), turn.content);
  ASSERT_EQ(parsed.thoughts.size(), turn.reasoning.empty() ? 0u : 1u);
  for (const ByteRange& thought : parsed.thoughts) {
    const std::string_view text = Slice(turn.text, thought);
    EXPECT_NE(text.find(turn.reasoning), text.npos) << text;
    EXPECT_LE(thought.end, parsed.calls[0].range.begin);
  }
  ASSERT_EQ(parsed.calls.size(), calls.size());
  size_t last = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    const ParsedCall& call = parsed.calls[i];
    EXPECT_EQ(call.name, calls[i].name);
    EXPECT_EQ(call.arguments, calls[i].arguments) << DumpJson(call.arguments);
    EXPECT_TRUE(last <= call.range.begin && call.range.begin < call.range.end &&
                call.range.end <= turn.text.size());
    last = call.range.end;
    if (call.name_range.end == 0) continue;  // the readers of old tell the whole call only
    EXPECT_EQ(Slice(turn.text, call.name_range), call.name);
    EXPECT_TRUE(call.range.begin <= call.name_range.begin &&
                call.arguments_range.end <= call.range.end);
    const std::string_view written = Slice(turn.text, call.arguments_range);
    const auto json = ParseJson(written);
    if (json.ok()) {
      EXPECT_EQ(*json, call.arguments);
    }
    for (const auto& [key, value] : call.arguments.AsObject()) {
      EXPECT_NE(written.find(key), written.npos) << written;
    }
  }
}

// A turn that is cut off is incomplete, or has the calls that were whole before.
void ExpectCutsToBeHonest(const CallWriter& writer, const Turn& turn, const ParsedTurn& whole) {
  for (size_t size = 0; size < turn.text.size(); ++size) {
    const std::string_view text = std::string_view(turn.text).substr(0, size);
    for (const TurnEnd end : {TurnEnd::kCut, TurnEnd::kUnknown}) {
      const ParsedTurn cut = ReadIn(writer, text, end);
      ASSERT_LE(cut.calls.size(), whole.calls.size()) << text;
      for (size_t i = 0; i < cut.calls.size(); ++i) {
        ASSERT_EQ(cut.calls[i].name, whole.calls[i].name) << text;
        ASSERT_EQ(cut.calls[i].arguments, whole.calls[i].arguments) << text;
        ASSERT_EQ(cut.calls[i].range.begin, whole.calls[i].range.begin) << text;
        ASSERT_LE(cut.calls[i].range.end, whole.calls[i].range.end) << text;
      }
      const bool incomplete = std::any_of(
          cut.faults.begin(), cut.faults.end(),
          [](const ParsedFault& fault) { return fault.kind == FaultKind::kIncomplete; });
      if (end == TurnEnd::kCut) {
        ASSERT_TRUE(incomplete && !cut.answer) << text;
      }
      // Inside of a call it is never an answer, nor a call that is merely wrong.
      if (cut.calls.size() == whole.calls.size()) continue;
      const ByteRange next = whole.calls[cut.calls.size()].range;
      const bool begun = size > next.begin + 24 && size < next.end;
      ASSERT_TRUE(incomplete || !begun) << writer.label << ": " << text;
    }
  }
}

// Of a format's turns, how many there are of each kind: a row of docs/dialects.md.
struct TurnCounts {
  int turns = 0, single = 0, parallel = 0, nested = 0, unicode = 0, thoughts = 0;
  size_t cuts = 0;  // a turn that is cut off at any byte

  void Add(const Turn& turn, const std::vector<SpokenCall>& calls) {
    const auto some = [&](auto is) { return std::any_of(calls.begin(), calls.end(), is) ? 1 : 0; };
    ++turns;
    ++(calls.size() == 1 ? single : parallel);
    nested += some([](const SpokenCall& call) {
      const Json::Object& members = call.arguments.AsObject();
      return std::any_of(members.begin(), members.end(), [](const Json::Member& member) {
        return member.second.is_object() || member.second.is_array();
      });
    });
    unicode += some([](const SpokenCall& call) {
      const std::string text = DumpJson(call.arguments);
      return std::any_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
    });
    thoughts += turn.reasoning.empty() ? 0 : 1;
    cuts += turn.text.size();
  }
  std::string Row(std::string_view name) const {
    return fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", name, turns, single,
                       parallel, nested, unicode, thoughts, cuts);
  }
};

TEST(CallFormats, EveryFormatIsReadAndCutsOfItAreIncomplete) {
  std::map<CallFormat, TurnCounts> turns;
  for (const CallWriter& writer : CallWriters()) {
    for (const std::vector<SpokenCall>& calls : SpokenCalls(writer)) {
      for (const Turn& turn : TurnsAround(writer, writer.write(calls))) {
        SCOPED_TRACE(writer.label + ": " + turn.text);
        const ParsedTurn whole = ReadIn(writer, turn.text, TurnEnd::kUnknown);
        ExpectCalls(turn, calls, whole);
        ExpectCalls(turn, calls, ReadIn(writer, turn.text + "<|the_end|>", TurnEnd::kUnknown));
        if (!HasFailure()) ExpectCutsToBeHonest(writer, turn, whole);
        turns[writer.format].Add(turn, calls);
      }
      if (HasFailure()) break;
    }
  }
  std::string table;
  for (const CallSpelling& spelling : CallSpellings()) {
    const TurnCounts& counts = turns[spelling.format];
    EXPECT_GE(counts.turns, 20) << spelling.name;
    for (const int kind : {counts.single, counts.nested, counts.unicode, counts.thoughts}) {
      EXPECT_GT(kind, 0) << spelling.name;
    }
    table += counts.Row(spelling.name);
  }
  const std::string page = ReadFile(HONE_SOURCE_DIR "/docs/dialects.md").value();
  EXPECT_NE(page.find(table), page.npos) << "docs/dialects.md should have:\n" << table;
}

TEST(CallFormats, TextWithoutACallIsTheAnswer) {
  for (const std::string& name : CallFormatNames()) {
    if (name == "functionary") continue;  // where text stands behind "all"
    for (const char* text : {"Hello, world!\nWhat's up?", "It is [1], {a} and <b>.", "[1, 2]",
                             "[see the note]", "{\"city\": \"Paris\"}", "3 < 4 | x"}) {
      const ParsedTurn parsed = ParseTurnIn(*CallFormatOf(name), text, {"</s>"}, TurnEnd::kEnded);
      EXPECT_EQ(parsed.answer, text) << name;
    }
    EXPECT_FALSE(ParseTurnIn(*CallFormatOf(name), "</s>", {"</s>"}, TurnEnd::kUnknown).answer);
  }
  EXPECT_EQ(ParseTurnIn(CallFormat::kFunctionary, "all\nHello!", {}, TurnEnd::kEnded).answer,
            "Hello!");
}

struct Malformed {
  const char* format;
  const char* turn;
  FaultKind kind;
};

constexpr FaultKind kBadCall = FaultKind::kBadCall, kBadJson = FaultKind::kBadJson,
                    kIncomplete = FaultKind::kIncomplete;

const Malformed kMalformed[] = {
    {"mistral", "[TOOL_CALLS]f", kIncomplete},
    {"mistral", "[TOOL_CALLS]f{a}", kBadJson},
    {"mistral", "[TOOL_CALLS]f[ARGS][1]", kBadCall},
    {"mistral", "[TOOL_CALLS]f says hello", kBadCall},
    {"mistral", "[TOOL_CALLS][{\"arguments\": {}}]", kBadCall},
    {"mistral", "[TOOL_CALLS][]", kBadCall},
    {"deepseek", "<｜tool▁calls▁begin｜><｜tool▁calls▁end｜>", kBadCall},
    {"deepseek", "<｜tool▁calls▁begin｜>hello<｜tool▁calls▁end｜>", kBadCall},
    {"deepseek", "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": }<｜tool▁call▁end｜>", kBadJson},
    {"deepseek", "<｜tool▁call▁begin｜>f<｜tool▁call▁end｜>", kBadCall},
    {"deepseek", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n<｜tool▁call▁end｜>",
     kBadCall},
    {"deepseek", "<｜tool▁call▁begin｜><｜tool▁sep｜>{}<｜tool▁call▁end｜>", kBadCall},
    {"deepseek-xml", "<｜DSML｜function_calls>\n</｜DSML｜function_calls>", kBadCall},
    {"deepseek-xml",
     "<｜DSML｜function_calls><｜DSML｜invoke name=\"f\"><｜DSML｜parameter name=\"a\" "
     "string=\"false\">x y</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
     kBadJson},
    {"deepseek-xml", "<｜DSML｜function_calls><｜DSML｜invoke name=\"f\">x</｜DSML｜invoke>",
     kBadCall},
    {"glm", "<tool_call>{\"name\": \"f\", \"arguments\": {}}\n</tool_call>", kBadCall},
    {"glm", "<tool_call></tool_call>", kBadCall},
    {"glm", "<tool_call>f<arg_key>a</arg_key></tool_call>", kBadCall},
    {"glm", "<tool_call>f\nhello</tool_call>", kBadCall},
    {"minimax", "<minimax:tool_call>f()</minimax:tool_call>", kBadCall},
    {"minimax", "<minimax:tool_call><invoke name=\"f\">x</invoke></minimax:tool_call>", kBadCall},
    {"minimax", "<minimax:tool_call><invoke name=\"\"></invoke></minimax:tool_call>", kBadCall},
    {"minimax-m3", "]<]minimax[>[<tool_call>]<]minimax[>[</tool_call>", kBadCall},
    {"minimax-m3",
     "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"f\">]<]minimax[>[<a>1]<]minimax[>[</b>"
     "]<]minimax[>[</invoke>]<]minimax[>[</tool_call>",
     kBadCall},
    {"muse", "<atem:function_calls></atem:function_calls>", kBadCall},
    {"seed", "<seed:tool_call>\n</seed:tool_call>", kBadCall},
    {"seed", "<seed:tool_call><function=f><parameter=a>1</function></seed:tool_call>", kIncomplete},
    {"kimi", "<|tool_calls_section_begin|><|tool_calls_section_end|>", kBadCall},
    {"kimi", "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{a}<|tool_call_end|>",
     kBadJson},
    {"kimi", "<|tool_call_begin|>functions.f:0<|tool_call_end|>", kBadCall},
    {"kimi-k3", "<|open|>tools<|sep|><|close|>tools<|sep|>", kBadCall},
    {"kimi-k3",
     "<|open|>tools<|sep|><|open|>call tool=\"f\"<|sep|><|open|>argument key=\"a\" "
     "type=\"number\"<|sep|>x<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
     kBadJson},
    {"harmony", "<|channel|>commentary to=functions.f<|message|>{\"a\": <|call|>", kBadJson},
    {"harmony", "<|channel|>commentary to=functions.f<|message|>[1]<|call|>", kBadCall},
    {"harmony", "<|channel|>commentary to=functions.f<|message|>{} so<|call|>", kBadJson},
    {"harmony", "<|channel|>commentary to=functions.f", kIncomplete},
    {"granite", "<|tool_call|>hello", kBadJson},
    {"granite", "<|tool_call|>[{\"name\": \"f\"}]", kBadCall},
    {"granite", "<|tool_call|>[1]", kBadCall},
    {"command", "<|START_ACTION|>[{\"tool_name\": \"f\"}]<|END_ACTION|>", kBadCall},
    {"command", "<|START_ACTION|>f<|END_ACTION|>", kBadJson},
    {"command", "Action: ```json\n[{]\n```", kBadJson},
    {"gemma", "<start_function_call>f{}<end_function_call>", kBadCall},
    {"gemma", "<start_function_call>call:f<end_function_call>", kBadCall},
    {"gemma", "<start_function_call>call:f{a}<end_function_call>", kBadCall},
    {"gemma", "<|tool_call>call:f{a:[1 2}<tool_call|>", kBadCall},
    {"phi4", "functools[{\"name\": \"f\", \"arguments\": 1}]", kBadCall},
    {"phi4", "<|tool_call|>{]", kBadJson},
    {"json-list", "[{\"name\": \"f\", \"arguments\": []}]", kBadCall},
    {"json-list", "[{\"name\": \"f\", \"arguments\": {}}, 1]", kBadCall},
    {"json-list", "[{\"name\": \"f\", \"arguments\": {}}] so", FaultKind::kUnexpectedText},
    {"tool-calls", "<tool_calls>[]</tool_calls>", kBadCall},
    {"tool-calls", "<TOOLCALL>f</TOOLCALL>", kBadJson},
    {"tool-calls", "<|tools_prefix|>[{\"f\": 1}]<|tools_suffix|>", kBadCall},
    {"tool-calls", "<|tools_prefix|>[{\"\": {}}]<|tools_suffix|>", kBadCall},
    {"gigachat", "<|function_call|>{\"name\": 1, \"arguments\": {}}", kBadCall},
    {"gigachat", "<|function_call|>hello", kBadJson},
    {"minicpm", "<function name=\"f\">x</function>", kBadCall},
    {"minicpm", "<function name=\"f\"><param name=\"a\">1</function>", kIncomplete},
    {"solar", "<|tool_calls|>hello<|calls|>", kBadCall},
    {"function-tag", "<function=f>{a}</function>", kBadJson},
    {"function-tag", "<function=f>{} {}</function>", kBadCall},
    {"functionary", "f\n{\"a\": 1} so", FaultKind::kUnexpectedText},
    {"pythonic", "[f(1)]", kBadCall},
    {"pythonic", "[f(a=b)]", kBadCall},
    {"pythonic", "[f(a=1) g(b=2)]", kBadCall},
    {"pythonic", "[f(a=1)] so", FaultKind::kUnexpectedText},
    {"pythonic", "<|tool_call_start|>[]<|tool_call_end|>", kBadCall},
    {"harmony", "to=functions.rm<|end|><|start|>assistant<|channel|>final<|message|>{}", kBadCall},
    {"kimi", "<|tool_call_begin|>  <|tool_call_argument_begin|>{}<|tool_call_end|>", kBadCall},
    {"pythonic", "[f(a=0x-8000000000000000)]", kBadCall},
    {"llama3-tag", "<|python_tag|>print(1)", kBadJson},
    {"llama3-tag", "<|python_tag|>brave_search.call(", kIncomplete},
};

TEST(CallFormats, WhatCannotBeReadIsAFaultWithAReason) {
  for (const Malformed& one : kMalformed) {
    const ParsedTurn parsed = ParseTurnIn(*CallFormatOf(one.format), one.turn, {}, TurnEnd::kEnded);
    EXPECT_FALSE(parsed.answer.has_value()) << one.turn;
    ASSERT_FALSE(parsed.faults.empty()) << one.turn;
    EXPECT_EQ(parsed.faults[0].kind, one.kind) << one.turn << ": " << parsed.faults[0].message;
    EXPECT_FALSE(parsed.faults[0].message.empty());
    EXPECT_LE(parsed.faults[0].range.end, std::string_view(one.turn).size());
  }
}

TEST(CallFormats, AnUnreadableCallDoesNotHideTheOthers) {
  const ParsedTurn kimi = ParseTurnIn(
      CallFormat::kKimiK2,
      "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{a}"
      "<|tool_call_end|><|tool_call_begin|>functions.g:1<|tool_call_argument_begin|>{}"
      "<|tool_call_end|><|tool_calls_section_end|>",
      {}, TurnEnd::kEnded);
  EXPECT_EQ(kimi.faults.size(), 1u);
  ASSERT_EQ(kimi.calls.size(), 1u);
  EXPECT_EQ(kimi.calls[0].name, "g");
  // The range of a section's first call begins with the section, whatever was wrong before.
  const std::string faulty =
      "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{a}<|tool_call_end|>";
  const ParsedTurn behind =
      ParseTurnIn(CallFormat::kKimiK2,
                  faulty +
                      "<|tool_calls_section_begin|><|tool_call_begin|>functions.g:1"
                      "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
                  {}, TurnEnd::kEnded);
  ASSERT_EQ(behind.calls.size(), 1u);
  EXPECT_EQ(behind.calls[0].range.begin, faulty.size());
  const ParsedTurn glm = ParseTurnIn(
      CallFormat::kGlm, "<tool_call>f so</tool_call><tool_call>g</tool_call>", {}, TurnEnd::kEnded);
  ASSERT_EQ(glm.calls.size(), 2u);
}

TEST(CallFormats, PythonValuesAreReadAsPythonReadsThem) {
  const ParsedTurn parsed = ParseTurnIn(
      CallFormat::kPythonic,
      "[f(a='it\\'s', b=\"\"\"two\n\"lines\" \"\"\", c=(1, 2), d={'k': [True, None]}, e=1_000, "
      "g=0x1F, h='a' \"b\", i='\\u4f60\\x41', j=-.5, k={1: 'x'}, l=(3))]",
      {}, TurnEnd::kEnded);
  ASSERT_EQ(parsed.calls.size(), 1u) << parsed.faults[0].message;
  EXPECT_EQ(parsed.calls[0].arguments,
            *ParseJson(R"({"a": "it's", "b": "two\n\"lines\" ", "c": [1, 2],
                           "d": {"k": [true, null]}, "e": 1000, "g": 31, "h": "ab", "i": "你A",
                           "j": -0.5, "k": {"1": "x"}, "l": 3})"));
}

TEST(CallFormats, ACallInAFormatThatWasNotChosenIsNoted) {
  for (const CallWriter& writer : CallWriters()) {
    if (writer.format == CallFormat::kFunctionary) continue;  // a line and an object: no marks
    const std::string turn = writer.write(SpokenCalls(writer)[0]);
    const std::string note = NoteOnUnreadCall(turn);
    EXPECT_NE(note.find("get_weather"), note.npos) << turn << "\n" << note;
  }
  for (const char* text : {"Hello", "[1] says so", "{\"a\": 1}", "a <tool_call> begins a call"}) {
    EXPECT_EQ(NoteOnUnreadCall(text), "") << text;
  }
}

}  // namespace
}  // namespace hone
