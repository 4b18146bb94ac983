#include "serve/trained_manner.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

ServedChat Asked(const std::string& more) {
  return ReadChatRequest(R"({"model": "m", "messages": [{"role": "user", "content": "hi"}])" +
                         more + "}")
      .value();
}
std::string ToolNamed(const std::string& name) {
  return R"(, "tools": [{"type": "function", "function": {"name": ")" + name + R"("}}])";
}

TEST(TrainedMannerTest, AListThatItNeverSawIsLeftOut) {
  const AgentCard card{.dialect = "tagged:desk", .tools_listed = false, .tools = {"weather"}};
  ServedChat request = Asked(ToolNamed("weather"));
  std::string note;
  ASSERT_TRUE(AskAsTrained(card, &request, &note).ok());
  EXPECT_TRUE(request.conversation.tools.empty());
  EXPECT_NE(note.find("left out"), std::string::npos);
  // The client may still ask without.
  ServedChat without = Asked("");
  note.clear();
  ASSERT_TRUE(AskAsTrained(card, &without, &note).ok());
  EXPECT_EQ(note, "");
}

TEST(TrainedMannerTest, AToolThatItCannotKnowIsRefusedWithThoseThatItHas) {
  const AgentCard card{.dialect = "tagged:desk", .tools_listed = false, .tools = {"weather"}};
  ServedChat request = Asked(ToolNamed("stocks"));
  std::string note;
  const Result<void> asked = AskAsTrained(card, &request, &note);
  ASSERT_FALSE(asked.ok());
  EXPECT_TRUE(asked.error().message().starts_with("tools: ")) << asked.error().message();
  EXPECT_NE(asked.error().message().find("\"stocks\""), std::string::npos);
  EXPECT_NE(asked.error().message().find("it has weather"), std::string::npos);
}

TEST(TrainedMannerTest, WhoReadsListsGetsThem) {
  const AgentCard card{.dialect = "hermes", .tools_listed = true, .tools = {"weather"}};
  ServedChat request = Asked(ToolNamed("stocks"));
  std::string note;
  ASSERT_TRUE(AskAsTrained(card, &request, &note).ok());
  EXPECT_EQ(request.conversation.tools.size(), 1u);
}

TEST(TrainedMannerTest, TheSystemMessageOfTrainingStandsWhereThereIsNone) {
  const AgentCard card{.dialect = "hermes", .system = "You plan."};
  ServedChat request = Asked("");
  std::string note;
  ASSERT_TRUE(AskAsTrained(card, &request, &note).ok());
  ASSERT_EQ(request.conversation.messages.size(), 2u);
  EXPECT_EQ(request.conversation.messages[0].content, "You plan.");
  EXPECT_EQ(request.call_ids.size(), 2u);
  ServedChat own = ReadChatRequest(
                       R"({"model": "m", "messages": [{"role": "system", "content": "mine"},
                           {"role": "user", "content": "hi"}]})")
                       .value();
  ASSERT_TRUE(AskAsTrained(card, &own, &note).ok());
  EXPECT_EQ(own.conversation.messages.size(), 2u);
}

}  // namespace
}  // namespace hone
