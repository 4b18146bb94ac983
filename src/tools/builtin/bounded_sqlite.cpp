#include "tools/builtin/bounded_sqlite.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/check.h"
#include "base/utf8.h"

namespace hone {
namespace {

// How many steps pass between two looks at the bounds: about 20 microseconds.
constexpr int kStepsPerLook = 1000;
// What SQLite as a whole may hold: a last resort against queries that build large things slowly.
constexpr int64_t kMaxMemoryBytes = int64_t{1} << 30;

// Functions that touch files, load code or give another answer each time; and json_patch, which
// compares every name with every other in one step.
constexpr std::array<std::string_view, 11> kRefusedFunctions = {
    "load_extension", "readfile", "writefile", "edit",       "fts3_tokenizer", "fsdir",
    "lsmode",         "zipfile",  "random",    "randomblob", "json_patch"};
// Pragmas that only describe.
constexpr std::array<std::string_view, 8> kDescribingPragmas = {
    "table_info", "table_xinfo", "table_list",       "index_list",
    "index_info", "index_xinfo", "foreign_key_list", "data_version"};

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

bool IsNamedIn(const char* name, const auto& names) {
  return name != nullptr && std::any_of(names.begin(), names.end(), [&](std::string_view other) {
           return EqualIgnoringCase(name, other);
         });
}

int Authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
  bool allowed = false;
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: allowed = true; break;
    case SQLITE_FUNCTION: allowed = !IsNamedIn(second, kRefusedFunctions); break;
    // SQLite asks this of itself when it declares the columns of a virtual table. A statement that
    // tries it is refused by SQLite, and the file is open for reading alone.
    case SQLITE_UPDATE:
      allowed = first != nullptr && std::string_view(first) == "sqlite_master";
      break;
    case SQLITE_PRAGMA: allowed = IsNamedIn(first, kDescribingPragmas); break;
    default: break;
  }
  return allowed ? SQLITE_OK : SQLITE_DENY;
}

// "file:" with what has a meaning in such names escaped.
std::string UriOf(const std::filesystem::path& file, std::string_view options) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    const bool special = std::string_view("%?#").find(c) != std::string_view::npos;
    uri += special ? fmt::format("%{:02x}", static_cast<uint8_t>(c)) : std::string(1, c);
  }
  return uri + std::string(options);
}

}  // namespace

Result<std::unique_ptr<BoundedDatabase>> BoundedDatabase::Connect(const std::string& name,
                                                                  int flags) {
  std::unique_ptr<BoundedDatabase> database(new BoundedDatabase);
  const int code = sqlite3_open_v2(name.c_str(), &database->database_,
                                   flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) {
    return Error(code == SQLITE_CANTOPEN ? ErrorCode::kNotFound : ErrorCode::kIo,
                 database->Message());
  }
  sqlite3_busy_timeout(database->database_, 5000);
  return database;
}

Result<std::unique_ptr<BoundedDatabase>> BoundedDatabase::OpenToRead(
    const std::filesystem::path& file, bool immutable) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    return Error(ErrorCode::kNotFound, file.string() + ": there is no such file");
  }
  auto database = Connect(UriOf(file, immutable ? "?immutable=1" : ""), SQLITE_OPEN_READONLY);
  if (!database.ok()) return database.error().In(file.string());
  // Opening alone reads nothing: a file of another kind shows here.
  if (Result<void> read = (*database)->Execute("SELECT count(*) FROM sqlite_master"); !read.ok()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: cannot be read as an SQLite file ({})", file.string(),
                             read.error().message()));
  }
  return database;
}

