#include "record/store.h"

#include <cmath>

#include <fmt/format.h>

#include "base/json.h"
#include "record/array_codec.h"
#include "record/record_json.h"
#include "record/validate.h"

namespace hone {
namespace {

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

constexpr SqliteFormat kFormat = {.name = "run store",
                                  .application_id = 0x686f6e65,  // "hone" in ASCII
                                  .migrations = kMigrations};

Result<void> CheckValid(const ScoredTree& record) {
  const std::vector<std::string> problems = Validate(record);
  if (problems.empty()) return {};
  return Error(ErrorCode::kInvalidArgument, "an invalid tree: " + problems.front());
}

}  // namespace

Result<std::unique_ptr<RunStore>> RunStore::Open(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(auto opened, SqliteFile::Open(file, kFormat));
  return std::unique_ptr<RunStore>(new RunStore(std::move(opened)));
}

Result<std::unique_ptr<RunStore>> RunStore::OpenForReading(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(auto opened, SqliteFile::OpenForReading(file, kFormat));
  return std::unique_ptr<RunStore>(new RunStore(std::move(opened)));
}

RunStore::~RunStore() = default;

RunStore::Transaction::Transaction(Transaction&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)) {}

RunStore::Transaction::~Transaction() {
  if (store_ == nullptr) return;
  store_->in_transaction_ = false;
  store_->file_->Rollback();
}

Result<void> RunStore::Transaction::Commit() {
  CHECK(store_ != nullptr, "a transaction is committed once");
  if (!store_->file_->InTransaction()) {
    return Error(ErrorCode::kIo, "the transaction was rolled back by an earlier failure");
  }
  HONE_RETURN_IF_ERROR(store_->file_->Execute("COMMIT"));
  store_->in_transaction_ = false;
  store_ = nullptr;
  return {};
}

Result<RunStore::Transaction> RunStore::Begin() {
  CHECK(!in_transaction_, "transactions do not nest");
  HONE_RETURN_IF_ERROR(file_->Execute("BEGIN IMMEDIATE"));
  in_transaction_ = true;
  return Transaction(this);
}

