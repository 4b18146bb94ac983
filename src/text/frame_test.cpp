#include "text/frame.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace hone {
namespace {

TEST(PieceBuilder, RemembersWhichPartsAreLiteral) {
  PieceBuilder builder(Author::kUser);
  builder.Marker("<u>").Content("hi").Marker("</u>").Content("");
  const Piece piece = std::move(builder).Take();
  EXPECT_EQ(piece.text, "<u>hi</u>");
  EXPECT_EQ(piece.literal, (std::vector<ByteRange>{{3, 5}}));
}

TEST(PieceBuilder, ContentIsAlwaysUtf8) {
  PieceBuilder builder(Author::kTool);
  builder.Content("a\xFF");
  EXPECT_TRUE(IsUtf8(std::move(builder).Take().text));
}

// Whether results are all there is decided by the calls before them, when the caller does not say.
TEST(Frame, ABlockOfResultsStaysOpenUntilAllHaveCome) {
  const auto dialect = *NewDialect("hermes");
  Conversation conversation;
  conversation.messages.push_back({.role = Role::kUser, .content = "q"});
  Message calls{.role = Role::kAssistant};
  calls.calls = {{"f", Json::Object()}, {"g", Json::Object()}};
  conversation.messages.push_back(calls);
  conversation.messages.push_back({.role = Role::kTool, .content = "1"});
  const std::string one = TextOf(*dialect->Render(conversation));
  EXPECT_TRUE(one.ends_with("<tool_response>\n1\n</tool_response>")) << one;
  conversation.messages.push_back({.role = Role::kTool, .content = "2"});
  const std::string both = TextOf(*dialect->Render(conversation));
  EXPECT_TRUE(both.starts_with(one));
  EXPECT_TRUE(both.ends_with("</tool_response><|im_end|>\n<|im_start|>assistant\n")) << both;
}

}  // namespace
}  // namespace hone