Result<std::unique_ptr<BoundedDatabase>> BoundedDatabase::Create(
    const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<BoundedDatabase> database,
                        Connect(file.empty() ? ":memory:" : UriOf(file, ""),
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  HONE_RETURN_IF_ERROR(database->Execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"));
  return database;
}

BoundedDatabase::~BoundedDatabase() {
  on_stop_.reset();  // nobody interrupts what is closed
  sqlite3_close(database_);
}

Result<void> BoundedDatabase::Execute(const char* sql) {
  const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return Error(code == SQLITE_FULL ? ErrorCode::kFull : ErrorCode::kIo, Message());
}

void BoundedDatabase::Confine(int64_t max_value_bytes) {
  sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(database_, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database_, SQLITE_LIMIT_WORKER_THREADS, 0);
  sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, static_cast<int>(max_value_bytes));
  functions_ = std::make_unique<CountedSqlFunctions>(
      database_, [this](int64_t steps) { return MayGoOn(steps); },
      static_cast<int>(max_value_bytes));
  // What sorts and groups stays in memory: nothing is written anywhere.
  CHECK(Execute("PRAGMA temp_store = MEMORY").ok());
  sqlite3_set_authorizer(database_, &Authorize, nullptr);
}

void BoundedDatabase::Bound(const QueryBounds& bounds) {
  bounds_ = bounds;
  steps_ = 0;
  spent_ = late_ = stopped_ = false;
  until_ = std::chrono::steady_clock::now() + bounds.time;
  sqlite3_progress_handler(database_, kStepsPerLook, &OnProgress, this);
  // Heard at the next step that jumps, where the handler is called once in a thousand.
  on_stop_.emplace(bounds.stop, [database = database_] { sqlite3_interrupt(database); });
}

bool BoundedDatabase::MayGoOn(int64_t steps) {
  steps_ += steps;
  stopped_ = bounds_.stop.stop_requested();
  late_ = bounds_.time.count() > 0 && std::chrono::steady_clock::now() > until_;
  spent_ = (bounds_.steps > 0 && steps_ > bounds_.steps) || sqlite3_memory_used() > kMaxMemoryBytes;
  return !HitBound();
}

int BoundedDatabase::OnProgress(void* self) {
  return static_cast<BoundedDatabase*>(self)->MayGoOn(kStepsPerLook) ? 0 : 1;
}

bool BoundedDatabase::Stopped() const {
  // An interrupt ends the statement without asking the handler.
  return stopped_ || (bounds_.stop.stop_requested() && !spent_ && !late_);
}

std::string BoundedDatabase::Message() const {
  if (Stopped()) return "stopped before it was done";
  if (spent_ || late_) {
    return fmt::format("too much work: more than {}; narrow it down (WHERE, LIMIT, fewer joins)",
                       spent_ ? fmt::format("{} steps", bounds_.steps)
                              : fmt::format("{} ms", bounds_.time.count()));
  }
  return database_ == nullptr ? "out of memory" : sqlite3_errmsg(database_);
}

// --- statements ----------------------------------------------------------------------------------

BoundedStatement::BoundedStatement(BoundedDatabase* database, std::string_view sql) : rest_(sql) {
  const char* tail = nullptr;
  failed_ = sqlite3_prepare_v2(database->database_, sql.data(), static_cast<int>(sql.size()),
                               &statement_, &tail) != SQLITE_OK;
  if (!failed_ && tail != nullptr) rest_.remove_prefix(static_cast<size_t>(tail - sql.data()));
}

BoundedStatement::~BoundedStatement() { sqlite3_finalize(statement_); }

BoundedStatement& BoundedStatement::Bind(std::string_view text) {
  // An empty view may have no data, which SQLite would take for NULL.
  const char* data = text.empty() ? "" : text.data();
  failed_ |= sqlite3_bind_text64(statement_, ++bound_, data, text.size(), SQLITE_STATIC,
                                 SQLITE_UTF8) != SQLITE_OK;
  return *this;
}

BoundedStatement& BoundedStatement::Bind(int64_t value) {
  failed_ |= sqlite3_bind_int64(statement_, ++bound_, value) != SQLITE_OK;
  return *this;
}

bool BoundedStatement::Step() {
  if (failed_ || statement_ == nullptr) return false;
  const int code = sqlite3_step(statement_);
  failed_ = code != SQLITE_ROW && code != SQLITE_DONE;
  return code == SQLITE_ROW;
}

void BoundedStatement::Reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  bound_ = 0;
}

bool BoundedStatement::ReadOnly() const { return sqlite3_stmt_readonly(statement_) != 0; }

int BoundedStatement::columns() const { return sqlite3_column_count(statement_); }

std::string BoundedStatement::ColumnName(int column) const {
  const char* name = sqlite3_column_name(statement_, column);
  return Utf8Lossy(name == nullptr ? "" : name);
}

int64_t BoundedStatement::Integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double BoundedStatement::Real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string BoundedStatement::Text(int column) const {
  const void* text = sqlite3_column_text(statement_, column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return text == nullptr ? "" : Utf8Lossy({static_cast<const char*>(text), size});
}

Json BoundedStatement::Value(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER: return Json(Integer(column));
    case SQLITE_FLOAT: {
      const double real = Real(column);
      return std::isfinite(real) ? Json(real) : Json();
    }
    case SQLITE_TEXT: return Json(Text(column));
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const uint8_t*>(sqlite3_column_blob(statement_, column));
      const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
      std::string hex = "0x";
      for (size_t i = 0; i < size; ++i) hex += fmt::format("{:02x}", bytes[i]);
      return Json(std::move(hex));
    }
    default: return Json();
  }
}

}  // namespace hone
