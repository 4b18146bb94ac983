#include "tools/journal/journal.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/mutex.h"
#include "base/sqlite.h"
#include "tools/journal/journal_queries.h"
#include "tools/journal/journal_rows.h"

namespace hone {
namespace {

constexpr char kWhereIdentity[] =
    "WHERE run = ? AND task = ? AND path = ? AND turn = ? AND call = ?";

std::string Select(std::string_view columns, std::string_view table, std::string_view where) {
  return fmt::format("SELECT {} FROM {} {}", columns, table, where);
}

bool Writes(Effect effect) { return effect == Effect::kWrites || effect == Effect::kIrreversible; }

// A statement in use. Left alone it would hold its read of the file open.
class InUse {
 public:
  explicit InUse(SqliteStatement* statement) : statement_(statement) {}
  ~InUse() { statement_->Reset(); }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  SqliteStatement* statement_;
};

// The two questions that are asked of one call, on one connection.
class Lookup {
 public:
  explicit Lookup(const SqliteFile* file)
      : file_(file),
        calls_(file, Select(kCallColumns, "calls", kWhereIdentity)),
        begun_(file, Select(kBegunColumns, "begun", kWhereIdentity)) {}

  Result<std::optional<JournalEntry>> Call(const CallIdentity& identity) {
    const InUse use(&calls_);
    BindIdentity(identity, &calls_);
    if (calls_.Step()) {
      Result<JournalEntry> entry = ReadCall(calls_, 0);
      if (!entry.ok()) return entry.error().In(file_->path().string());
      return std::optional(*std::move(entry));
    }
    HONE_RETURN_IF_ERROR(calls_.Check("looking up a call"));
    return std::optional<JournalEntry>();
  }

  Result<std::optional<BegunCall>> Begun(const CallIdentity& identity) {
    const InUse use(&begun_);
    BindIdentity(identity, &begun_);
    if (begun_.Step()) {
      Result<BegunCall> begun = ReadBegun(begun_);
      if (!begun.ok()) return begun.error().In(file_->path().string());
      return std::optional(*std::move(begun));
    }
    HONE_RETURN_IF_ERROR(begun_.Check("looking up a call"));
    return std::optional<BegunCall>();
  }

 private:
  const SqliteFile* file_;
  SqliteStatement calls_, begun_;
};

// A connection that reads, with its statements. One thread at a time.
struct Reader {
  explicit Reader(std::unique_ptr<SqliteFile> opened)
      : file(std::move(opened)),
        lookup(file.get()),
        by_content(file.get(),
                   Select(kCallColumns, "calls",
                          fmt::format("WHERE content_hash = ? AND {} ORDER BY id LIMIT 1",
                                      kAnsweredByContent))) {}

  std::unique_ptr<SqliteFile> file;
  Lookup lookup;
  SqliteStatement by_content;
};

// The connections that are not in use; more are opened as more threads read at once.
class Readers {
 public:
  explicit Readers(std::filesystem::path file) : file_(std::move(file)) {}

  // Runs `read` with a connection of its own.
  template <typename Read>
  auto With(Read read) -> decltype(read(std::declval<Reader&>())) {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Reader> reader, Take());
    auto result = read(*reader);
    const MutexLock lock(mutex_);
    idle_.push_back(std::move(reader));
    return result;
  }

 private:
  Result<std::unique_ptr<Reader>> Take() {
    {
      const MutexLock lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Reader> reader = std::move(idle_.back());
        idle_.pop_back();
        return reader;
      }
    }
    HONE_ASSIGN_OR_RETURN(auto file, SqliteFile::OpenForReading(file_, kJournalFormat));
    return std::make_unique<Reader>(std::move(file));
  }

  const std::filesystem::path file_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Reader>> idle_ HONE_GUARDED_BY(mutex_);
};

// --- writing -------------------------------------------------------------------------------------

// One thing to be written, with what was computed for it outside of any lock.
struct QueuedEntry {
  const JournalEntry* entry = nullptr;  // an outcome, or
  const BegunCall* begun = nullptr;     // a beginning
  CallTexts texts;

