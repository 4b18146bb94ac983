#include "tools/builtin/sql_functions.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"

namespace hone {
namespace {

class CountedSqlFunctionsTest : public ::testing::Test {
 protected:
  CountedSqlFunctionsTest() {
    sqlite3_open(":memory:", &plain_);
    sqlite3_open(":memory:", &counted_);
    functions_.emplace(
        counted_, [this](int64_t steps) { return (steps_ += steps) <= most_; }, 1000000);
  }
  ~CountedSqlFunctionsTest() override {
    sqlite3_close(plain_);
    sqlite3_close(counted_);
  }

  static std::string Value(sqlite3* database, const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sql;
    std::string value = "failed";
    if (sqlite3_step(statement) == SQLITE_ROW) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
      value = std::to_string(sqlite3_column_type(statement, 0)) + (text == nullptr ? "" : text);
    }
    sqlite3_finalize(statement);
    return value;
  }

  void ExpectTheSame(const std::string& expression) {
    EXPECT_EQ(Value(counted_, "SELECT " + expression), Value(plain_, "SELECT " + expression))
        << expression;
  }

  sqlite3* plain_ = nullptr;
  sqlite3* counted_ = nullptr;
  std::optional<CountedSqlFunctions> functions_;
  int64_t steps_ = 0, most_ = INT64_MAX;
};

TEST_F(CountedSqlFunctionsTest, AnswerAsSqlitesOwn) {
  for (const char* expression : {"instr('häus', 'us')",
                                 "instr(x'00ff01', x'01')",
                                 "instr('a', '')",
                                 "instr(NULL, 'a')",
                                 "instr(12345, 34)",
                                 "replace('aXbX', 'X', 'yy')",
                                 "replace('abc', '', 'x')",
                                 "replace('aaa', 'aa', 'b')",
                                 "replace(NULL, 'a', 'b')",
                                 "replace(1212, 2, 3)",
                                 "trim('  a b ')",
                                 "ltrim('xxaxx', 'x')",
                                 "rtrim('éäé', 'éx')",
                                 "trim('aaa', 'a')",
                                 "trim('abc', '')",
                                 "trim(NULL)",
                                 "trim('a', NULL)",
                                 "'ABC' LIKE 'a_c'",
                                 "'É' LIKE 'é'",
                                 "'a%c' LIKE 'a!%c' ESCAPE '!'",
                                 "'abc' LIKE 'a!%c' ESCAPE '!'",
                                 "'abc' LIKE NULL",
                                 "NULL LIKE 'a'",
                                 "12 LIKE '1%'",
                                 "'a' LIKE '%a%' ESCAPE '%'",
                                 "x'616263' LIKE 'abc'",
                                 "'abc' LIKE x'616263'",
                                 "NULL LIKE x'61'",
                                 "x'61' LIKE 'a' ESCAPE 'too long'",
                                 "x'61' GLOB 'a'",
                                 "'abc' GLOB 'a[a-c]?'",
                                 "'a]c' GLOB 'a[]]c'",
                                 "'axc' GLOB 'a[^b]c'",
                                 "'a-c' GLOB 'a[x-]c'",
                                 "'abc' GLOB 'a[b'",
                                 "'x' GLOB 'X'",
                                 "printf('%05.2f|%s|%,d', 3.14159, 'é', 1234567)",
                                 "printf('%d %%', 5)",
                                 "printf('%-8q|', 'it''s')",
                                 "printf(NULL)",
                                 "printf()",
                                 "format('%c%c', 'ab', 'c')",
                                 "printf('%s', x'4142')"}) {
    ExpectTheSame(expression);
  }
}

TEST_F(CountedSqlFunctionsTest, MatchAsSqliteDoesOnRandomPatterns) {
  Rng rng(7);
  const std::vector<std::string> bits = {"a", "b", "B", "é", "%", "_", "*",
                                         "?", "[", "]", "-", "^", "!", "[ab]"};
  const auto text = [&](uint64_t longest) {
    std::string some;
    for (uint64_t n = rng.Below(longest); n > 0; --n) some += bits[rng.Below(bits.size())];
    return "'" + some + "'";
  };
  for (int i = 0; i < 5000; ++i) {
    const std::string value = text(8), pattern = text(8);
    ExpectTheSame(value + " LIKE " + pattern);
    ExpectTheSame(value + " LIKE " + pattern + " ESCAPE '!'");
    ExpectTheSame(value + " GLOB " + pattern);
    for (const char* trim : {"trim(", "ltrim(", "rtrim("}) {
      ExpectTheSame(trim + value + ", " + pattern + ")");
    }
    ExpectTheSame("replace(" + value + ", " + pattern + ", 'x')");
  }
}

TEST_F(CountedSqlFunctionsTest, WantOfMemoryFailsTheQueryAlone) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  const CountedSqlFunctions starved(
      database, [](int64_t) -> bool { throw std::bad_alloc(); }, 1000000);
  for (const char* call : {"instr('a', 'b')", "replace('a', 'b', 'c')", "trim('a')", "'a' LIKE 'b'",
                           "'a' GLOB 'b'", "printf('a')"}) {
    EXPECT_EQ(Value(database, std::string("SELECT ") + call), "failed") << call;
    EXPECT_EQ(sqlite3_errcode(database), SQLITE_NOMEM) << call;
  }
  EXPECT_EQ(Value(database, "SELECT 1"), "11");
  sqlite3_close(database);
}

TEST_F(CountedSqlFunctionsTest, WorkIsPaidForAndEndsTheQuery) {
  ASSERT_EQ(Value(counted_, "SELECT instr(hex(zeroblob(100000)), '1')"), "10");
  EXPECT_GT(steps_, 5000);
  most_ = steps_ + 100000;
  EXPECT_EQ(Value(counted_, "SELECT hex(zeroblob(100000)) LIKE '%' || hex(zeroblob(500)) || '1'"),
            "failed");
}

}  // namespace
}  // namespace hone
