#include "base/sqlite.h"

#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/file.h"

namespace hone {

// --- the file ------------------------------------------------------------------------------------

Error SqliteFile::ErrorOf(int code, std::string_view doing) const {
  const std::string file = path_.string();
  // Some writes (of the shared index, say) fail on a full disk as plain input/output errors.
  if ((code & 0xFF) == SQLITE_IOERR && database_ != nullptr &&
      (sqlite3_system_errno(database_) == ENOSPC || sqlite3_system_errno(database_) == EDQUOT)) {
    code = SQLITE_FULL;
  }
  const char* detail = database_ != nullptr ? sqlite3_errmsg(database_) : sqlite3_errstr(code);
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return Error(ErrorCode::kFull,
                   fmt::format("{}: no space left while {}; what was committed is safe: free some "
                               "space and go on",
                               file, doing));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return Error(
          ErrorCode::kUnavailable,
          fmt::format("{}: another process is writing it; wait for that run to end", file));
    case SQLITE_NOTADB:
      return Error(ErrorCode::kInvalidArgument, fmt::format("{}: not a {}", file, format_.name));
    case SQLITE_CORRUPT:
      return Error(ErrorCode::kCorrupt, fmt::format("{}: damaged ({})", file, detail));
    case SQLITE_CANTOPEN:
      return Error(ErrorCode::kNotFound, fmt::format("{}: cannot be opened ({})", file, detail));
    case SQLITE_READONLY: return Error(ErrorCode::kIo, fmt::format("{}: may not be written", file));
    default: return Error(ErrorCode::kIo, fmt::format("{}: {} failed ({})", file, doing, detail));
  }
}

Result<void> SqliteFile::Execute(const char* sql) const {
  const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return ErrorOf(code, "writing");
  return {};
}

bool SqliteFile::InTransaction() const { return !sqlite3_get_autocommit(database_); }

void SqliteFile::Rollback() const {
  if (InTransaction()) (void)Execute("ROLLBACK").ok();
}

