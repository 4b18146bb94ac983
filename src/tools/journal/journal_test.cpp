#include "tools/journal/journal.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/file.h"
#include "support/random_call.h"
#include "tools/journal/redact.h"

namespace hone {
namespace {

std::unique_ptr<Journal> Opened(const std::filesystem::path& file) {
  auto journal = Journal::Open(file);
  EXPECT_TRUE(journal.ok()) << (journal.ok() ? "" : journal.error().message());
  return journal.ok() ? std::move(journal).value() : nullptr;
}

std::unique_ptr<Journal> OpenedForReading(const std::filesystem::path& file) {
  auto journal = Journal::OpenForReading(file);
  EXPECT_TRUE(journal.ok()) << (journal.ok() ? "" : journal.error().message());
  return journal.ok() ? std::move(journal).value() : nullptr;
}

JournalEntry NthCall(int64_t n) { return RandomCall(Rng(4), n); }

// A call that FindByContent may answer with.
JournalEntry Answered(int64_t n, std::string content) {
  JournalEntry entry = NthCall(n);
  entry.source = CallSource::kTool;
  entry.result.status = CallStatus::kOk;
  entry.result.injected = "";
  entry.result.content = std::move(content);
  return entry;
}

class JournalTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "journal.sqlite";
};

TEST_F(JournalTest, TenThousandCallsComeBackBitEqual) {
  constexpr int64_t kCalls = 10000;
  {
    auto journal = Opened(file_);
    std::vector<JournalEntry> calls;
    for (int64_t n = 0; n < kCalls; ++n) calls.push_back(NthCall(n));
    // Half in one go, half one by one.
    ASSERT_TRUE(journal->Add(std::span(calls).first(kCalls / 2), {}).ok());
    std::vector<std::jthread> threads;
    for (int64_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int64_t n = kCalls / 2 + t; n < kCalls; n += 8) {
          EXPECT_TRUE(journal->Finish(calls[static_cast<size_t>(n)]).ok());
        }
      });
    }
  }
  auto journal = OpenedForReading(file_);
  for (int64_t n = 0; n < kCalls; ++n) {
    const JournalEntry wanted = NthCall(n);
    const auto found = journal->Find(wanted.identity);
    ASSERT_TRUE(found.ok() && found->entry) << n;
    ASSERT_EQ(*found->entry, wanted);
    // Equality of JSON ignores the order of members, a replayed prompt does not.
    ASSERT_EQ(DumpJson(found->entry->content.arguments), DumpJson(wanted.content.arguments));
    EXPECT_FALSE(found->begun);
  }
  EXPECT_EQ(journal->Statistics()->calls, kCalls);
}

TEST_F(JournalTest, AnUnknownCallIsNeitherFoundNorBegun) {
  const auto found = Opened(file_)->Find({"r", "t", "0", 0, 0});
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->entry || found->begun);
}

TEST_F(JournalTest, SiblingsThatAskTheSameKeepTheirOwnAnswers) {
  auto journal = Opened(file_);
  JournalEntry first = Answered(0, "sunny"), second = first;
  first.identity.path = "0";
  second.identity.path = "1";
  second.result.content = "rainy";
  ASSERT_TRUE(journal->Finish(first).ok());
  ASSERT_TRUE(journal->Finish(second).ok());
  EXPECT_EQ(journal->Find(first.identity)->entry, first);
  EXPECT_EQ(journal->Find(second.identity)->entry, second);
  EXPECT_EQ(*journal->FindByContent(first.content), first) << "the earlier one";
}

TEST_F(JournalTest, OnlyRealAnswersWithoutFaultAreFoundByContent) {
  auto journal = Opened(file_);
  JournalEntry timeout = Answered(0, "x"), faulty = Answered(1, "x"), simulated = Answered(2, "x");
  JournalEntry error = Answered(3, "no such city"), later = Answered(4, "sunny");
  timeout.result.status = CallStatus::kTimeout;
  faulty.result.injected = "stale";
  simulated.source = CallSource::kSimulator;
  error.result.status = CallStatus::kToolError;
  for (JournalEntry* entry : {&timeout, &faulty, &simulated, &error, &later}) {
    EXPECT_FALSE(*journal->FindByContent(error.content));
    entry->content = error.content;
    ASSERT_TRUE(journal->Finish(*entry).ok());
    if (entry == &error) break;
  }
  later.content = error.content;
  ASSERT_TRUE(journal->Finish(later).ok());
  EXPECT_EQ(*journal->FindByContent(error.content), error);
}

