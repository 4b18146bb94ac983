#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "tools/builtin/sql_functions.h"

struct sqlite3;
struct sqlite3_stmt;

// SQLite for data that is not Hone's own, asked by people and models: every statement ends.

namespace hone {

// How much work the statements of one call may do together.
struct QueryBounds {
  int64_t steps = 0;  // of SQLite's virtual machine; 0: as many as it takes
  std::stop_token stop;
  // Of a clock: a last resort against steps that take long (a megabyte compared in each). 0: none.
  std::chrono::milliseconds time{0};
};

// A connection. One thread at a time.
class BoundedDatabase {
 public:
  // An existing file, which is never changed. `immutable` promises that nobody else changes it
  // either.
  static Result<std::unique_ptr<BoundedDatabase>> OpenToRead(const std::filesystem::path& file,
                                                             bool immutable = false);
  // A new file, or memory when the path is empty, to be filled. Nothing is safe before it is
  // closed.
  static Result<std::unique_ptr<BoundedDatabase>> Create(const std::filesystem::path& file);
  ~BoundedDatabase();
  BoundedDatabase(const BoundedDatabase&) = delete;
  BoundedDatabase& operator=(const BoundedDatabase&) = delete;

  // Runs SQL that gives no rows.
  Result<void> Execute(const char* sql);

  // From now on: only what looks at tables of the file, and values of at most `max_value_bytes`.
  // Functions that reach outside or roll dice are refused, those that can take long are counted
  // (tools/builtin/sql_functions.h), and everything a damaged or hostile file could run by itself
  // is refused.
  void Confine(int64_t max_value_bytes);

  // Bounds what is run from now on.
  void Bound(const QueryBounds& bounds);

  // What the last failure was about, in SQLite's words or, where a bound was hit, in ours.
  std::string Message() const;
  // The last failure was a bound that was hit: work or time, or a stop.
  bool HitBound() const { return spent_ || late_ || stopped_; }
  bool Stopped() const;

 private:
  friend class BoundedStatement;
  BoundedDatabase() = default;
  static Result<std::unique_ptr<BoundedDatabase>> Connect(const std::string& name, int flags);
  bool MayGoOn(int64_t steps);
  static int OnProgress(void* self);

  sqlite3* database_ = nullptr;
  std::unique_ptr<CountedSqlFunctions> functions_;
  QueryBounds bounds_;
  std::chrono::steady_clock::time_point until_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
  int64_t steps_ = 0;
  bool spent_ = false;    // too many steps, or too much memory
  bool late_ = false;     // too much time
  bool stopped_ = false;  // somebody asked for it
};

// A statement. Bind in order, then Step until false, then look at failed().
class BoundedStatement {
 public:
  BoundedStatement(BoundedDatabase* database, std::string_view sql);
  ~BoundedStatement();
  BoundedStatement(const BoundedStatement&) = delete;
  BoundedStatement& operator=(const BoundedStatement&) = delete;

  BoundedStatement& Bind(std::string_view text);  // which must live until the last Step
  BoundedStatement& Bind(int64_t value);

  // True when there is a row to read.
  bool Step();
  void Reset();  // as it was before the first Bind
  bool failed() const { return failed_; }
  bool empty() const { return statement_ == nullptr; }  // nothing but blanks and comments
  bool ReadOnly() const;
  std::string_view rest() const { return rest_; }  // what stands behind the statement

  int columns() const;
  std::string ColumnName(int column) const;
  int64_t Integer(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;
  // Integers and reals as numbers, text as text (what is not UTF-8 replaced), bytes as "0x4a4b" in
  // lower case, an infinite real as null.
  Json Value(int column) const;

 private:
  sqlite3_stmt* statement_ = nullptr;
  std::string_view rest_;
  int bound_ = 0;
  bool failed_ = false;
};

}  // namespace hone