Result<void> SqliteFile::SyncEveryCommit(bool sync) const {
  return Execute(sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

int64_t SqliteFile::LastInsertedRow() const { return sqlite3_last_insert_rowid(database_); }

int64_t SqliteFile::ChangedRows() const { return sqlite3_changes64(database_); }

Result<void> SqliteFile::Connect(int flags, std::string_view uri_options) {
  std::string name = path_.string();
  if (!uri_options.empty()) {
    std::string escaped = "file:";
    for (const char c : std::filesystem::absolute(path_).string()) {
      escaped += std::string_view("%?#").find(c) == std::string_view::npos
                     ? std::string(1, c)
                     : fmt::format("%{:02x}", static_cast<uint8_t>(c));
    }
    name = escaped + std::string(uri_options);
    flags |= SQLITE_OPEN_URI;
  }
  const int code = sqlite3_open_v2(name.c_str(), &database_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) return ErrorOf(code, "opening");
  sqlite3_extended_result_codes(database_, 1);
  sqlite3_busy_timeout(database_, format_.busy_timeout_ms);
  return {};
}

Result<void> SqliteFile::CheckVersion(int* version) const {
  SqliteStatement id(this, "PRAGMA application_id"), user_version(this, "PRAGMA user_version");
  SqliteStatement tables(this, "SELECT count(*) FROM sqlite_master");
  if (!id.Step() || !user_version.Step() || !tables.Step()) {
    HONE_RETURN_IF_ERROR(id.Check("opening"));
    HONE_RETURN_IF_ERROR(user_version.Check("opening"));
    return tables.Check("opening");
  }
  const bool empty = tables.Integer(0) == 0;
  if (!empty && id.Integer(0) != format_.application_id) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: an SQLite file, but not a {}", path_.string(), format_.name));
  }
  *version = static_cast<int>(user_version.Integer(0));
  if (*version > format_.version()) {
    return Error(ErrorCode::kVersion,
                 fmt::format("{}: written by a newer Hone (schema {}, this one knows {}); use that "
                             "version to read it",
                             path_.string(), *version, format_.version()));
  }
  return {};
}

// What it reads belongs together, though another process may be making the file.
Result<void> SqliteFile::CheckVersionAtOnce(int* version) const {
  HONE_RETURN_IF_ERROR(Execute("BEGIN"));
  Result<void> checked = CheckVersion(version);
  Rollback();
  return checked;
}

// SQLite does not wait for others here, since that could be a deadlock; whoever holds nothing can.
Result<void> SqliteFile::UseWriteAheadLog() const {
  constexpr int kPauseMs = 5;
  Result<void> done;
  for (int waited = 0; waited <= format_.busy_timeout_ms; waited += kPauseMs) {
    done = Execute("PRAGMA journal_mode = WAL");
    if (done.ok() || done.error().code() != ErrorCode::kUnavailable) break;
    sqlite3_sleep(kPauseMs);
  }
  return done;
}

Result<void> SqliteFile::Migrate() {
  while (true) {
    // Each step is one transaction: a kill in the middle leaves the older, whole version. The
    // version is read inside of it, because another process may just have done the same.
    HONE_RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE"));
    int version = 0;
    Result<void> done = CheckVersion(&version);
    const bool current = done.ok() && version == format_.version();
    if (done.ok() && !current) {
      done = Execute(fmt::format("{} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT",
                                 format_.migrations[static_cast<size_t>(version)],
                                 format_.application_id, version + 1)
                         .c_str());
    }
    Rollback();
    if (!done.ok() || current) return done;
  }
}

Result<std::unique_ptr<SqliteFile>> SqliteFile::Open(const std::filesystem::path& path,
                                                     const SqliteFormat& format) {
  std::unique_ptr<SqliteFile> file(new SqliteFile(path, format));
  std::error_code ignored;
  const bool created = !std::filesystem::exists(path, ignored);
  HONE_RETURN_IF_ERROR(file->Connect(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  int version = 0;
  HONE_RETURN_IF_ERROR(file->CheckVersionAtOnce(&version));
  HONE_RETURN_IF_ERROR(file->UseWriteAheadLog());
  HONE_RETURN_IF_ERROR(file->SyncEveryCommit(true));
  HONE_RETURN_IF_ERROR(file->Migrate());
  if (created) {
    // What is committed is of no use when the file's name is lost with the power.
    const std::filesystem::path folder = path.parent_path();
    HONE_RETURN_IF_ERROR(SyncDirectory(folder.empty() ? "." : folder));
  }
  return file;
}

Result<std::unique_ptr<SqliteFile>> SqliteFile::OpenForReading(const std::filesystem::path& path,
                                                               const SqliteFormat& format) {
  std::unique_ptr<SqliteFile> file(new SqliteFile(path, format));
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return Error(ErrorCode::kNotFound, fmt::format("{}: no such {}", path.string(), format.name));
  }
  HONE_RETURN_IF_ERROR(file->Connect(SQLITE_OPEN_READONLY));
  int version = 0;
  Result<void> known = file->CheckVersionAtOnce(&version);
  // A reader shares an index file with the writer. In a folder it may not write, and with no
  // writer's log beside it, the file can be read as it is.
  if (!known.ok() && !std::filesystem::exists(path.string() + "-wal", ignored)) {
    sqlite3_close(std::exchange(file->database_, nullptr));
    HONE_RETURN_IF_ERROR(file->Connect(SQLITE_OPEN_READONLY, "?immutable=1"));
    known = file->CheckVersionAtOnce(&version);
  }
  if (!known.ok()) return known.error();
  if (version == 0) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: an empty file, not a {}", path.string(), format.name));
  }
  return file;
}

SqliteFile::~SqliteFile() { sqlite3_close(database_); }

// --- statements ----------------------------------------------------------------------------------

SqliteStatement::SqliteStatement(const SqliteFile* file, std::string_view sql) : file_(file) {
  prepared_ = sqlite3_prepare_v3(file->database_, sql.data(), static_cast<int>(sql.size()), 0,
                                 &statement_, nullptr);
  code_ = prepared_;
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

SqliteStatement& SqliteStatement::Bound(int code) {
  if (code_ == SQLITE_OK) code_ = code;
  return *this;
}

SqliteStatement& SqliteStatement::Bind(int64_t value) {
  return Bound(sqlite3_bind_int64(statement_, ++bound_, value));
}
SqliteStatement& SqliteStatement::Bind(double value) {
  return Bound(sqlite3_bind_double(statement_, ++bound_, value));
}
SqliteStatement& SqliteStatement::Bind(std::string_view text) {
  // A null pointer would bind NULL.
  return Bound(sqlite3_bind_text64(statement_, ++bound_, text.empty() ? "" : text.data(),
                                   text.size(), SQLITE_STATIC, SQLITE_UTF8));
}
SqliteStatement& SqliteStatement::BindBlob(std::string_view blob) {
  return Bound(sqlite3_bind_blob64(statement_, ++bound_, blob.empty() ? "" : blob.data(),
                                   blob.size(), SQLITE_STATIC));
}
SqliteStatement& SqliteStatement::BindNull() {
  return Bound(sqlite3_bind_null(statement_, ++bound_));
}

bool SqliteStatement::Step() {
  if (code_ != SQLITE_OK && code_ != SQLITE_ROW) return false;
  code_ = sqlite3_step(statement_);
  return code_ == SQLITE_ROW;
}

Result<void> SqliteStatement::Run(std::string_view doing) {
  Step();
  return Check(doing);
}

Result<void> SqliteStatement::Check(std::string_view doing) const {
  if (code_ == SQLITE_OK || code_ == SQLITE_ROW || code_ == SQLITE_DONE) return {};
  return file_->ErrorOf(code_, doing);
}

void SqliteStatement::Reset() {
  sqlite3_reset(statement_);
  bound_ = 0;
  code_ = prepared_;
}

bool SqliteStatement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
int64_t SqliteStatement::Integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}
std::optional<double> SqliteStatement::Real(int column) const {
  if (IsNull(column)) return std::nullopt;
  return sqlite3_column_double(statement_, column);
}
std::string_view SqliteStatement::View(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  return {static_cast<const char*>(data),
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace hone
