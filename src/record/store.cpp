#include "record/store.h"

#include <cerrno>
#include <cmath>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/json.h"
#include "record/array_codec.h"
#include "record/record_json.h"
#include "record/validate.h"

namespace hone {
namespace {

// "hone" in ASCII: tells a run store from any other SQLite file.
constexpr int kApplicationId = 0x686f6e65;

// Entry i brings a store from version i to i + 1. Never edited once released, only added to.
constexpr const char* kMigrations[RunStore::kSchemaVersion] = {
    R"(CREATE TABLE metrics(
         step INTEGER NOT NULL, name TEXT NOT NULL, value REAL,
         PRIMARY KEY(step, name)) WITHOUT ROWID;
       CREATE TABLE trees(
         id INTEGER PRIMARY KEY AUTOINCREMENT, step INTEGER NOT NULL, task TEXT NOT NULL,
         nodes INTEGER NOT NULL, leaves INTEGER NOT NULL, tokens INTEGER NOT NULL,
         record BLOB NOT NULL, arrays BLOB NOT NULL);
       CREATE TABLE scores(tree INTEGER PRIMARY KEY, mean_reward REAL, terms BLOB NOT NULL);
       CREATE TABLE advantages(tree INTEGER PRIMARY KEY, arrays BLOB NOT NULL);)",
    "CREATE INDEX trees_by_step ON trees(step);",
};

Result<void> CheckValid(const ScoredTree& record) {
  const std::vector<std::string> problems = Validate(record);
  if (problems.empty()) return {};
  return Error(ErrorCode::kInvalidArgument, "an invalid tree: " + problems.front());
}

}  // namespace

// A prepared statement. Bind in order, then Step until false; errors are kept until asked for.
class RunStore::Statement {
 public:
  Statement(const RunStore* store, const char* sql) : store_(store) {
    code_ = sqlite3_prepare_v2(store->database_, sql, -1, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(int64_t value) { return Bound(sqlite3_bind_int64(statement_, ++bound_, value)); }
  Statement& Bind(double value) { return Bound(sqlite3_bind_double(statement_, ++bound_, value)); }
  Statement& Bind(std::optional<double> value) {
    return value ? Bind(*value) : Bound(sqlite3_bind_null(statement_, ++bound_));
  }
  Statement& Bind(const std::string& text) {
    return Bound(sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_STATIC,
                                     SQLITE_UTF8));
  }
  Statement& BindBlob(const std::string& blob) {
    return Bound(
        sqlite3_bind_blob64(statement_, ++bound_, blob.data(), blob.size(), SQLITE_STATIC));
  }

  // True when there is a row to read.
  bool Step() {
    if (code_ != SQLITE_OK && code_ != SQLITE_ROW) return false;
    code_ = sqlite3_step(statement_);
    return code_ == SQLITE_ROW;
  }
  // Runs a statement that gives no rows.
  Result<void> Run(std::string_view doing) {
    Step();
    return Check(doing);
  }
  Result<void> Check(std::string_view doing) const {
    if (code_ == SQLITE_OK || code_ == SQLITE_ROW || code_ == SQLITE_DONE) return {};
    return store_->ErrorOf(code_, doing);
  }

  int64_t Integer(int column) const { return sqlite3_column_int64(statement_, column); }
  std::optional<double> Real(int column) const {
    if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
    return sqlite3_column_double(statement_, column);
  }
  std::string Bytes(int column) const {
    const void* data = sqlite3_column_blob(statement_, column);
    return std::string(static_cast<const char*>(data),
                       static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
  }

 private:
  Statement& Bound(int code) {
    if (code_ == SQLITE_OK) code_ = code;
    return *this;
  }

  const RunStore* store_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int code_ = SQLITE_OK;
};

Error RunStore::ErrorOf(int code, std::string_view doing) const {
  const std::string file = file_.string();
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
      return Error(
          ErrorCode::kUnavailable,
          fmt::format("{}: another process is writing it; wait for that run to end", file));
    case SQLITE_NOTADB:
      return Error(ErrorCode::kInvalidArgument, fmt::format("{}: not a run store", file));
    case SQLITE_CORRUPT:
      return Error(ErrorCode::kCorrupt, fmt::format("{}: damaged ({})", file, detail));
    case SQLITE_CANTOPEN:
      return Error(ErrorCode::kNotFound, fmt::format("{}: cannot be opened ({})", file, detail));
    case SQLITE_READONLY: return Error(ErrorCode::kIo, fmt::format("{}: may not be written", file));
    default: return Error(ErrorCode::kIo, fmt::format("{}: {} failed ({})", file, doing, detail));
  }
}

Result<void> RunStore::Execute(const char* sql) const {
  const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return ErrorOf(code, "writing");
  return {};
}

Result<void> RunStore::Connect(int flags, std::string_view uri_options) {
  std::string name = file_.string();
  if (!uri_options.empty()) {
    std::string escaped = "file:";
    for (const char c : std::filesystem::absolute(file_).string()) {
      escaped += std::string_view("%?#").find(c) == std::string_view::npos
                     ? std::string(1, c)
                     : fmt::format("%{:02x}", static_cast<uint8_t>(c));
    }
    name = escaped + std::string(uri_options);
    flags |= SQLITE_OPEN_URI;
  }
  const int code = sqlite3_open_v2(name.c_str(), &database_, flags, nullptr);
  if (code != SQLITE_OK) return ErrorOf(code, "opening");
  sqlite3_extended_result_codes(database_, 1);
  sqlite3_busy_timeout(database_, 5000);
  return {};
}

Result<void> RunStore::CheckVersion(int* version) const {
  Statement id(this, "PRAGMA application_id"), user_version(this, "PRAGMA user_version");
  Statement tables(this, "SELECT count(*) FROM sqlite_master");
  if (!id.Step() || !user_version.Step() || !tables.Step()) {
    HONE_RETURN_IF_ERROR(id.Check("opening"));
    HONE_RETURN_IF_ERROR(user_version.Check("opening"));
    return tables.Check("opening");
  }
  const bool empty = tables.Integer(0) == 0;
  if (!empty && id.Integer(0) != kApplicationId) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: an SQLite file, but not a run store", file_.string()));
  }
  *version = static_cast<int>(user_version.Integer(0));
  if (*version > kSchemaVersion) {
    return Error(ErrorCode::kVersion,
                 fmt::format("{}: written by a newer Hone (schema {}, this one knows {}); use that "
                             "version to read it",
                             file_.string(), *version, kSchemaVersion));
  }
  return {};
}