TEST_F(JournalTest, ContentIsEqualWhateverTheOrderOfArguments) {
  CallContent a{7, "t", *ParseJson(R"({"x":1,"y":{"b":2,"a":3}})"), ""};
  CallContent b{7, "t", *ParseJson(R"({"y":{"a":3,"b":2},"x":1})"), ""};
  EXPECT_EQ(a.Hash(), b.Hash());
  std::set<std::string> hashes = {a.Hash()};
  b.environment_seed = 8;
  hashes.insert(b.Hash());
  b.tool = "u";
  hashes.insert(b.Hash());
  b.state_hash = "s";
  hashes.insert(b.Hash());
  b.arguments.Set("x", 1.0);
  hashes.insert(b.Hash());
  EXPECT_EQ(hashes.size(), 5u);
  // Written down once and for ever.
  EXPECT_EQ((CallContent{7, "t", *ParseJson(R"({"x":1})"), ""}.Hash()),
            ContentHash(*ParseJson(
                R"({"arguments":{"x":1},"environment_seed":7,"state_hash":"","tool":"t"})")));
}

TEST_F(JournalTest, ASecondOutcomeIsRefusedUnlessItIsEqual) {
  auto journal = Opened(file_);
  JournalEntry entry = NthCall(3);
  ASSERT_TRUE(journal->Finish(entry).ok());
  JournalEntry again = entry;
  again.recorded_ms += 5;
  EXPECT_TRUE(journal->Finish(again).ok());
  EXPECT_EQ(journal->Find(entry.identity)->entry, entry) << "the first stays";
  for (int change = 0; change < 4; ++change) {
    JournalEntry other = entry;
    if (change == 0) other.result.content += "!";
    if (change == 1) other.content.tool += "!";
    if (change == 2) other.attempts.emplace_back();
    if (change == 3) other.result.latency_us += 1;
    const auto refused = journal->Finish(other);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(refused.error().message().find(entry.identity.Text()), std::string::npos);
  }
  EXPECT_EQ(journal->Find(entry.identity)->entry, entry);
}

TEST_F(JournalTest, ABegunCallIsBegunUntilItsOutcomeAndNeverBegunTwice) {
  auto journal = Opened(file_);
  JournalEntry entry = NthCall(0);
  entry.effect = Effect::kIrreversible;
  ASSERT_TRUE(journal->Begin(entry.identity, entry.content, entry.effect).ok());
  auto found = journal->Find(entry.identity);
  EXPECT_TRUE(found->begun && !found->entry);
  const auto again = journal->Begin(entry.identity, entry.content, entry.effect);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message().find("interrupted"), std::string::npos);

  JournalEntry other = entry;
  other.content.tool = "something else";
  EXPECT_FALSE(journal->Finish(other).ok()) << "an outcome of what was not begun";
  EXPECT_TRUE(journal->Find(entry.identity)->begun);

  ASSERT_TRUE(journal->Finish(entry).ok());
  found = journal->Find(entry.identity);
  EXPECT_FALSE(found->begun);
  EXPECT_EQ(found->entry, entry);
  const auto late = journal->Begin(entry.identity, entry.content, entry.effect);
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().message().find("outcome already"), std::string::npos);
}