Result<void> RunStore::ReplaceTree(int64_t id, const ScoredTree& record) {
  CHECK(!in_transaction_, "ReplaceTree is a transaction of its own");
  HONE_RETURN_IF_ERROR(CheckValid(record));
  HONE_ASSIGN_OR_RETURN(Transaction transaction, Begin());
  const Tree& tree = record.tree;
  const std::string head =
      Compress(DumpJson(RecordToJson(ScoredTree{tree, {}, {}}, TokenArrays::kLeftOut)));
  const std::string arrays = EncodeTreeArrays(tree);
  for (const char* sql :
       {"DELETE FROM scores WHERE tree = ?", "DELETE FROM advantages WHERE tree = ?"}) {
    HONE_RETURN_IF_ERROR(SqliteStatement(file_.get(), sql).Bind(id).Run("replacing a tree"));
  }
  HONE_RETURN_IF_ERROR(SqliteStatement(file_.get(),
                                       "UPDATE trees SET task = ?, nodes = ?, leaves = ?, tokens = "
                                       "?, record = ?, arrays = ? WHERE id = ?")
                           .Bind(tree.task.id)
                           .Bind(static_cast<int64_t>(tree.nodes.size()))
                           .Bind(static_cast<int64_t>(tree.leaves.size()))
                           .Bind(CountTokens(tree))
                           .BindBlob(head)
                           .BindBlob(arrays)
                           .Bind(id)
                           .Run("replacing a tree"));
  if (file_->ChangedRows() == 0) {
    return Error(ErrorCode::kNotFound, fmt::format("the store has no tree {}", id));
  }
  if (!record.scores.empty()) HONE_RETURN_IF_ERROR(WriteScores(id, record.scores));
  if (!record.advantages.empty()) HONE_RETURN_IF_ERROR(WriteAdvantages(id, record.advantages));
  return transaction.Commit();
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
  HONE_RETURN_IF_ERROR(
      SqliteStatement(file_.get(),
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
  const int64_t id = file_->LastInsertedRow();
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
  return SqliteStatement(file_.get(),
                         "INSERT OR REPLACE INTO scores(tree, mean_reward, terms) VALUES(?, ?, ?)")
      .Bind(id)
      .Bind(MeanReward(scores))
      .BindBlob(terms)
      .Run("adding scores");
}

Result<void> RunStore::WriteAdvantages(int64_t id, const std::vector<Advantages>& advantages) {
  const std::string arrays = EncodeAdvantages(advantages);
  return SqliteStatement(file_.get(),
                         "INSERT OR REPLACE INTO advantages(tree, arrays) VALUES(?, ?)")
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
        SqliteStatement(file_.get(),
                        "INSERT OR REPLACE INTO metrics(step, name, value) VALUES(?, ?, ?)")
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
    HONE_RETURN_IF_ERROR(SqliteStatement(file_.get(), sql).Bind(step).Run("dropping steps"));
  }
  return transaction.Commit();
}

Result<std::vector<RunStore::TreeSummary>> RunStore::ListTrees(int64_t first_id,
                                                               int64_t limit) const {
  SqliteStatement statement(
      file_.get(),
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

Result<RunStore::TreePage> RunStore::PageTrees(const TreeQuery& query) const {
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  const TreePlace behind =
      query.behind.value_or(query.newest_first ? TreePlace{kEnd, kEnd} : TreePlace{-1, -1});
  // The index over steps holds ids behind equal steps, so it gives this order without sorting.
  const std::string sql = fmt::format(
      "SELECT id, step, task, nodes, leaves, tokens, mean_reward FROM trees LEFT JOIN scores ON "
      "tree = id WHERE step BETWEEN ? AND ? AND (step, id) {0} (?, ?) ORDER BY step {1}, id {1} "
      "LIMIT ?",
      query.newest_first ? "<" : ">", query.newest_first ? "DESC" : "ASC");
  SqliteStatement statement(file_.get(), sql);
  statement.Bind(query.first_step).Bind(query.last_step).Bind(behind.step).Bind(behind.id);
  statement.Bind(query.look_at);
  TreePage page;
  TreePlace last;
  int64_t looked_at = 0;
  while (statement.Step()) {
    if (static_cast<int64_t>(page.trees.size()) == query.limit) {
      page.next = last;  // there is another one
      break;
    }
    ++looked_at;
    last = {statement.Integer(1), statement.Integer(0)};
    const std::optional<double> reward = statement.Real(6);
    if (query.least_reward && !(reward && *reward >= *query.least_reward)) continue;
    if (query.most_reward && !(reward && *reward <= *query.most_reward)) continue;
    page.trees.push_back(
        {last.id, last.step, statement.Bytes(2), static_cast<int32_t>(statement.Integer(3)),
         static_cast<int32_t>(statement.Integer(4)), statement.Integer(5), reward});
  }
  HONE_RETURN_IF_ERROR(statement.Check("listing trees"));
  if (looked_at == query.look_at) page.next = last;
  return page;
}

Result<int64_t> RunStore::CountTrees() const {
  SqliteStatement statement(file_.get(), "SELECT count(*) FROM trees");
  const bool row = statement.Step();
  HONE_RETURN_IF_ERROR(statement.Check("counting trees"));
  return row ? statement.Integer(0) : 0;
}

Result<ScoredTree> RunStore::ReadTree(int64_t id) const {
  SqliteStatement statement(
      file_.get(),
      "SELECT record, t.arrays, terms, a.arrays FROM trees t LEFT JOIN scores s ON "
      "s.tree = id LEFT JOIN advantages a ON a.tree = id WHERE id = ?");
  statement.Bind(id);
  const bool row = statement.Step();
  HONE_RETURN_IF_ERROR(statement.Check("reading a tree"));
  if (!row) {
    return Error(ErrorCode::kNotFound, fmt::format("{}: no tree {}", file_->path().string(), id));
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
  if (!record.ok())
    return record.error().In(fmt::format("{}: tree {}", file_->path().string(), id));
  return record;
}

Result<std::map<int64_t, double>> RunStore::ReadMetric(const std::string& name) const {
  SqliteStatement statement(file_.get(),
                            "SELECT step, value FROM metrics WHERE name = ? ORDER BY step");
  statement.Bind(name);
  std::map<int64_t, double> values;
  while (statement.Step()) values[statement.Integer(0)] = statement.Real(1).value_or(std::nan(""));
  HONE_RETURN_IF_ERROR(statement.Check("reading metrics"));
  return values;
}

Result<std::vector<std::string>> RunStore::MetricNames() const {
  SqliteStatement statement(file_.get(), "SELECT DISTINCT name FROM metrics ORDER BY name");
  std::vector<std::string> names;
  while (statement.Step()) names.push_back(statement.Bytes(0));
  HONE_RETURN_IF_ERROR(statement.Check("reading metrics"));
  return names;
}

}  // namespace hone