Result<void> RunStore::Migrate() {
  while (true) {
    // Each step is one transaction: a kill in the middle leaves the older, whole version. The
    // version is read inside of it, because another process may just have done the same.
    HONE_RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE"));
    int version = 0;
    Result<void> done = CheckVersion(&version);
    const bool current = done.ok() && version == kSchemaVersion;
    if (done.ok() && !current) {
      done = Execute(fmt::format("{} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT",
                                 kMigrations[version], kApplicationId, version + 1)
                         .c_str());
    }
    if (!sqlite3_get_autocommit(database_)) (void)Execute("ROLLBACK").ok();
    if (!done.ok() || current) return done;
  }
}

Result<std::unique_ptr<RunStore>> RunStore::Open(const std::filesystem::path& file) {
  std::unique_ptr<RunStore> store(new RunStore(file));
  HONE_RETURN_IF_ERROR(store->Connect(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  int version = 0;
  HONE_RETURN_IF_ERROR(store->CheckVersion(&version));
  // FULL: a commit has reached the disk when the call returns, power cuts included.
  HONE_RETURN_IF_ERROR(store->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
  HONE_RETURN_IF_ERROR(store->Migrate());
  return store;
}

Result<std::unique_ptr<RunStore>> RunStore::OpenForReading(const std::filesystem::path& file) {
  std::unique_ptr<RunStore> store(new RunStore(file));
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    return Error(ErrorCode::kNotFound, fmt::format("{}: no such run store", file.string()));
  }
  HONE_RETURN_IF_ERROR(store->Connect(SQLITE_OPEN_READONLY));
  int version = 0;
  Result<void> known = store->CheckVersion(&version);
  // A reader shares an index file with the writer. In a folder it may not write, and with no
  // writer's log beside the store, the file can be read as it is.
  if (!known.ok() && !std::filesystem::exists(file.string() + "-wal", ignored)) {
    sqlite3_close(std::exchange(store->database_, nullptr));
    HONE_RETURN_IF_ERROR(store->Connect(SQLITE_OPEN_READONLY, "?immutable=1"));
    known = store->CheckVersion(&version);
  }
  if (!known.ok()) return known.error();
  if (version == 0) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: an empty file, not a run store", file.string()));
  }
  return store;
}

RunStore::~RunStore() { sqlite3_close(database_); }

RunStore::Transaction::Transaction(Transaction&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)) {}

RunStore::Transaction::~Transaction() {
  if (store_ == nullptr) return;
  store_->in_transaction_ = false;
  // A failed statement may have rolled everything back already.
  if (!sqlite3_get_autocommit(store_->database_)) (void)store_->Execute("ROLLBACK");
}