TEST_F(JournalTest, WhatCannotBeReplayedIsNotRecorded) {
  auto journal = Opened(file_);
  JournalEntry wrong_call = NthCall(0), not_utf8 = NthCall(1), bad_attempt = NthCall(2);
  wrong_call.result.call += 1;
  not_utf8.result.content = "\xff";
  bad_attempt.attempts = {{CallStatus::kTimeout, "\xc3", 0, ""}, {}};
  for (const JournalEntry* entry : {&wrong_call, &not_utf8, &bad_attempt}) {
    EXPECT_EQ(journal->Finish(*entry).error().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(journal->Statistics()->calls, 0);
}

TEST_F(JournalTest, TextWithZeroBytesComesBackWhole) {
  auto journal = Opened(file_);
  JournalEntry entry = NthCall(0);
  entry.identity.task = std::string("a\0b", 3);
  entry.result.content = std::string("x\0y\0", 4);
  ASSERT_TRUE(journal->Finish(entry).ok());
  EXPECT_EQ(journal->Find(entry.identity)->entry, entry);
  entry.identity.task = "a";
  EXPECT_FALSE(journal->Find(entry.identity)->entry);
}

TEST_F(JournalTest, AJournalOpenedForReadingIsNotWritten) {
  Opened(file_).reset();
  auto journal = OpenedForReading(file_);
  EXPECT_EQ(journal->Finish(NthCall(0)).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Journal::OpenForReading(directory_.path() / "absent").error().code(),
            ErrorCode::kNotFound);
}

TEST_F(JournalTest, AReaderSeesWhatIsCommittedWhileTheWriterWrites) {
  auto writer = Opened(file_);
  auto reader = OpenedForReading(file_);
  for (int64_t n = 0; n < 50; ++n) {
    EXPECT_FALSE(reader->Find(NthCall(n).identity)->entry);
    ASSERT_TRUE(writer->Finish(NthCall(n)).ok());
    EXPECT_EQ(reader->Find(NthCall(n).identity)->entry, NthCall(n));
  }
}

TEST_F(JournalTest, ManyThreadsRecordAndReadAtOnce) {
  auto journal = Opened(file_);
  {
    std::vector<std::jthread> threads;
    for (int64_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int64_t n = t; n < 400; n += 8) {
          const JournalEntry entry = NthCall(n);
          if (entry.effect == Effect::kWrites) {
            EXPECT_TRUE(journal->Begin(entry.identity, entry.content, entry.effect).ok());
            EXPECT_TRUE(journal->Find(entry.identity)->begun);
          }
          EXPECT_TRUE(journal->Finish(entry).ok());
          EXPECT_EQ(journal->Find(entry.identity)->entry, entry);
          // What another thread is at is whole or not there.
          const JournalEntry other = NthCall((n + 1) % 400);
          const auto found = journal->Find(other.identity);
          EXPECT_TRUE(found.ok());
          EXPECT_EQ(found->entry.value_or(other), other);
        }
      });
    }
  }
  EXPECT_EQ(journal->Statistics()->calls, 400);
  EXPECT_EQ(journal->Statistics()->begun, 0);
}

TEST_F(JournalTest, ACallThatGetsItsOutcomeWhileLookedForIsNeverUnknown) {
  auto journal = Opened(file_);
  for (int64_t n = 0; n < 40; ++n) {
    JournalEntry entry = NthCall(n);
    entry.effect = Effect::kWrites;
    ASSERT_TRUE(journal->Begin(entry.identity, entry.content, entry.effect).ok());
    std::jthread finisher([&] { EXPECT_TRUE(journal->Finish(entry).ok()); });
    while (true) {
      const auto found = journal->Find(entry.identity);
      ASSERT_TRUE(found.ok() && (found->begun || found->entry)) << "it would be carried out again";
      if (found->entry) break;
    }
  }
}

TEST_F(JournalTest, NoByteOfASecretReachesTheDisk) {
  const std::string secrets[] = {"hunter2-hunter2", "sk-proj-abcd1234efgh5678ijkl",
                                 "from-the-env-77"};
  RedactionOptions options = RedactionOptions::Default();
  options.environment = {"KEY"};
  const Redactor redactor =
      *Redactor::Create(options, [&](const std::string&) { return std::optional(secrets[2]); });
  auto journal = Opened(file_);
  for (int64_t n = 0; n < 100; ++n) {
    JournalEntry entry = NthCall(n);
    entry.content.arguments =
        redactor.Arguments(Json::Of({{"password", secrets[0]}, {"q", "use " + secrets[1]}}));
    entry.result.content = redactor.Content(R"({"token": ")" + secrets[0] + R"("} )" + secrets[2]);
    entry.attempts = {
        {CallStatus::kTimeout, redactor.Content("GET /?api_key=" + secrets[0]), 1, ""},
        {CallStatus::kOk, entry.result.content, 1, ""}};
    entry.effect = Effect::kWrites;
    ASSERT_TRUE(journal->Begin(entry.identity, entry.content, entry.effect).ok());
    ASSERT_TRUE(n % 2 == 0 || journal->Finish(entry).ok());
  }
  // While the log is there, and when all of it is in the file.
  for (const bool closed : {false, true}) {
    if (closed) journal.reset();
    size_t bytes = 0;
    for (const auto& each : std::filesystem::directory_iterator(directory_.path())) {
      const std::string content = *ReadFile(each.path());
      bytes += content.size();
      for (const std::string& secret : secrets) {
        EXPECT_EQ(content.find(secret), std::string::npos) << each.path();
      }
    }
    EXPECT_GT(bytes, 10000u);
  }
}

}  // namespace
}  // namespace hone
