#include "tools/journal/journal_transfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "support/random_call.h"
#include "tools/journal/journal_json.h"

namespace hone {
namespace {

std::unique_ptr<Journal> Opened(const std::filesystem::path& file) {
  auto journal = Journal::Open(file);
  EXPECT_TRUE(journal.ok()) << (journal.ok() ? "" : journal.error().message());
  return journal.ok() ? std::move(journal).value() : nullptr;
}

JournalEntry NthCall(int64_t n) { return RandomCall(Rng(4), n); }

class JournalTransferTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(JournalTransferTest, MergingKeepsEqualCallsOnceAndReportsConflicts) {
  auto a = Opened(directory_.path() / "a"), b = Opened(directory_.path() / "b");
  for (int64_t n = 0; n < 1200; n += 100) ASSERT_TRUE(a->Finish(NthCall(n)).ok());
  for (int64_t n = 1000; n < 1500; n += 50) ASSERT_TRUE(b->Finish(NthCall(n)).ok());
  JournalEntry conflict = NthCall(1), mine = NthCall(1), begun = NthCall(2), done = NthCall(3);
  conflict.result.content += "!";
  ASSERT_TRUE(a->Finish(mine).ok());
  ASSERT_TRUE(b->Finish(conflict).ok());
  ASSERT_TRUE(b->Begin(begun.identity, begun.content, Effect::kWrites).ok());
  // Begun here, ended there, in both directions.
  ASSERT_TRUE(a->Begin(done.identity, done.content, done.effect).ok());
  ASSERT_TRUE(b->Finish(done).ok());
  JournalEntry ended = NthCall(5);
  ASSERT_TRUE(a->Finish(ended).ok());
  ASSERT_TRUE(b->Begin(ended.identity, ended.content, ended.effect).ok());

  const auto report = MergeJournal(b.get(), a.get());
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(report->added, 10 - 2 + 1 + 1) << "8 calls, one begun, one outcome of a begun";
  EXPECT_EQ(report->equal, 2 + 1);
  EXPECT_EQ(report->conflicts, std::vector{mine.identity});
  EXPECT_EQ(a->Find(mine.identity)->entry, mine) << "what is there stays";
  EXPECT_TRUE(a->Find(begun.identity)->begun);
  EXPECT_EQ(a->Find(done.identity)->entry, done);
  EXPECT_EQ(a->Find(ended.identity)->entry, ended);
  EXPECT_EQ(MergeJournal(b.get(), a.get())->added, 0) << "once more changes nothing";
}

std::string Exported(Journal* journal, const JournalFilter& filter = {}) {
  std::ostringstream out;
  const auto lines = ExportJournal(journal, filter, out);
  EXPECT_TRUE(lines.ok());
  const std::string text = out.str();
  EXPECT_EQ(*lines, std::count(text.begin(), text.end(), '\n'));
  return text;
}

TEST_F(JournalTransferTest, WhatIsExportedAndImportedIsExportedToTheSameBytes) {
  auto first = Opened(directory_.path() / "a"), second = Opened(directory_.path() / "b");
  for (int64_t n = 0; n < 2500; n += n < 2400 ? 7 : 1) {
    ASSERT_TRUE(first->Finish(NthCall(n)).ok());
  }
  for (int64_t n = 1; n < 5; ++n) {
    ASSERT_TRUE(first->Begin(NthCall(n).identity, NthCall(n).content, Effect::kWrites).ok());
  }
  const std::string text = Exported(first.get());
  EXPECT_EQ(Exported(first.get()), text);
  std::istringstream in(text + "\n\n");
  const auto report = ImportJournal(in, second.get());
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(report->added.equal, 0);
  EXPECT_TRUE(report->added.conflicts.empty());
  EXPECT_EQ(Exported(second.get()), text);
  EXPECT_EQ(second->Find(NthCall(2401).identity)->entry, NthCall(2401));
  EXPECT_TRUE(second->Find(NthCall(3).identity)->begun);

  std::istringstream again(text);
  EXPECT_EQ(ImportJournal(again, second.get())->added.added, 0);
}

TEST_F(JournalTransferTest, AFilterExportsAPart) {
  auto journal = Opened(directory_.path() / "a");
  int64_t weather = 0;
  for (int64_t n = 0; n < 100; ++n) {
    ASSERT_TRUE(journal->Finish(NthCall(n)).ok());
    weather += NthCall(n).content.tool == "weather";
  }
  const std::string text = Exported(journal.get(), {.tool = "weather"});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), weather);
}

TEST_F(JournalTransferTest, ABadLineIsNamedAndTheLinesBeforeItAreThere) {
  auto journal = Opened(directory_.path() / "a");
  const std::string good = DumpJson(JournalLineToJson(NthCall(0)));
  for (const std::string& bad : {std::string("{"), std::string("[]"), std::string("{}"),
                                 std::string(R"({"format":"hone.tree","version":1})"),
                                 good.substr(0, good.size() - 1) + ",\"extra\":1}"}) {
    std::istringstream in(good + "\n\n" + bad + "\n" + good);
    const auto report = ImportJournal(in, journal.get());
    ASSERT_FALSE(report.ok()) << bad;
    EXPECT_TRUE(report.error().message().starts_with("line 3: ")) << report.error().message();
  }
  EXPECT_EQ(journal->Find(NthCall(0).identity)->entry, NthCall(0));
}

TEST_F(JournalTransferTest, AConflictNamesItsLineAndChangesNothing) {
  auto journal = Opened(directory_.path() / "a");
  ASSERT_TRUE(journal->Finish(NthCall(1)).ok());
  JournalEntry other = NthCall(1);
  other.result.content += "!";
  std::istringstream in(DumpJson(JournalLineToJson(NthCall(0))) + "\n" +
                        DumpJson(JournalLineToJson(other)) + "\n");
  const auto report = ImportJournal(in, journal.get());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->added.added, 1);
  EXPECT_EQ(report->added.conflicts, std::vector{other.identity});
  EXPECT_EQ(report->conflict_lines, std::vector<int64_t>{2});
  EXPECT_EQ(journal->Find(other.identity)->entry, NthCall(1));
}

TEST_F(JournalTransferTest, SecretsAreTakenOutOfWhatIsImported) {
  auto journal = Opened(directory_.path() / "a");
  JournalEntry entry = NthCall(0);
  entry.content.arguments = Json::Of({{"password", "hunter2"}});
  entry.result.content = R"({"token": "hunter2"})";
  entry.attempts = {{CallStatus::kTimeout, "?api_key=hunter2", 1, ""}};
  const BegunCall begun{NthCall(1).identity, entry.content, Effect::kWrites};
  std::istringstream in(DumpJson(JournalLineToJson(entry)) + "\n" +
                        DumpJson(JournalLineToJson(begun)) + "\n");
  const Redactor redactor = *Redactor::Create(RedactionOptions::Default());
  ASSERT_TRUE(ImportJournal(in, journal.get(), &redactor).ok());
  const std::string text = Exported(journal.get());
  EXPECT_EQ(text.find("hunter2"), std::string::npos) << text;
}

}  // namespace
}  // namespace hone