Result<void> RunStore::Transaction::Commit() {
  CHECK(store_ != nullptr, "a transaction is committed once");
  if (sqlite3_get_autocommit(store_->database_)) {
    return Error(ErrorCode::kIo, "the transaction was rolled back by an earlier failure");
  }
  HONE_RETURN_IF_ERROR(store_->Execute("COMMIT"));
  store_->in_transaction_ = false;
  store_ = nullptr;
  return {};
}

Result<RunStore::Transaction> RunStore::Begin() {
  CHECK(!in_transaction_, "transactions do not nest");
  HONE_RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE"));
  in_transaction_ = true;
  return Transaction(this);
}

Result<int64_t> RunStore::AddTree(int64_t step, const ScoredTree& record) {
  HONE_RETURN_IF_ERROR(CheckValid(record));
  std::optional<Transaction> own;
  if (!in_transaction_) {
    HONE_ASSIGN_OR_RETURN(Transaction transaction, Begin());
    own.emplace(std::move(transaction));
  }
  const Tree& tree = record.tree;
  ScoredTree bare{tree, {}, {}};  // scores and advantages have tables of their own
  const std::string head = Compress(DumpJson(RecordToJson(bare, TokenArrays::kLeftOut)));
  const std::string arrays = EncodeTreeArrays(tree);
  HONE_RETURN_IF_ERROR(Statement(this,
                                 "INSERT INTO trees(step, task, nodes, leaves, tokens, record, "
                                 "arrays) VALUES(?, ?, ?, ?, ?, ?, ?)")
                           .Bind(step)
                           .Bind(tree.task.id)
                           .Bind(static_cast<int64_t>(tree.nodes.size()))
                           .Bind(static_cast<int64_t>(tree.leaves.size()))
                           .Bind(CountTokens(tree))
                           .BindBlob(head)
                           .BindBlob(arrays)
                           .Run("adding a tree"));
  const int64_t id = sqlite3_last_insert_rowid(database_);
  if (!record.scores.empty()) HONE_RETURN_IF_ERROR(WriteScores(id, record.scores));
  if (!record.advantages.empty()) HONE_RETURN_IF_ERROR(WriteAdvantages(id, record.advantages));
  if (own) HONE_RETURN_IF_ERROR(own->Commit());
  return id;
}

Result<void> RunStore::SetScores(int64_t id, const std::vector<Score>& scores) {
  HONE_ASSIGN_OR_RETURN(ScoredTree record, ReadTree(id));
  record.scores = scores;
  HONE_RETURN_IF_ERROR(CheckValid(record));
  return WriteScores(id, scores);
}

Result<void> RunStore::SetAdvantages(int64_t id, const std::vector<Advantages>& advantages) {
  HONE_ASSIGN_OR_RETURN(ScoredTree record, ReadTree(id));
  record.advantages = advantages;
  HONE_RETURN_IF_ERROR(CheckValid(record));
  return WriteAdvantages(id, advantages);
}

Result<void> RunStore::WriteScores(int64_t id, const std::vector<Score>& scores) {
  const std::string terms = Compress(DumpJson(ScoresToJson(scores)));
  return Statement(this, "INSERT OR REPLACE INTO scores(tree, mean_reward, terms) VALUES(?, ?, ?)")
      .Bind(id)
      .Bind(MeanReward(scores))
      .BindBlob(terms)
      .Run("adding scores");
}

Result<void> RunStore::WriteAdvantages(int64_t id, const std::vector<Advantages>& advantages) {
  const std::string arrays = EncodeAdvantages(advantages);
  return Statement(this, "INSERT OR REPLACE INTO advantages(tree, arrays) VALUES(?, ?)")
      .Bind(id)
      .BindBlob(arrays)
      .Run("adding advantages");
}

Result<void> RunStore::AddMetrics(int64_t step, const std::map<std::string, double>& values) {
  std::optional<Transaction> own;
  if (!in_transaction_) {
    HONE_ASSIGN_OR_RETURN(Transaction transaction, Begin());
    own.emplace(std::move(transaction));
  }
  for (const auto& [name, value] : values) {
    const std::optional<double> finite = std::isfinite(value) ? std::optional(value) : std::nullopt;
    HONE_RETURN_IF_ERROR(
        Statement(this, "INSERT OR REPLACE INTO metrics(step, name, value) VALUES(?, ?, ?)")
            .Bind(step)
            .Bind(name)
            .Bind(finite)
            .Run("adding metrics"));
  }
  if (own) HONE_RETURN_IF_ERROR(own->Commit());
  return {};
}

