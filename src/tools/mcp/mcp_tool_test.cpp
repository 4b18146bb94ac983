#include "tools/mcp/mcp_tool.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Json Parsed(std::string_view text) { return ParseJson(text).value(); }

std::string Text(std::string_view result, bool has_output_schema = false) {
  return McpResultText(Parsed(result), has_output_schema);
}

TEST(McpTool, ASpecHasNameDescriptionAndSchemas) {
  const auto spec = ToolSpecFromMcp(Parsed(
      R"({"name": "w", "title": "W", "description": "weather",
          "inputSchema": {"type": "object", "required": ["city"]},
          "outputSchema": {"type": "object"}})"));
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->name, "w");
  EXPECT_EQ(spec->description, "weather");
  EXPECT_EQ(spec->parameters, Parsed(R"({"type": "object", "required": ["city"]})"));
  EXPECT_EQ(spec->output, Parsed(R"({"type": "object"})"));
}

TEST(McpTool, HintsSayWhatACallDoes) {
  auto effect = [](const std::string& hints) {
    return ToolSpecFromMcp(
               Parsed(R"({"name": "x", "inputSchema": {"type": "object"}, "annotations": )" +
                      hints + "}"))
        ->effect;
  };
  EXPECT_EQ(effect(R"({"readOnlyHint": true, "destructiveHint": true})"), Effect::kReads);
  EXPECT_EQ(effect(R"({"readOnlyHint": false, "destructiveHint": true})"), Effect::kIrreversible);
  EXPECT_EQ(effect(R"({"destructiveHint": true, "idempotentHint": true})"), Effect::kWrites);
  EXPECT_EQ(effect(R"({"destructiveHint": false})"), Effect::kWrites);
  EXPECT_EQ(effect("{}"), Effect::kWrites);
  EXPECT_EQ(effect("null"), Effect::kWrites);
}

TEST(McpTool, ASchemaThatCannotBeCheckedIsToldInsteadOfChecked) {
  const auto spec = ToolSpecFromMcp(
      Parsed(R"({"name": "x", "description": "d", "outputSchema": {"$ref": "http://a/b"},
                 "inputSchema": {"type": "object", "$ref": "http://a/b"}})"));
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->parameters, Parsed(R"({"type": "object"})"));
  EXPECT_EQ(spec->description,
            "d\nThe arguments, by their JSON Schema: "
            R"({"type":"object","$ref":"http://a/b"})");
  EXPECT_EQ(spec->output, std::nullopt);
  const auto checker = ArgumentChecker::For(*spec);
  ASSERT_TRUE(checker.ok());
  EXPECT_EQ(checker->Problem(Json::Of({{"anything", 1}})), std::nullopt);
  EXPECT_NE(checker->Problem(Json(1)), std::nullopt);
}

TEST(McpTool, SomeToolsRunAsTasksOnly) {
  EXPECT_TRUE(NeedsTask(Parsed(R"({"execution": {"taskSupport": "required"}})")));
  EXPECT_FALSE(NeedsTask(Parsed(R"({"execution": {"taskSupport": "optional"}})")));
  EXPECT_FALSE(NeedsTask(Parsed(R"({"name": "x"})")));
}

TEST(McpTool, AToolWithoutNameOrSchemaIsRefused) {
  EXPECT_FALSE(ToolSpecFromMcp(Parsed(R"({"inputSchema": {}})")).ok());
  EXPECT_FALSE(ToolSpecFromMcp(Parsed(R"({"name": 5, "inputSchema": {}})")).ok());
  EXPECT_FALSE(ToolSpecFromMcp(Parsed(R"({"name": "x"})")).ok());
  EXPECT_FALSE(ToolSpecFromMcp(Json("x")).ok());
}

TEST(McpTool, TextsAreJoinedAndTheRestIsDescribed) {
  EXPECT_EQ(Text(R"({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})"),
            "a\nb");
  EXPECT_EQ(Text(R"({"content": [{"type": "image", "mimeType": "image/png", "data": "AAAA"},
                                 {"type": "audio", "mimeType": "audio/wav", "data": "AAA="}]})"),
            "[image (image/png, 3 bytes)]\n[audio (audio/wav, 2 bytes)]");
  EXPECT_EQ(
      Text(R"({"content": [
              {"type": "resource", "resource": {"uri": "a://b", "mimeType": "text/plain", "text": "t"}},
              {"type": "resource", "resource": {"uri": "a://c", "blob": "AAAAAA=="}},
              {"type": "resource_link", "uri": "a://d", "name": "d", "size": 9, "description": "the d"},
              {"type": "hologram"}]})"),
      "[resource a://b (text/plain)]\nt\n[resource a://c (4 bytes)]\n"
      "[link to resource a://d d (9 bytes): the d]\n[content of the unknown type \"hologram\"]");
}

TEST(McpTool, StructuredContentIsPreferredWhereItIsPromised) {
  constexpr char kBoth[] =
      R"({"content": [{"type": "text", "text": "warm"}], "structuredContent": {"t": 22.5}})";
  EXPECT_EQ(Text(kBoth, true), R"({"t":22.5})");
  EXPECT_EQ(Text(kBoth, false), "warm");
  EXPECT_EQ(Text(R"({"content": [], "structuredContent": {"t": 1}})"), R"({"t":1})");
  // An error is told by its text.
  EXPECT_EQ(Text(R"({"content": [{"type": "text", "text": "no"}], "structuredContent": {},
                     "isError": true})",
                 true),
            "no");
}

TEST(McpTool, AnyShapeOfAResultGivesAText) {
  for (const char* odd : {"{}", R"({"content": 5})", R"({"content": []})"})
    EXPECT_EQ(Text(odd), "");
  EXPECT_EQ(Text(R"({"content": [5, {"type": "text"}]})"), "[content of the unknown type \"\"]\n");
  EXPECT_EQ(Text(R"({"content": [{"type": "resource"}, {"type": "image"}]})"),
            "[resource ]\n[image]");
}

TEST(McpTool, RepliesSayWhoIsToBlame) {
  EXPECT_EQ(ReplyOfMcp(Parsed(R"({"content": [{"type": "text", "text": "a"}]})"), false),
            Answered("a"));
  EXPECT_EQ(
      ReplyOfMcp(Parsed(R"({"content": [{"type": "text", "text": "a"}], "isError": true})"), false),
      Refuted("a"));
  EXPECT_EQ(ReplyOfMcp(JsonRpcError{kJsonRpcInvalidParams, "no such city", {}}, false),
            Refuted("no such city"));
  EXPECT_EQ(ReplyOfMcp(JsonRpcError{-32603, "broken", {}}, false).status, CallStatus::kUnavailable);
  EXPECT_EQ(ReplyOfMcp(Json(5), false).status, CallStatus::kUnavailable);
  const ToolReply busy = ReplyOfMcp(McpFailure{.error = Error(ErrorCode::kUnavailable, "busy"),
                                               .refused = true,
                                               .retry_after = std::chrono::milliseconds(7)},
                                    false);
  EXPECT_EQ(busy.status, CallStatus::kUnavailable);
  EXPECT_EQ(busy.blame, Blame::kTool);
  EXPECT_TRUE(busy.refused);
  EXPECT_EQ(busy.retry_after, std::chrono::milliseconds(7));
  EXPECT_EQ(ReplyOfMcp(McpFailure{Error(ErrorCode::kDeadline, "late")}, false).status,
            CallStatus::kTimeout);
}

}  // namespace
}  // namespace hone
