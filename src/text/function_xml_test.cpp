#include "text/function_xml.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/shared_data.h"
#include "text/call_format.h"

namespace hone {
namespace {

ParsedTurn Read(std::string_view turn, TurnEnd end = TurnEnd::kUnknown) {
  return ParseTurnIn(CallFormat::kQwenXml, turn, {"<|im_end|>"}, end);
}

TEST(FunctionXml, ACallHasItsArgumentsBetweenTags) {
  const std::string turn =
      "Let me "
      "see.\n<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\nx\ny\n"
      "</parameter>\n</function>\n</tool_call><|im_end|>";
  const ParsedTurn parsed = Read(turn);
  ASSERT_EQ(parsed.calls.size(), 1u);
  EXPECT_EQ(parsed.calls[0].name, "f");
  EXPECT_EQ(parsed.calls[0].arguments, Json::Of({{"a", 1}, {"b", "x\ny"}}));
  EXPECT_EQ(turn.substr(parsed.calls[0].range.begin, 11), "<tool_call>");
  EXPECT_EQ(parsed.calls[0].range.end, turn.size() - 10);
  EXPECT_EQ(parsed.content, "Let me see.\n");
  EXPECT_TRUE(parsed.faults.empty());
}

FaultKind OnlyFault(std::string_view turn) {
  const ParsedTurn parsed = Read(turn);
  EXPECT_EQ(parsed.faults.size(), 1u) << turn;
  EXPECT_FALSE(parsed.answer.has_value()) << turn;
  return parsed.faults.empty() ? FaultKind::kNoAction : parsed.faults[0].kind;
}

TEST(FunctionXml, WhatCannotBeReadIsATypedFault) {
  EXPECT_EQ(OnlyFault("<tool_call>"), FaultKind::kIncomplete);
  EXPECT_EQ(OnlyFault("<tool_call>\n<function=f"), FaultKind::kIncomplete);
  EXPECT_EQ(OnlyFault("<function=f>\n<parameter=a>\n1"), FaultKind::kIncomplete);
  EXPECT_EQ(OnlyFault("<function=f>\n<param"), FaultKind::kIncomplete);
  EXPECT_EQ(OnlyFault("<function=f>{}</function>"), FaultKind::kBadCall);
  EXPECT_EQ(OnlyFault("<think>\nhm"), FaultKind::kIncomplete);
  EXPECT_EQ(Read("no call").answer, "no call");
}

// The cases of llama.cpp's test-chat.cpp for this family.
TEST(FunctionXml, ReadsAsLlamaCppDoes) {
  HONE_NEED_SHARED(data, "data/chat-templates/tool_call_parse_cases.jsonl");
  int equal = 0, schemas = 0;
  const auto rows = ParseJsonLines(*ReadFile(data));
  ASSERT_TRUE(rows.ok());
  for (const Json& row : *rows) {
    if (*row.Find("family") != Json("qwen_xml")) continue;
    // Thoughts left in the content: an option of llama.cpp's, not of the format.
    if (*row.Find("reasoning_format") == Json("COMMON_REASONING_FORMAT_NONE")) continue;
    const std::string& input = row.Find("input")->AsString();
    const ParsedTurn parsed = Read(input);
    const Json& expect = *row.Find("expect");
    EXPECT_TRUE(parsed.faults.empty()) << input;
    EXPECT_EQ(parsed.content, expect.Find("content")->AsString()) << input;
    EXPECT_EQ(parsed.reasoning, expect.Find("reasoning_content")->AsString()) << input;
    const Json::Array& calls = expect.Find("tool_calls")->AsArray();
    ASSERT_EQ(parsed.calls.size(), calls.size()) << input;
    bool same = true;
    for (size_t i = 0; i < calls.size(); ++i) {
      EXPECT_EQ(parsed.calls[i].name, calls[i].Find("name")->AsString());
      same =
          same && parsed.calls[i].arguments == *ParseJson(calls[i].Find("arguments")->AsString());
    }
    // A number where the schema wants text: the dialect does not know schemas.
    const bool typed = input.find("<parameter=ref>\n5123123\n") != std::string::npos;
    EXPECT_EQ(same, !typed) << input;
    schemas += typed ? 1 : 0;
    equal += same ? 1 : 0;
  }
  EXPECT_EQ(schemas, 1);
  EXPECT_EQ(equal, 33);
}

}  // namespace
}  // namespace hone
