#include "data/conversation_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "data/conversation_mixture.h"

namespace hone {
namespace {

std::string Row(int number) {
  return R"({"prompt": "question )" + std::to_string(number) + R"(", "completion": "answer )" +
         std::to_string(number) + "\"}\n";
}

std::vector<bool> HeldOutOf(const std::vector<ConversationRow>& rows, double share) {
  std::vector<bool> held;
  for (const ConversationRow& row : rows) held.push_back(IsHeldOut(row, share));
  return held;
}

TEST(ConversationFileTest, EveryBadRowIsNamedByItsLine) {
  const ConversationFile file =
      ReadConversations(Row(1) + "\n{\"broken\n" + R"({"texts": "a"})" + "\n" + Row(2));
  EXPECT_EQ(file.rows.size(), 2u);
  EXPECT_EQ(file.lines, (std::vector<int64_t>{1, 5}));
  ASSERT_EQ(file.problems.size(), 2u);
  EXPECT_EQ(file.problems[0].line, 3);
  EXPECT_NE(file.problems[0].text.find("not JSON: column"), std::string::npos);
  EXPECT_EQ(file.problems[1].line, 4);
  const Result<void> problems = NoProblems(file, "chats.jsonl", 1);
  EXPECT_NE(problems.error().message().find("chats.jsonl:3: "), std::string::npos);
  EXPECT_NE(problems.error().message().find("and 1 more"), std::string::npos);
}

TEST(ConversationFileTest, TextsAreRowsBesideConversations) {
  const ConversationFile file =
      ReadConversations(R"({"text": "one"})" + std::string("\n") + Row(2), KeepMessages::kYes);
  ASSERT_EQ(file.rows.size(), 2u);
  EXPECT_EQ(file.rows[0].text, "one");
  EXPECT_TRUE(file.rows[0].conversation.messages.empty());
  EXPECT_EQ(file.rows[1].text, "");
  EXPECT_EQ(file.messages[0], Json::Of({{"text", "one"}}));
  const auto other = ReadConversations(R"({"text": "two"})");
  EXPECT_NE(NameOf(file.rows[0]), NameOf(other.rows[0]));
}

TEST(ConversationFileTest, OneJsonArrayIsReadAsWell) {
  const ConversationFile file = ReadConversations(
      R"([{"prompt": "a", "completion": "b"}, {"instruction": "a", "output": "b"}])");
  EXPECT_EQ(file.rows.size(), 2u);
  EXPECT_EQ(file.shapes.at(RowShape::kAlpaca), 1);
}

TEST(ConversationFileTest, WhatIsNoSuchFileIsSaid) {
  EXPECT_NE(ReadConversations("PAR1\x15").problems[0].text.find("Parquet"), std::string::npos);
  EXPECT_NE(ReadConversations("").problems[0].text.find("no conversations"), std::string::npos);
  EXPECT_NE(ReadConversations("[1,").problems[0].text.find("not JSON"), std::string::npos);
}

class ConversationMixtureTest : public testing::Test {
 protected:
  std::string Write(const char* name, int first, int count) {
    std::string text;
    for (int i = first; i < first + count; ++i) text += Row(i);
    const std::string file = (folder_.path() / name).string();
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    return file;
  }
  TemporaryDirectory folder_;
};

TEST_F(ConversationMixtureTest, AShareIsHeldOutByWhatTheRowsSay) {
  std::string rows, turned;
  for (int i = 0; i < 1000; ++i) rows += Row(i);
  for (int i = 999; i >= 0; --i) turned += Row(i);
  const std::vector<bool> held = HeldOutOf(ReadConversations(rows).rows, 0.1);
  const auto count = std::count(held.begin(), held.end(), true);
  EXPECT_GT(count, 70);
  EXPECT_LT(count, 130);
  // In whatever order, and whatever is added: nobody moves, and the same rows stay together.
  const std::vector<bool> other = HeldOutOf(ReadConversations(turned).rows, 0.1);
  const std::vector<bool> more = HeldOutOf(ReadConversations(rows + Row(2000) + Row(3)).rows, 0.1);
  for (size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(held[i], other[999 - i]);
    EXPECT_EQ(held[i], more[i]);
  }
  EXPECT_EQ(more[1001], held[3]);
  const std::vector<bool> none = HeldOutOf(ReadConversations(rows).rows, 0);
  EXPECT_EQ(std::count(none.begin(), none.end(), true), 0);
}

TEST_F(ConversationMixtureTest, EveryRowComesOncePerEpoch) {
  const MixtureOptions options{.files = {Write("a", 0, 20), Write("b", 20, 10)}, .held_out = 0};
  const ConversationMixture mixture = ConversationMixture::Load(options).value();
  EXPECT_EQ(mixture.epoch(), 30u);
  ConversationOrder order(&mixture, Rng(1));
  std::vector<std::vector<std::pair<size_t, size_t>>> epochs(2);
  for (uint64_t i = 0; i < 60; ++i) epochs[i / 30].push_back(order.At(i));
  EXPECT_NE(epochs[0], epochs[1]);
  // Whoever goes on in the middle finds the same.
  ConversationOrder later(&mixture, Rng(1));
  EXPECT_EQ(later.At(47), epochs[1][17]);
  for (auto& epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    EXPECT_EQ(std::unique(epoch.begin(), epoch.end()), epoch.end());
  }
}

TEST_F(ConversationMixtureTest, AFileOfHalfTheWeightTakesTwoEpochs) {
  const MixtureOptions options{
      .files = {Write("a", 0, 8), Write("b", 8, 8)}, .weights = {2, 0.5}, .held_out = 0};
  const ConversationMixture mixture = ConversationMixture::Load(options).value();
  EXPECT_EQ(mixture.epoch(), 20u);
  ConversationOrder order(&mixture, Rng(3));
  std::map<std::pair<size_t, size_t>, int> seen;
  for (uint64_t i = 0; i < 40; ++i) ++seen[order.At(i)];
  for (size_t row = 0; row < 8; ++row) {
    EXPECT_EQ((seen[{0, row}]), 4);
    EXPECT_EQ((seen[{1, row}]), 1);
  }
}

TEST_F(ConversationMixtureTest, ProblemsOfAllFilesComeAtOnce) {
  const std::string bad = (folder_.path() / "bad.jsonl").string();
  ASSERT_TRUE(WriteFileAtomic(bad, "{}\n").ok());
  const auto mixture = ConversationMixture::Load({.files = {bad, "nowhere.jsonl"}});
  ASSERT_FALSE(mixture.ok());
  EXPECT_NE(mixture.error().message().find("bad.jsonl:1: "), std::string::npos);
  EXPECT_NE(mixture.error().message().find("nowhere.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace hone
