#include "data/attempt_log.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

const Json kSettings = Json::Of({{"model", "teacher"}, {"seed", 1}});

Json Conversation(const std::string& answer) {
  return Json::Of(
      {{"messages", Json(Json::Array{Json::Of({{"role", "user"}, {"content", "1 + 1"}}),
                                     Json::Of({{"role", "assistant"}, {"content", answer}})})}});
}

PlayedAttempt Attempt(int64_t task, int64_t sample, std::optional<bool> success,
                      const std::string& answer = "2") {
  return {.task = task,
          .sample = sample,
          .id = "t" + std::to_string(task),
          .ending = "answered",
          .success = success,
          .conversation = Conversation(answer),
          .tokens = 3};
}

class AttemptLogTest : public testing::Test {
 protected:
  std::unique_ptr<AttemptLog> Open(const Json& settings = kSettings) {
    auto log = AttemptLog::Open(file_, settings);
    EXPECT_TRUE(log.ok()) << log.error().message();
    return *std::move(log);
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "out.attempts.jsonl";
};

TEST_F(AttemptLogTest, WhoeverIsKilledLosesOnlyWhatWasUnderWay) {
  ASSERT_TRUE(Open()->Add(Attempt(0, 0, true)).ok());
  ASSERT_TRUE(Open()->Add(Attempt(2, 1, false)).ok());
  std::string text = *ReadFile(file_);
  ASSERT_TRUE(WriteFileAtomic(file_, text + R"({"task": 3, "sam)").ok());
  const auto log = Open();
  EXPECT_EQ(*ReadFile(file_), text) << "half a line is dropped";
  EXPECT_TRUE(log->Has(0, 0));
  EXPECT_TRUE(log->Has(2, 1));
  EXPECT_FALSE(log->Has(3, 0));
  ASSERT_TRUE(log->Add(Attempt(3, 0, true)).ok());
  EXPECT_EQ(log->Summarise(10, 10, {}).attempts, 3);
  EXPECT_EQ(log->Summarise(3, 1, {}).attempts, 1) << "what is asked for is counted";
}

TEST_F(AttemptLogTest, SuccessesBecomeConversationsEachOnce) {
  const auto log = Open();
  for (const PlayedAttempt& attempt :
       {Attempt(1, 0, true), Attempt(1, 1, true), Attempt(1, 2, true, "two"), Attempt(0, 0, true),
        Attempt(0, 1, false)}) {
    ASSERT_TRUE(log->Add(attempt).ok());
  }
  PlayedAttempt folded = Attempt(2, 0, true);
  folded.conversation = Json();
  ASSERT_TRUE(log->Add(folded).ok());
  const AttemptSummary sum = log->Summarise(9, 9, {});
  EXPECT_EQ(sum.attempts, 6);
  EXPECT_EQ(sum.succeeded, 5);
  EXPECT_EQ(sum.tasks, 3);
  EXPECT_EQ(sum.tasks_succeeded, 3);
  EXPECT_EQ(sum.repeated, 1);
  EXPECT_EQ(sum.unreadable, 1);
  EXPECT_EQ(sum.tokens, 18);
  EXPECT_EQ(sum.conversations,
            (std::vector<Json>{Conversation("2"), Conversation("2"), Conversation("two")}));
}

TEST_F(AttemptLogTest, RewardsCountWhereTheyAreAskedForOrNobodyElseJudges) {
  PlayedAttempt attempt = Attempt(0, 0, std::nullopt);
  EXPECT_FALSE(IsWanted(attempt, {})) << "nobody says that it went well";
  attempt.reward = 0.5;
  EXPECT_TRUE(IsWanted(attempt, {}));
  EXPECT_FALSE(IsWanted(attempt, {.at_least = 0.6}));
  attempt.success = false;
  EXPECT_FALSE(IsWanted(attempt, {}));
  EXPECT_TRUE(IsWanted(attempt, {.at_least = 0.5}));
}

TEST_F(AttemptLogTest, OtherSettingsAndOtherFilesAreRefused) {
  ASSERT_TRUE(Open()->Add(Attempt(0, 0, true)).ok());
  const auto other = AttemptLog::Open(file_, Json::Of({{"model", "teacher"}, {"seed", 2}}));
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message().find("seed is 1 there and 2 here"), std::string::npos)
      << other.error().message();
  const auto held = Open();
  EXPECT_FALSE(AttemptLog::Open(file_, kSettings).ok()) << "one process at a time";
  const std::filesystem::path foreign = directory_.path() / "chats.jsonl";
  ASSERT_TRUE(WriteFileAtomic(foreign, "{\"messages\": []}\n").ok());
  EXPECT_FALSE(AttemptLog::Open(foreign, kSettings).ok());
  EXPECT_EQ(*ReadFile(foreign), "{\"messages\": []}\n") << "it is left as it was";
}

}  // namespace
}  // namespace hone
