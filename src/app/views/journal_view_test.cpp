#include "app/views/journal_view.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_call.h"

namespace hone {
namespace {

TEST(JournalViewTest, EveryCallCanBeShownAndForeignTextStaysHarmless) {
  for (int64_t n = 0; n < 200; ++n) {
    NumberedEntry call{n + 1, RandomCall(Rng(2), n)};
    call.entry.result.content += "\x1b[31mred";
    call.entry.content.tool += "\x1b[2J";
    const std::string one = CallView(call, {}, 0);
    EXPECT_NE(one.find(CallStatusName(call.entry.result.status)), std::string::npos);
    EXPECT_NE(one.find(call.entry.content.Hash()), std::string::npos);
    EXPECT_EQ(one.find('\x1b'), std::string::npos);
    const std::string list = CallsView({call}, {}, {});
    EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), 2);
    EXPECT_EQ(list.find('\x1b'), std::string::npos);
  }
}

TEST(JournalViewTest, ALongAnswerIsCutUnlessAllOfItIsWanted) {
  NumberedEntry call{1, RandomCall(Rng(2), 0)};
  call.entry.result.content.clear();
  for (int i = 0; i < 50; ++i) call.entry.result.content += "line " + std::to_string(i) + "\n";
  const std::string cut = CallView(call, {}, 24), all = CallView(call, {}, 0);
  EXPECT_NE(cut.find("26 more lines; --full"), std::string::npos) << cut;
  EXPECT_EQ(cut.find("line 49"), std::string::npos);
  EXPECT_NE(all.find("line 49"), std::string::npos);
}

TEST(JournalViewTest, TimesAndAttemptsAreSpelled) {
  NumberedEntry call{3, RandomCall(Rng(2), 0)};
  call.entry.recorded_ms = 1'700'000'000'000;
  call.entry.attempts = {{CallStatus::kTimeout, "", 30'000'000, "slow"},
                         {CallStatus::kOk, "x", 1500, ""}};
  const std::string view = CallView(call, {}, 0);
  EXPECT_NE(view.find("2023-11-14T22:13:20Z"), std::string::npos) << view;
  EXPECT_NE(view.find("timeout after 30000.0 ms, slow"), std::string::npos) << view;
}

TEST(JournalViewTest, StatisticsOfNothingAndOfSomething) {
  EXPECT_NE(StatisticsView({}, {}).find("0 calls"), std::string::npos);
  JournalStatistics statistics;
  statistics.calls = 3;
  statistics.begun = 1;
  statistics.file_bytes = 3 << 20;
  statistics.tools = {{"search", 3, {{"ok", 2}, {"timeout", 1}}, 1, 2048, 1500}};
  const std::string view = StatisticsView(statistics, {});
  for (const char* part :
       {"3 calls", "3.0 MiB", "2.0 KiB", "1.5 ms", "ok 2, timeout 1", "1 calls without outcome"}) {
    EXPECT_NE(view.find(part), std::string::npos) << part << "\n" << view;
  }
  EXPECT_EQ(*StatisticsJson(statistics).Find("begun"), Json(1));
}

}  // namespace
}  // namespace hone