  const CallIdentity& identity() const { return entry ? entry->identity : begun->identity; }
  // Beginnings and outcomes of writes must survive a power cut: from them follows what is repeated.
  bool must_sync() const { return begun != nullptr || Writes(entry->effect); }

  // What was checked and computed for it; the entry must outlive the item.
  static Result<QueuedEntry> Of(const JournalEntry& entry) {
    QueuedEntry item{&entry, nullptr, CallTexts::Of(entry)};
    HONE_RETURN_IF_ERROR(CheckRecordable(entry, item.texts));
    return item;
  }
  static Result<QueuedEntry> Of(const BegunCall& begun) {
    QueuedEntry item{nullptr, &begun, CallTexts::Of(begun.content)};
    HONE_RETURN_IF_ERROR(CheckRecordable(begun.identity, begun.content, item.texts));
    return item;
  }
};

// What became of an item.
enum class Outcome {
  kAdded,
  kEqual,     // it is there already
  kBegun,     // (a beginning) the same was begun before
  kFinished,  // (a beginning) the same has an outcome
  kConflict,  // something else is there
};

// The one connection that writes. Threads that come while another commits wait and are then
// committed together: most of what a commit costs does not depend on how much is in it.
class Writer {
 public:
  explicit Writer(std::unique_ptr<SqliteFile> opened)
      : file_(std::move(opened)),
        lookup_(file_.get()),
        add_call_(
            file_.get(),
            fmt::format("INSERT INTO calls({}, content_hash) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,"
                        "?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
                        kCallColumns)),
        add_begun_(file_.get(),
                   fmt::format("INSERT INTO begun({}) VALUES(?,?,?,?,?,?,?,?,?,?)", kBegunColumns)),
        drop_begun_(file_.get(), fmt::format("DELETE FROM begun {}", kWhereIdentity)) {}

  // Commits the items, all or none of them; the outcomes are theirs in order.
  Result<std::vector<Outcome>> Write(std::span<const QueuedEntry> items) {
    Request request{items, {}, {}, false};
    MutexLock lock(mutex_);
    waiting_.push_back(&request);
    while (!request.done) {
      if (committing_) {
        changed_.wait(lock);
        continue;
      }
      // Nobody commits: this thread does, for all who wait.
      committing_ = true;
      const std::vector<Request*> batch = std::exchange(waiting_, {});
      lock.unlock();
      const Result<void> committed = Commit(batch);
      lock.lock();
      for (Request* each : batch) {
        if (!committed.ok()) each->error = committed.error();
        each->done = true;
      }
      committing_ = false;
      changed_.notify_all();
    }
    if (request.error) return *request.error;
    return std::move(request.outcomes);
  }

 private:
  // Lives on the stack of the thread that waits for it.
  struct Request {
    std::span<const QueuedEntry> items;
    std::vector<Outcome> outcomes;
    std::optional<Error> error;
    bool done = false;
  };

  Result<void> Commit(const std::vector<Request*>& batch) {
    const Result<void> committed = CommitOrFail(batch);
    if (!committed.ok()) file_->Rollback();
    return committed;
  }

  Result<void> CommitOrFail(const std::vector<Request*>& batch) {
    bool sync = false;
    for (const Request* request : batch) {
      sync = sync || std::any_of(request->items.begin(), request->items.end(),
                                 [](const QueuedEntry& item) { return item.must_sync(); });
    }
    if (sync != syncing_) {
      HONE_RETURN_IF_ERROR(file_->SyncEveryCommit(sync));
      syncing_ = sync;
    }
    HONE_RETURN_IF_ERROR(file_->Execute("BEGIN IMMEDIATE"));
    for (Request* request : batch) {
      for (const QueuedEntry& item : request->items) {
        HONE_ASSIGN_OR_RETURN(const Outcome outcome,
                              item.entry != nullptr ? AddCall(item) : AddBegun(item));
        request->outcomes.push_back(outcome);
      }
    }
    return file_->Execute("COMMIT");
  }

