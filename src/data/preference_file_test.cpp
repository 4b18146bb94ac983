#include "data/preference_file.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(PreferenceFileTest, RowsHaveABeginningAndTwoContinuations) {
  std::string text =
      R"({"prompt": [{"role": "user", "content": "1 + 1"}, {"role": "assistant", "content": "why?"}, )"
      R"({"role": "user", "content": "so"}], "chosen": [{"role": "assistant", "content": "2"}], )"
      R"("rejected": [{"role": "assistant", "content": "3"}]})";
  text +=
      "\n"
      R"({"prompt": "2 + 2", "chosen": "4", "rejected": "5"})"
      "\n";
  const auto two = ReadPreferences(text, "pairs.jsonl");
  ASSERT_TRUE(two.ok()) << two.error().message();
  ASSERT_EQ(two->size(), 2u);
  const ConversationRow& chosen = (*two)[0].chosen;
  EXPECT_EQ(chosen.conversation.messages.size(), 4u);
  EXPECT_EQ(chosen.imitated, (std::vector<bool>{false, false, false, true}))
      << "the prompt's own turns are read only";
  EXPECT_EQ((*two)[1].rejected.conversation.messages[1].content, "5");
}

TEST(PreferenceFileTest, WithoutAPromptItIsWhatBothBeginWith) {
  const auto rows = ReadPreferences(
      R"([{"chosen": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],)"
      R"( "rejected": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "b"}]}])",
      "pairs.json");
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  EXPECT_EQ((*rows)[0].chosen.imitated, (std::vector<bool>{false, true}));
}

TEST(PreferenceFileTest, EveryBadRowIsNamed) {
  const auto bad = [](const char* row, const char* part) {
    const auto read = ReadPreferences(row, "p.jsonl");
    ASSERT_FALSE(read.ok()) << row;
    EXPECT_NE(read.error().message().find(part), std::string::npos) << read.error().message();
  };
  bad("", "p.jsonl: there are no pairs in it");
  bad("nonsense", "p.jsonl:1: ");
  bad("[1]", "p.jsonl:1: is no object");
  bad(R"({"prompt": "q", "chosen": "a"})", "rejected: is missing");
  bad(R"({"prompt": "q", "chosen": "a", "rejected": "a"})", "say the same");
  bad(R"({"prompt": "q", "chosen": 3, "rejected": "a"})", "chosen: is neither");
  bad(R"({"chosen": "a", "rejected": "b"})", "prompt: is missing");
  bad(R"({"prompt": "q", "chosen": [{"role": "user", "content": "x"}], "rejected": "a"})",
      "p.jsonl:1: chosen: ");
}

PlayedAttempt Attempt(int64_t task, int64_t sample, bool success, int calls, std::string answer) {
  Json::Array messages = {Json::Of({{"role", "user"}, {"content", "q"}})};
  for (int i = 0; i < calls; ++i) {
    messages.push_back(*ParseJson(
        R"({"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function",
            "function": {"name": "clock", "arguments": "{}"}}]})"));
    messages.push_back(Json::Of({{"role", "tool"}, {"tool_call_id", "c"}, {"content", "noon"}}));
  }
  messages.push_back(Json::Of({{"role", "assistant"}, {"content", std::move(answer)}}));
  return {.task = task,
          .sample = sample,
          .success = success,
          .conversation = Json::Of({{"messages", std::move(messages)}}),
          .tokens = 10};
}

TEST(PreferenceFileTest, AttemptsGivePairsOfRightAndWrongAndOfFewAndManyCalls) {
  const std::vector<PlayedAttempt> attempts = {
      Attempt(0, 0, false, 0, "one"), Attempt(0, 1, true, 2, "noon"),
      Attempt(0, 2, true, 1, "noon"), Attempt(0, 3, false, 0, "one"),  // the same once more
      Attempt(1, 0, false, 0, "one"), Attempt(2, 0, true, 1, "noon")};
  const std::vector<Json> pairs = PreferencePairsOf(attempts, {}, 8);
  ASSERT_EQ(pairs.size(), 2u) << "one task was never done, and of one there is a single attempt";
  EXPECT_EQ(*pairs[0].Find("because"), Json("right"));
  EXPECT_EQ(*pairs[1].Find("because"), Json("efficient"));
  EXPECT_EQ(pairs[0].Find("prompt")->AsArray().size(), 1u);
  EXPECT_EQ(pairs[0].Find("chosen")->AsArray().size(), 3u) << "one call";
  EXPECT_EQ(pairs[0].Find("rejected")->AsArray().size(), 1u);
  // Both of the second begin with the same call and its result.
  EXPECT_EQ(pairs[1].Find("prompt")->AsArray().size(), 3u);
  EXPECT_EQ(pairs[1].Find("rejected")->AsArray().size(), 3u);
  EXPECT_EQ(PreferencePairsOf(attempts, {}, 1).size(), 1u);
  // What is written is read.
  std::string text;
  for (const Json& pair : pairs) text += DumpJson(pair) + "\n";
  const auto rows = ReadPreferences(text, "made.jsonl");
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  EXPECT_EQ(rows->size(), 2u);
}

}  // namespace
}  // namespace hone
