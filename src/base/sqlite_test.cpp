#include "base/sqlite.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

constexpr const char* kSteps[] = {
    "CREATE TABLE things(id INTEGER PRIMARY KEY, name TEXT, data BLOB, size REAL);",
    "CREATE INDEX things_by_name ON things(name);",
};
constexpr SqliteFormat kFormat = {.name = "box", .application_id = 77, .migrations = kSteps};
constexpr SqliteFormat kOlder = {
    .name = "box", .application_id = 77, .migrations = std::span(kSteps).first(1)};
constexpr SqliteFormat kForeign = {.name = "crate", .application_id = 78, .migrations = kSteps};

class SqliteTest : public testing::Test {
 protected:
  std::unique_ptr<SqliteFile> Opened(const SqliteFormat& format = kFormat) {
    auto file = SqliteFile::Open(path_, format);
    EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().message());
    return file.ok() ? std::move(file).value() : nullptr;
  }
  int64_t Count(const SqliteFile* file) {
    SqliteStatement statement(file, "SELECT count(*) FROM things");
    EXPECT_TRUE(statement.Step());
    return statement.Integer(0);
  }

  TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_.path() / "box.sqlite";
};

TEST_F(SqliteTest, ValuesComeBackAsTheyWereBound) {
  auto file = Opened();
  const std::string text("a\0b", 3), blob("\xff\x00", 2);
  SqliteStatement insert(file.get(), "INSERT INTO things(name, data, size) VALUES(?, ?, ?)");
  ASSERT_TRUE(insert.Bind(text).BindBlob(blob).Bind(1.5).Run("adding").ok());
  EXPECT_EQ(file->LastInsertedRow(), 1);
  insert.Reset();
  ASSERT_TRUE(insert.Bind(std::string_view())
                  .BindBlob({})
                  .Bind(std::optional<double>())
                  .Run("adding")
                  .ok());
  EXPECT_EQ(file->ChangedRows(), 1);
  SqliteStatement select(file.get(), "SELECT name, data, size FROM things ORDER BY id");
  ASSERT_TRUE(select.Step());
  EXPECT_EQ(select.Bytes(0), text);
  EXPECT_EQ(select.View(1), blob);
  EXPECT_EQ(select.Real(2), 1.5);
  ASSERT_TRUE(select.Step());
  EXPECT_FALSE(select.IsNull(0)) << "empty is not NULL";
  EXPECT_FALSE(select.IsNull(1));
  EXPECT_EQ(select.Real(2), std::nullopt);
  EXPECT_FALSE(select.Step());
  EXPECT_TRUE(select.Check("reading").ok());
}

TEST_F(SqliteTest, AnOlderFileIsMigratedAndANewerOneRefused) {
  Opened(kOlder).reset();
  auto file = Opened();
  SqliteStatement index(file.get(), "SELECT 1 FROM sqlite_master WHERE name = 'things_by_name'");
  EXPECT_TRUE(index.Step());
  EXPECT_EQ(SqliteFile::Open(path_, kOlder).error().code(), ErrorCode::kVersion);
  EXPECT_EQ(SqliteFile::OpenForReading(path_, kOlder).error().code(), ErrorCode::kVersion);
}

TEST_F(SqliteTest, AFileOfAnotherKindIsRefusedByName) {
  Opened().reset();
  const auto other = SqliteFile::Open(path_, kForeign);
  EXPECT_EQ(other.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(other.error().message().find("not a crate"), std::string::npos);
  EXPECT_EQ(SqliteFile::OpenForReading(directory_.path() / "absent", kFormat).error().code(),
            ErrorCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomic(path_, "").ok());
  EXPECT_EQ(SqliteFile::OpenForReading(path_, kFormat).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(SqliteTest, WhatIsRolledBackNeverWas) {
  auto file = Opened();
  ASSERT_TRUE(file->Execute("BEGIN IMMEDIATE; INSERT INTO things(name) VALUES('x')").ok());
  EXPECT_TRUE(file->InTransaction());
  file->Rollback();
  EXPECT_FALSE(file->InTransaction());
  file->Rollback();
  EXPECT_EQ(Count(file.get()), 0);
}

TEST_F(SqliteTest, SyncingCanBeTurnedOffAndOn) {
  auto file = Opened();
  for (const bool sync : {false, true}) {
    ASSERT_TRUE(file->SyncEveryCommit(sync).ok());
    SqliteStatement mode(file.get(), "PRAGMA synchronous");
    ASSERT_TRUE(mode.Step());
    EXPECT_EQ(mode.Integer(0), sync ? 2 : 1);
  }
}

TEST_F(SqliteTest, AnotherWriterIsWaitedForOnlySoLong) {
  auto file = Opened();
  SqliteFormat impatient = kFormat;
  impatient.busy_timeout_ms = 10;
  auto other = Opened(impatient);
  ASSERT_TRUE(file->Execute("BEGIN IMMEDIATE").ok());
  EXPECT_EQ(other->Execute("BEGIN IMMEDIATE").error().code(), ErrorCode::kUnavailable);
  file->Rollback();
  EXPECT_TRUE(other->Execute("BEGIN IMMEDIATE; COMMIT").ok());
}

TEST_F(SqliteTest, AWrongStatementIsAnErrorAndNotACrash) {
  auto file = Opened();
  SqliteStatement wrong(file.get(), "SELECT nothing FROM nowhere");
  EXPECT_FALSE(wrong.Bind(int64_t{1}).Step());
  EXPECT_FALSE(wrong.Check("reading").ok());
  wrong.Reset();
  EXPECT_FALSE(wrong.Check("reading").ok());
}

}  // namespace
}  // namespace hone