  Result<Outcome> AddCall(const QueuedEntry& item) {
    const JournalEntry& entry = *item.entry;
    // What was begun is replaced by its outcome, unless it asked something else.
    HONE_ASSIGN_OR_RETURN(const auto begun, lookup_.Begun(entry.identity));
    if (begun && begun->content != entry.content) return Outcome::kConflict;
    if (begun) {
      const InUse use(&drop_begun_);
      BindIdentity(entry.identity, &drop_begun_);
      HONE_RETURN_IF_ERROR(drop_begun_.Run("recording a call"));
    }
    {
      const InUse use(&add_call_);
      BindCall(entry, item.texts, &add_call_);
      add_call_.BindBlob(item.texts.content_hash);
      HONE_RETURN_IF_ERROR(add_call_.Run("recording a call"));
      if (file_->ChangedRows() == 1) return Outcome::kAdded;
    }
    HONE_ASSIGN_OR_RETURN(std::optional<JournalEntry> there, lookup_.Call(entry.identity));
    if (!there) return Outcome::kConflict;
    there->recorded_ms = entry.recorded_ms;
    return *there == entry ? Outcome::kEqual : Outcome::kConflict;
  }

  Result<Outcome> AddBegun(const QueuedEntry& item) {
    const BegunCall& begun = *item.begun;
    HONE_ASSIGN_OR_RETURN(const auto call, lookup_.Call(begun.identity));
    if (call) {
      return call->content == begun.content ? Outcome::kFinished : Outcome::kConflict;
    }
    HONE_ASSIGN_OR_RETURN(const auto there, lookup_.Begun(begun.identity));
    if (there) return there->content == begun.content ? Outcome::kBegun : Outcome::kConflict;
    const InUse use(&add_begun_);
    BindBegun(begun.identity, begun.content, begun.effect, item.texts, &add_begun_);
    HONE_RETURN_IF_ERROR(add_begun_.Run("beginning a call"));
    return Outcome::kAdded;
  }

  const std::unique_ptr<SqliteFile> file_;
  Lookup lookup_;
  SqliteStatement add_call_, add_begun_, drop_begun_;
  bool syncing_ = true;

  Mutex mutex_;
  ConditionVariable changed_;
  std::vector<Request*> waiting_ HONE_GUARDED_BY(mutex_);
  bool committing_ HONE_GUARDED_BY(mutex_) = false;
};

// --- the journal ---------------------------------------------------------------------------------

class SqliteJournal final : public Journal {
 public:
  // `writer` is null for a journal that is only read.
  SqliteJournal(std::filesystem::path file, std::unique_ptr<Writer> writer)
      : file_(std::move(file)),
        writer_(std::move(writer)),
        // Opened as they are needed, when the working directory may be another.
        readers_(std::filesystem::absolute(file_)) {}

  Result<Found> Find(const CallIdentity& identity) override {
    return readers_.With([&](Reader& reader) -> Result<Found> {
      Found found;
      HONE_ASSIGN_OR_RETURN(found.entry, reader.lookup.Call(identity));
      if (found.entry) return found;
      HONE_ASSIGN_OR_RETURN(const auto begun, reader.lookup.Begun(identity));
      found.begun = begun.has_value();
      if (found.begun) return found;
      // Between the two looks it may have got its outcome; an outcome is never taken away, so that
      // two misses around "not begun" mean that there was none.
      HONE_ASSIGN_OR_RETURN(found.entry, reader.lookup.Call(identity));
      return found;
    });
  }

  Result<std::optional<JournalEntry>> FindByContent(const CallContent& content) override {
    const CallTexts texts = CallTexts::Of(content);
    return readers_.With([&](Reader& reader) -> Result<std::optional<JournalEntry>> {
      SqliteStatement& statement = reader.by_content;
      const InUse use(&statement);
      statement.BindBlob(texts.content_hash);
      if (statement.Step()) {
        Result<JournalEntry> entry = ReadCall(statement, 0);
        if (!entry.ok()) return entry.error().In(file_.string());
        return std::optional(*std::move(entry));
      }
      HONE_RETURN_IF_ERROR(statement.Check("looking up a call"));
      return std::optional<JournalEntry>();
    });
  }