Result<void> RunStore::DropStepsFrom(int64_t step) {
  CHECK(!in_transaction_, "DropStepsFrom is a transaction of its own");
  HONE_ASSIGN_OR_RETURN(Transaction transaction, Begin());
  for (const char* sql :
       {"DELETE FROM scores WHERE tree IN (SELECT id FROM trees WHERE step >= ?)",
        "DELETE FROM advantages WHERE tree IN (SELECT id FROM trees WHERE step >= ?)",
        "DELETE FROM trees WHERE step >= ?", "DELETE FROM metrics WHERE step >= ?"}) {
    HONE_RETURN_IF_ERROR(Statement(this, sql).Bind(step).Run("dropping steps"));
  }
  return transaction.Commit();
}

Result<std::vector<RunStore::TreeSummary>> RunStore::ListTrees(int64_t first_id,
                                                               int64_t limit) const {
  Statement statement(
      this,
      "SELECT id, step, task, nodes, leaves, tokens, mean_reward FROM trees LEFT JOIN "
      "scores ON tree = id WHERE id >= ? ORDER BY id LIMIT ?");
  statement.Bind(first_id).Bind(limit);
  std::vector<TreeSummary> summaries;
  while (statement.Step()) {
    summaries.push_back({statement.Integer(0), statement.Integer(1), statement.Bytes(2),
                         static_cast<int32_t>(statement.Integer(3)),
                         static_cast<int32_t>(statement.Integer(4)), statement.Integer(5),
                         statement.Real(6)});
  }
  HONE_RETURN_IF_ERROR(statement.Check("listing trees"));
  return summaries;
}

Result<int64_t> RunStore::CountTrees() const {
  Statement statement(this, "SELECT count(*) FROM trees");
  const bool row = statement.Step();
  HONE_RETURN_IF_ERROR(statement.Check("counting trees"));
  return row ? statement.Integer(0) : 0;
}

Result<ScoredTree> RunStore::ReadTree(int64_t id) const {
  Statement statement(this,
                      "SELECT record, t.arrays, terms, a.arrays FROM trees t LEFT JOIN scores s ON "
                      "s.tree = id LEFT JOIN advantages a ON a.tree = id WHERE id = ?");
  statement.Bind(id);
  const bool row = statement.Step();
  HONE_RETURN_IF_ERROR(statement.Check("reading a tree"));
  if (!row) {
    return Error(ErrorCode::kNotFound, fmt::format("{}: no tree {}", file_.string(), id));
  }
  auto decode = [&]() -> Result<ScoredTree> {
    HONE_ASSIGN_OR_RETURN(const std::string head, Decompress(statement.Bytes(0)));
    HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(head));
    HONE_ASSIGN_OR_RETURN(ScoredTree record, RecordFromJson(json));
    HONE_RETURN_IF_ERROR(DecodeTreeArrays(statement.Bytes(1), &record.tree));
    if (const std::string terms = statement.Bytes(2); !terms.empty()) {
      HONE_ASSIGN_OR_RETURN(const std::string text, Decompress(terms));
      HONE_ASSIGN_OR_RETURN(const Json scores, ParseJson(text));
      JsonErrors errors;
      ReadJson(scores, "scores", &errors, &record.scores);
      HONE_RETURN_IF_ERROR(errors.Check());
    }
    if (const std::string arrays = statement.Bytes(3); !arrays.empty()) {
      HONE_ASSIGN_OR_RETURN(record.advantages, DecodeAdvantages(arrays));
    }
    // Each part has its checksum; that they belong together is checked here.
    if (const auto problems = Validate(record); !problems.empty()) {
      return Error(ErrorCode::kCorrupt, problems.front());
    }
    return record;
  };
  Result<ScoredTree> record = decode();
  if (!record.ok()) return record.error().In(fmt::format("{}: tree {}", file_.string(), id));
  return record;
}

Result<std::map<int64_t, double>> RunStore::ReadMetric(const std::string& name) const {
  Statement statement(this, "SELECT step, value FROM metrics WHERE name = ? ORDER BY step");
  statement.Bind(name);
  std::map<int64_t, double> values;
  while (statement.Step()) values[statement.Integer(0)] = statement.Real(1).value_or(std::nan(""));
  HONE_RETURN_IF_ERROR(statement.Check("reading metrics"));
  return values;
}

Result<std::vector<std::string>> RunStore::MetricNames() const {
  Statement statement(this, "SELECT DISTINCT name FROM metrics ORDER BY name");
  std::vector<std::string> names;
  while (statement.Step()) names.push_back(statement.Bytes(0));
  HONE_RETURN_IF_ERROR(statement.Check("reading metrics"));
  return names;
}

}  // namespace hone
