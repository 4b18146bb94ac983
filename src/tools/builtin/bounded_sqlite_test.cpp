#include "tools/builtin/bounded_sqlite.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

constexpr char kEndless[] =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT sum(i) FROM n";

TEST(BoundedSqlite, ValuesAreReadAsJson) {
  auto database = *BoundedDatabase::Create({});
  ASSERT_TRUE(database->Execute("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, x'00ff')").ok());
  BoundedStatement statement(database.get(), "SELECT a, b, ?, ?, 1.5, NULL FROM t; rest");
  EXPECT_EQ(statement.rest(), " rest");
  EXPECT_TRUE(statement.ReadOnly());
  ASSERT_TRUE(statement.Bind("").Bind(int64_t{7}).Step());
  Json::Array row;
  for (int i = 0; i < statement.columns(); ++i) row.push_back(statement.Value(i));
  EXPECT_EQ(DumpJson(Json(row)), R"([1,"0x00ff","",7,1.5,null])");
  EXPECT_FALSE(statement.Step());
  EXPECT_FALSE(statement.failed());
}

TEST(BoundedSqlite, TheSameWorkEndsAtTheSameBound) {
  auto database = *BoundedDatabase::Create({});
  database->Bound({.steps = 100000, .stop = {}});
  BoundedStatement statement(database.get(), kEndless);
  EXPECT_FALSE(statement.Step());
  EXPECT_TRUE(statement.failed());
  EXPECT_TRUE(database->HitBound());
  EXPECT_FALSE(database->Stopped());
  EXPECT_NE(database->Message().find("100000 steps"), std::string::npos);
  // The bound is of one call: the next has its own.
  database->Bound({.steps = 100000, .stop = {}});
  BoundedStatement next(database.get(), "SELECT 1");
  EXPECT_TRUE(next.Step());
}

TEST(BoundedSqlite, AStopEndsWhatRuns) {
  auto database = *BoundedDatabase::Create({});
  std::stop_source stop;
  stop.request_stop();
  database->Bound({.steps = 0, .stop = stop.get_token()});
  BoundedStatement statement(database.get(), kEndless);
  EXPECT_FALSE(statement.Step());
  EXPECT_TRUE(database->Stopped());
}

TEST(BoundedSqlite, AFileOpenedToReadStaysAsItIs) {
  TemporaryDirectory folder;
  const auto file = folder.path() / "a?b%c#d";
  ASSERT_TRUE((*BoundedDatabase::Create(file))->Execute("CREATE TABLE t (x)").ok());
  for (const bool immutable : {false, true}) {
    auto database = BoundedDatabase::OpenToRead(file, immutable);
    ASSERT_TRUE(database.ok()) << database.error().message();
    EXPECT_FALSE((*database)->Execute("INSERT INTO t VALUES (1)").ok());
  }
  EXPECT_EQ(BoundedDatabase::OpenToRead(folder.path()).error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hone
