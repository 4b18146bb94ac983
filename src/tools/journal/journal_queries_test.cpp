#include "tools/journal/journal_queries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/file.h"
#include "support/random_call.h"
#include "tools/journal/journal_rows.h"

namespace hone {
namespace {

constexpr int64_t kCalls = 200;

class JournalQueriesTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto path = directory_.path() / "journal.sqlite";
    auto journal = Journal::Open(path).value();
    for (int64_t n = 0; n < kCalls; ++n) {
      entries_.push_back(RandomCall(Rng(3), n));
      entries_.back().identity.run = n < 150 ? "a" : "b";
    }
    ASSERT_TRUE(journal->Add(entries_, {}).ok());
    for (int64_t n = kCalls; n < kCalls + 3; ++n) {
      const JournalEntry entry = RandomCall(Rng(3), n);
      ASSERT_TRUE(journal->Begin(entry.identity, entry.content, entry.effect).ok());
    }
    journal.reset();
    file_ = SqliteFile::OpenForReading(path, kJournalFormat).value();
  }

  // Every id that the filter means, asked for in pages.
  std::vector<int64_t> Ids(const JournalFilter& filter) {
    std::vector<int64_t> ids;
    while (true) {
      const auto page = *ListCalls(*file_, filter, ids.empty() ? 0 : ids.back(), 7);
      if (page.empty()) return ids;
      for (const NumberedEntry& each : page) {
        EXPECT_EQ(each.entry, entries_[static_cast<size_t>(each.id) - 1]);
        ids.push_back(each.id);
      }
    }
  }

  std::vector<int64_t> Expected(const std::function<bool(const JournalEntry&)>& meant) {
    std::vector<int64_t> ids;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (meant(entries_[i])) ids.push_back(static_cast<int64_t>(i) + 1);
    }
    EXPECT_FALSE(ids.empty());
    return ids;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<SqliteFile> file_;
  std::vector<JournalEntry> entries_;
};

TEST_F(JournalQueriesTest, ListsAreInTheOrderOfRecordingAndHoldWhatIsMeant) {
  EXPECT_EQ(Ids({}).size(), static_cast<size_t>(kCalls));
  EXPECT_EQ(Ids({.run = "b"}), Expected([](const auto& e) { return e.identity.run == "b"; }));
  EXPECT_EQ(Ids({.task = "task/2", .tool = "book"}), Expected([](const JournalEntry& e) {
              return e.identity.task == "task/2" && e.content.tool == "book";
            }));
  EXPECT_EQ(Ids({.status = CallStatus::kTimeout}),
            Expected([](const auto& e) { return e.result.status == CallStatus::kTimeout; }));
  EXPECT_EQ(Ids({.only_injected = true}),
            Expected([](const auto& e) { return !e.result.injected.empty(); }));
  EXPECT_TRUE(Ids({.run = "c"}).empty());
}

TEST_F(JournalQueriesTest, WhatWasBegunIsListedByIdentity) {
  const auto begun = *ListBegunCalls(*file_, {});
  ASSERT_EQ(begun.size(), 3u);
  EXPECT_TRUE(std::is_sorted(begun.begin(), begun.end(),
                             [](const auto& a, const auto& b) { return a.identity < b.identity; }));
  EXPECT_EQ(begun[0].content, RandomCall(Rng(3), kCalls).content);
  EXPECT_TRUE(ListBegunCalls(*file_, {.status = CallStatus::kOk})->empty());
  EXPECT_TRUE(ListBegunCalls(*file_, {.run = "a"})->empty());
}

TEST_F(JournalQueriesTest, StatisticsCountWhatIsThere) {
  const JournalStatistics all = *ReadStatistics(*file_);
  EXPECT_EQ(all.calls, kCalls);
  EXPECT_EQ(all.begun, 3);
  EXPECT_EQ(all.runs, (std::map<std::string, int64_t>{{"a", 150}, {"b", 50}}));
  EXPECT_GT(all.file_bytes, all.content_bytes);
  std::map<std::string, int64_t> statuses, sources, injected, calls;
  std::set<std::string> contents;
  int64_t bytes = 0, weather_us = 0;
  for (const JournalEntry& entry : entries_) {
    ++statuses[std::string(CallStatusName(entry.result.status))];
    ++sources[std::string(CallSourceName(entry.source))];
    ++calls[entry.content.tool];
    bytes += static_cast<int64_t>(entry.result.content.size());
    if (!entry.result.injected.empty()) ++injected[entry.result.injected];
    if (entry.content.tool == "weather") weather_us += entry.result.latency_us;
    if (entry.result.injected.empty() && entry.source != CallSource::kSimulator &&
        (entry.result.status == CallStatus::kOk || entry.result.status == CallStatus::kToolError)) {
      contents.insert(entry.content.Hash());
    }
  }
  EXPECT_EQ(all.statuses, statuses);
  EXPECT_EQ(all.sources, sources);
  EXPECT_EQ(all.injected, injected);
  EXPECT_EQ(all.content_bytes, bytes);
  EXPECT_EQ(all.contents, static_cast<int64_t>(contents.size()));
  ASSERT_EQ(all.tools.size(), 4u);
  for (const ToolStatistics& tool : all.tools) {
    EXPECT_EQ(tool.calls, calls[tool.tool]);
    int64_t sum = 0;
    for (const auto& [status, count] : tool.statuses) sum += count;
    EXPECT_EQ(sum, tool.calls);
  }
  EXPECT_EQ(all.tools.back().tool, "weather");
  EXPECT_NEAR(all.tools.back().mean_latency_us * static_cast<double>(calls["weather"]),
              static_cast<double>(weather_us), 1);
}

}  // namespace
}  // namespace hone
