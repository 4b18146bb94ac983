#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

// The SQLite files Hone keeps (the run store, the journal): versions, migrations, typed errors.

namespace hone {

// One kind of file, and how an older one becomes one of today.
struct SqliteFormat {
  std::string_view name;       // what people call it, "run store"
  int32_t application_id = 0;  // tells it from any other SQLite file
  // Entry i brings a file from version i to i + 1. Never edited once released, only added to.
  std::span<const char* const> migrations;
  int busy_timeout_ms = 5000;  // how long to wait for another process that writes

  int version() const { return static_cast<int>(migrations.size()); }
};

// A connection to such a file, in WAL mode: one connection writes at a time, others read meanwhile.
// Errors are kFull (what was committed is safe), kUnavailable (another process kept writing for
// longer than the timeout), kCorrupt, kVersion (written by a newer Hone), kInvalidArgument (a file
// of another kind), kNotFound or kIo, and name the file. One thread at a time.
class SqliteFile {
 public:
  // For writing: creates the file when absent, migrates it when older. Commits have reached the
  // disk when they return, power cuts included, unless SyncEveryCommit(false) was called.
  static Result<std::unique_ptr<SqliteFile>> Open(const std::filesystem::path& file,
                                                  const SqliteFormat& format);
  // An existing file, which is not changed.
  static Result<std::unique_ptr<SqliteFile>> OpenForReading(const std::filesystem::path& file,
                                                            const SqliteFormat& format);
  // Every SqliteStatement of it must be gone.
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  // Runs SQL that gives no rows.
  Result<void> Execute(const char* sql) const;
  // Whether a transaction is open. A failure may have rolled it back.
  bool InTransaction() const;
  // Rolls back what is open, if anything is.
  void Rollback() const;
  // False: commits survive a kill of the process, but the newest may be lost with the power. Not
  // inside a transaction.
  Result<void> SyncEveryCommit(bool sync) const;

  int64_t LastInsertedRow() const;
  // How many rows the last INSERT, UPDATE or DELETE changed.
  int64_t ChangedRows() const;

  const std::filesystem::path& path() const { return path_; }

 private:
  friend class SqliteStatement;
  SqliteFile(std::filesystem::path path, const SqliteFormat& format)
      : path_(std::move(path)), format_(format) {}

  Result<void> Connect(int flags, std::string_view uri_options = "");
  Result<void> CheckVersion(int* version) const;
  Result<void> CheckVersionAtOnce(int* version) const;
  Result<void> UseWriteAheadLog() const;
  Result<void> Migrate();
  Error ErrorOf(int code, std::string_view doing) const;

  std::filesystem::path path_;
  SqliteFormat format_;
  sqlite3* database_ = nullptr;
};

// A prepared statement. Bind in order, Step until false, then Check; an error is kept until asked
// for. What is bound must live until the last Step.
class SqliteStatement {
 public:
  SqliteStatement(const SqliteFile* file, std::string_view sql);
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  SqliteStatement& Bind(int64_t value);
  SqliteStatement& Bind(double value);
  SqliteStatement& Bind(std::string_view text);
  SqliteStatement& BindBlob(std::string_view blob);
  SqliteStatement& BindNull();
  template <typename T>
  SqliteStatement& Bind(const std::optional<T>& value) {
    return value ? Bind(*value) : BindNull();
  }

  // True when there is a row to read.
  bool Step();
  // Runs a statement that gives no rows.
  Result<void> Run(std::string_view doing);
  // Success, or what went wrong while `doing`.
  Result<void> Check(std::string_view doing) const;
  // Makes it as it was before the first Bind. Must be called before the statement is used again;
  // until then it may hold a read of the file open.
  void Reset();

  bool IsNull(int column) const;
  int64_t Integer(int column) const;
  std::optional<double> Real(int column) const;
  std::string Bytes(int column) const { return std::string(View(column)); }
  // Valid until the next Step or Reset.
  std::string_view View(int column) const;

 private:
  SqliteStatement& Bound(int code);

  const SqliteFile* file_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int prepared_;
  int code_;
};

}  // namespace hone