  Result<void> Begin(const CallIdentity& identity, const CallContent& content,
                     Effect effect) override {
    const BegunCall begun{identity, content, effect};
    HONE_ASSIGN_OR_RETURN(const QueuedEntry item, QueuedEntry::Of(begun));
    HONE_ASSIGN_OR_RETURN(const auto outcomes, Write({&item, 1}));
    switch (outcomes[0]) {
      case Outcome::kAdded: return {};
      case Outcome::kFinished: return Refused(identity, "has an outcome already; replay that");
      case Outcome::kBegun:
        return Refused(identity,
                       "was begun before and may have been carried out; record it as interrupted");
      default:
        return Refused(identity, "is in the journal with other content; give the run another name");
    }
  }

  Result<void> Finish(const JournalEntry& entry) override {
    HONE_ASSIGN_OR_RETURN(const QueuedEntry item, QueuedEntry::Of(entry));
    HONE_ASSIGN_OR_RETURN(const auto outcomes, Write({&item, 1}));
    if (outcomes[0] != Outcome::kConflict) return {};
    return Refused(entry.identity,
                   "is in the journal with another outcome or other content, and an outcome is "
                   "recorded once; replay it, or give the run another name");
  }

  Result<AddReport> Add(std::span<const JournalEntry> entries,
                        std::span<const BegunCall> begun) override {
    std::vector<QueuedEntry> items;
    for (const JournalEntry& entry : entries) {
      HONE_ASSIGN_OR_RETURN(QueuedEntry item, QueuedEntry::Of(entry));
      items.push_back(std::move(item));
    }
    for (const BegunCall& call : begun) {
      HONE_ASSIGN_OR_RETURN(QueuedEntry item, QueuedEntry::Of(call));
      items.push_back(std::move(item));
    }
    HONE_ASSIGN_OR_RETURN(const auto outcomes, Write(items));
    AddReport report;
    for (size_t i = 0; i < items.size(); ++i) {
      if (outcomes[i] == Outcome::kAdded) {
        ++report.added;
      } else if (outcomes[i] == Outcome::kConflict) {
        report.conflicts.push_back(items[i].identity());
      } else {
        ++report.equal;
      }
    }
    return report;
  }

  Result<std::vector<NumberedEntry>> List(const JournalFilter& filter, int64_t after_id,
                                          int64_t limit) override {
    return readers_.With(
        [&](Reader& reader) { return ListCalls(*reader.file, filter, after_id, limit); });
  }
  Result<std::vector<BegunCall>> ListBegun(const JournalFilter& filter) override {
    return readers_.With([&](Reader& reader) { return ListBegunCalls(*reader.file, filter); });
  }
  Result<JournalStatistics> Statistics() override {
    return readers_.With([&](Reader& reader) { return ReadStatistics(*reader.file); });
  }

 private:
  Result<std::vector<Outcome>> Write(std::span<const QueuedEntry> items) {
    if (writer_ != nullptr) return writer_->Write(items);
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: was opened for reading only", file_.string()));
  }

  Error Refused(const CallIdentity& identity, std::string_view why) const {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: the call {} {}", file_.string(), identity.Text(), why));
  }

  const std::filesystem::path file_;
  // Destroyed after the readers: the last connection to close writes the log back into the file,
  // which one that only reads cannot.
  const std::unique_ptr<Writer> writer_;
  Readers readers_;
};

}  // namespace

std::string CallIdentity::Text() const {
  return fmt::format("{}/{}/{} turn {} call {}", run, task, path, turn, call);
}

std::string CallContent::Hash() const {
  return ContentHash(Json::Of({{"environment_seed", environment_seed},
                               {"tool", tool},
                               {"arguments", arguments},
                               {"state_hash", state_hash}}));
}

Result<std::unique_ptr<Journal>> Journal::Open(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(auto opened, SqliteFile::Open(file, kJournalFormat));
  return std::unique_ptr<Journal>(
      new SqliteJournal(file, std::make_unique<Writer>(std::move(opened))));
}

Result<std::unique_ptr<Journal>> Journal::OpenForReading(const std::filesystem::path& file) {
  // Opened here for its errors only; whoever reads opens it.
  HONE_RETURN_IF_ERROR(SqliteFile::OpenForReading(file, kJournalFormat));
  return std::unique_ptr<Journal>(new SqliteJournal(file, nullptr));
}

}  // namespace hone
