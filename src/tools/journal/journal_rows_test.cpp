#include "tools/journal/journal_rows.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/random_call.h"

namespace hone {
namespace {

class JournalRowsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int64_t n = 0; n < 3; ++n) {
      entries_.push_back(RandomCall(Rng(1), n));
      const CallTexts texts = CallTexts::Of(entries_.back());
      SqliteStatement insert(
          file_.get(), "INSERT INTO calls(" + std::string(kCallColumns) +
                           ", content_hash) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
      BindCall(entries_.back(), texts, &insert);
      insert.BindBlob(texts.content_hash);
      ASSERT_TRUE(insert.Run("inserting").ok());
    }
  }

  Result<JournalEntry> Read(int64_t id) {
    SqliteStatement select(file_.get(),
                           "SELECT " + std::string(kCallColumns) + " FROM calls WHERE id = ?");
    select.Bind(id);
    EXPECT_TRUE(select.Step());
    return ReadCall(select, 0);
  }

  TemporaryDirectory directory_;
  std::unique_ptr<SqliteFile> file_ =
      SqliteFile::Open(directory_.path() / "journal.sqlite", kJournalFormat).value();
  std::vector<JournalEntry> entries_;
};

TEST_F(JournalRowsTest, RowsComeBackTheSame) {
  for (int64_t id = 1; id <= 3; ++id) EXPECT_EQ(*Read(id), entries_[static_cast<size_t>(id) - 1]);
}

TEST_F(JournalRowsTest, AChangeOfAnyColumnIsNoticed) {
  for (const std::string column :
       {"run",      "task",       "path",         "turn",      "call",         "environment_seed",
        "tool",     "state_hash", "effect",       "source",    "status",       "blame",
        "injected", "latency_us", "attempts",     "cut_bytes", "session_lost", "recorded_ms",
        "checksum", "arguments",  "attempt_list", "content"}) {
    ASSERT_TRUE(file_->Execute("SAVEPOINT s").ok());
    ASSERT_TRUE(file_
                    ->Execute(("UPDATE calls SET " + column + " = CASE typeof(" + column +
                               ") WHEN 'integer' THEN ~" + column + " ELSE coalesce(" + column +
                               ", '') || '1' END WHERE id = 1")
                                  .c_str())
                    .ok());
    const auto read = Read(1);
    ASSERT_FALSE(read.ok()) << column;
    EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt) << column;
    ASSERT_TRUE(file_->Execute("ROLLBACK TO s; RELEASE s").ok());
    ASSERT_TRUE(Read(1).ok());
  }
}

TEST_F(JournalRowsTest, TheContentHashIsThe32BytesOfTheHexadecimalOne) {
  const CallTexts texts = CallTexts::Of(entries_[0].content);
  ASSERT_EQ(texts.content_hash.size(), 32u);
  std::string hex;
  for (const char c : texts.content_hash) {
    for (const int nibble : {(c >> 4) & 15, c & 15}) hex += "0123456789abcdef"[nibble];
  }
  EXPECT_EQ(hex, entries_[0].content.Hash());
}

// Without their indexes these would read the whole table.
TEST_F(JournalRowsTest, LookingUpUsesTheIndexes) {
  const auto plan = [&](const std::string& sql) {
    SqliteStatement explain(file_.get(), "EXPLAIN QUERY PLAN " + sql);
    std::string text;
    while (explain.Step()) text += explain.Bytes(3) + "\n";
    return text;
  };
  EXPECT_NE(
      plan("SELECT content FROM calls WHERE run = ? AND task = ? AND path = ? AND turn = ? AND "
           "call = ?")
          .find("calls_by_identity"),
      std::string::npos);
  EXPECT_NE(plan("SELECT content FROM calls WHERE content_hash = ? AND " +
                 std::string(kAnsweredByContent) + " ORDER BY id LIMIT 1")
                .find("calls_by_content"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
