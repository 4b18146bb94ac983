#include "tools/journal/journal_rows.h"

#include <cstring>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "tools/journal/journal_json.h"

namespace hone {
namespace {

// Small columns first, so that long ones push only themselves onto further pages.
constexpr const char* kMigrations[] = {
    R"(CREATE TABLE calls(
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         run TEXT NOT NULL, task TEXT NOT NULL, path TEXT NOT NULL,
         turn INTEGER NOT NULL, call INTEGER NOT NULL,
         content_hash BLOB NOT NULL,
         environment_seed INTEGER NOT NULL, tool TEXT NOT NULL, state_hash TEXT NOT NULL,
         effect TEXT NOT NULL, source TEXT NOT NULL,
         status TEXT NOT NULL, blame TEXT NOT NULL, injected TEXT NOT NULL,
         latency_us INTEGER NOT NULL, attempts INTEGER NOT NULL, cut_bytes INTEGER NOT NULL,
         session_lost INTEGER NOT NULL, recorded_ms INTEGER NOT NULL, checksum INTEGER NOT NULL,
         arguments TEXT NOT NULL, attempt_list TEXT, content BLOB NOT NULL);
       CREATE UNIQUE INDEX calls_by_identity ON calls(run, task, path, turn, call);
       CREATE INDEX calls_by_content ON calls(content_hash)
         WHERE status IN ('ok', 'tool_error') AND injected = '' AND source <> 'simulator';
       CREATE TABLE begun(
         run TEXT NOT NULL, task TEXT NOT NULL, path TEXT NOT NULL,
         turn INTEGER NOT NULL, call INTEGER NOT NULL,
         environment_seed INTEGER NOT NULL, tool TEXT NOT NULL, state_hash TEXT NOT NULL,
         effect TEXT NOT NULL, arguments TEXT NOT NULL,
         PRIMARY KEY(run, task, path, turn, call)) WITHOUT ROWID;)",
};

// SQLite refuses rows of 1 GB; a refusal there would fail the calls committed with it.
constexpr size_t kMostBytes = size_t{256} << 20;

template <typename Enum>
std::optional<Enum> FromName(std::string_view word, std::string_view (*name)(Enum), Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// One number over everything that a row says, so that a flipped bit anywhere is noticed.
class Checksum {
 public:
  Checksum& Add(int64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Checksum& Add(std::string_view text) { return Add(static_cast<int64_t>(Hash64(text))); }
  int64_t value() const { return static_cast<int64_t>(Hash64(bytes_)); }

 private:
  std::string bytes_;
};

// What a row holds, as it lies there: the same for writing and reading.
struct Row {
  std::string_view run, task, path;
  int64_t turn, call;
  int64_t environment_seed;  // the 64 bits, read as signed
  std::string_view tool, state_hash, effect, source, status, blame, injected;
  int64_t latency_us, attempts, cut_bytes, session_lost, recorded_ms;
  std::string_view arguments;
  std::optional<std::string_view> attempt_list;
  std::string_view content;

  int64_t ComputeChecksum() const {
    Checksum sum;
    for (const std::string_view text : {run, task, path, tool, state_hash, effect, source, status,
                                        blame, injected, arguments, content}) {
      sum.Add(text);
    }
    for (const int64_t number : {turn, call, environment_seed, latency_us, attempts, cut_bytes,
                                 session_lost, recorded_ms, int64_t{attempt_list.has_value()}}) {
      sum.Add(number);
    }
    return sum.Add(attempt_list.value_or("")).value();
  }
};

Error Damaged(const CallIdentity& identity, std::string_view what) {
  return Error(ErrorCode::kCorrupt,
               fmt::format("the call {} is damaged: {}; take the journal from a copy, or export "
                           "what is left of it",
                           identity.Text(), what));
}

Result<void> CheckTexts(const CallIdentity& identity,
                        std::initializer_list<std::string_view> texts) {
  size_t bytes = 0;
  for (const std::string_view text : texts) {
    bytes += text.size();
    if (!IsUtf8(text)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the call {} cannot be recorded: a text of it is not UTF-8",
                               Utf8Lossy(identity.Text())));
    }
  }
  if (bytes > kMostBytes) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the call {} cannot be recorded: {} bytes, and {} is the most; cut "
                             "results to size before",
                             identity.Text(), bytes, kMostBytes));
  }
  return {};
}

}  // namespace

const SqliteFormat kJournalFormat = {.name = "journal",
                                     .application_id = 0x686f6e6a,  // "honj" in ASCII
                                     .migrations = kMigrations,
                                     .busy_timeout_ms = 60000};

CallTexts CallTexts::Of(const CallContent& content) {
  const std::string hash = content.Hash();
  CallTexts texts;
  texts.arguments = DumpJson(content.arguments);
  for (size_t i = 0; i + 1 < hash.size(); i += 2) {
    const auto nibble = [&](size_t at) {
      return hash[at] <= '9' ? hash[at] - '0' : hash[at] - 'a' + 10;
    };
    texts.content_hash += static_cast<char>(nibble(i) << 4 | nibble(i + 1));
  }
  return texts;
}

CallTexts CallTexts::Of(const JournalEntry& entry) {
  CallTexts texts = Of(entry.content);
  if (const std::optional<Json> attempts = AttemptsToJson(entry)) {
    texts.attempt_list = DumpJson(*attempts);
  }
  return texts;
}

Result<void> CheckRecordable(const JournalEntry& entry, const CallTexts& texts) {
  if (entry.result.call != entry.identity.call) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the call {} cannot be recorded: its result says call {}",
                             entry.identity.Text(), entry.result.call));
  }
  HONE_RETURN_IF_ERROR(CheckRecordable(entry.identity, entry.content, texts));
  return CheckTexts(entry.identity, {entry.result.content, entry.result.injected,
                                     texts.attempt_list ? *texts.attempt_list : ""});
}

Result<void> CheckRecordable(const CallIdentity& identity, const CallContent& content,
                             const CallTexts& texts) {
  return CheckTexts(identity, {identity.run, identity.task, identity.path, content.tool,
                               content.state_hash, texts.arguments});
}

void BindIdentity(const CallIdentity& identity, SqliteStatement* statement) {
  statement->Bind(identity.run)
      .Bind(identity.task)
      .Bind(identity.path)
      .Bind(int64_t{identity.turn})
      .Bind(int64_t{identity.call});
}

void BindBegun(const CallIdentity& identity, const CallContent& content, Effect effect,
               const CallTexts& texts, SqliteStatement* statement) {
  BindIdentity(identity, statement);
  statement->Bind(static_cast<int64_t>(content.environment_seed))
      .Bind(content.tool)
      .Bind(content.state_hash)
      .Bind(EffectName(effect))
      .Bind(texts.arguments);
}

void BindCall(const JournalEntry& entry, const CallTexts& texts, SqliteStatement* statement) {
  const ToolResult& result = entry.result;
  const Row row = {
      entry.identity.run,
      entry.identity.task,
      entry.identity.path,
      entry.identity.turn,
      entry.identity.call,
      static_cast<int64_t>(entry.content.environment_seed),
      entry.content.tool,
      entry.content.state_hash,
      EffectName(entry.effect),
      CallSourceName(entry.source),
      CallStatusName(result.status),
      BlameName(result.blame),
      result.injected,
      result.latency_us,
      result.attempts,
      result.cut_bytes,
      entry.session_lost,
      entry.recorded_ms,
      texts.arguments,
      texts.attempt_list,
      result.content,
  };
  BindIdentity(entry.identity, statement);
  statement->Bind(row.environment_seed)
      .Bind(row.tool)
      .Bind(row.state_hash)
      .Bind(row.effect)
      .Bind(row.source)
      .Bind(row.status)
      .Bind(row.blame)
      .Bind(row.injected)
      .Bind(row.latency_us)
      .Bind(row.attempts)
      .Bind(row.cut_bytes)
      .Bind(row.session_lost)
      .Bind(row.recorded_ms)
      .Bind(row.ComputeChecksum())
      .Bind(row.arguments)
      .Bind(row.attempt_list)
      .BindBlob(row.content);
}

namespace {

// The columns as they are stored, and the checksum that was stored with them.
Row ReadRow(const SqliteStatement& statement, int first, int64_t* checksum) {
  int column = first;
  const auto text = [&] { return statement.View(column++); };
  const auto number = [&] { return statement.Integer(column++); };
  Row row;
  row.run = text();
  row.task = text();
  row.path = text();
  row.turn = number();
  row.call = number();
  row.environment_seed = number();
  row.tool = text();
  row.state_hash = text();
  row.effect = text();
  row.source = text();
  row.status = text();
  row.blame = text();
  row.injected = text();
  row.latency_us = number();
  row.attempts = number();
  row.cut_bytes = number();
  row.session_lost = number();
  row.recorded_ms = number();
  *checksum = number();
  row.arguments = text();
  if (!statement.IsNull(column)) row.attempt_list = statement.View(column);
  ++column;
  row.content = text();
  return row;
}

}  // namespace

Result<JournalEntry> ReadCall(const SqliteStatement& statement, int first) {
  int64_t checksum = 0;
  const Row row = ReadRow(statement, first, &checksum);
  JournalEntry entry;
  entry.identity = {std::string(row.run), std::string(row.task), std::string(row.path),
                    static_cast<int32_t>(row.turn), static_cast<int32_t>(row.call)};
  if (row.ComputeChecksum() != checksum) {
    return Damaged(entry.identity, "its bytes are not those that were written");
  }
  entry.content.environment_seed = static_cast<uint64_t>(row.environment_seed);
  entry.content.tool = row.tool;
  entry.content.state_hash = row.state_hash;
  const auto effect = EffectFromName(row.effect);
  const auto source = FromName(row.source, &CallSourceName, CallSource::kTool);
  const auto status = FromName(row.status, &CallStatusName, CallStatus::kInterrupted);
  const auto blame = FromName(row.blame, &BlameName, Blame::kInfrastructure);
  if (!effect || !source || !status || !blame) return Damaged(entry.identity, "an unknown word");
  entry.effect = *effect;
  entry.source = *source;
  entry.result = {entry.identity.call,
                  *status,
                  *blame,
                  std::string(row.content),
                  row.latency_us,
                  static_cast<int32_t>(row.attempts),
                  row.cut_bytes,
                  std::string(row.injected)};
  entry.session_lost = row.session_lost != 0;
  entry.recorded_ms = row.recorded_ms;
  Result<Json> arguments = ParseJson(row.arguments);
  if (!arguments.ok()) return Damaged(entry.identity, arguments.error().message());
  entry.content.arguments = *std::move(arguments);
  std::optional<Json> attempts;
  if (row.attempt_list) {
    Result<Json> parsed = ParseJson(*row.attempt_list);
    if (!parsed.ok()) return Damaged(entry.identity, parsed.error().message());
    attempts = *std::move(parsed);
  }
  const Result<void> read = AttemptsFromJson(attempts ? &*attempts : nullptr, &entry);
  if (!read.ok()) return Damaged(entry.identity, read.error().message());
  return entry;
}

Result<BegunCall> ReadBegun(const SqliteStatement& statement) {
  BegunCall begun;
  begun.identity = {statement.Bytes(0), statement.Bytes(1), statement.Bytes(2),
                    static_cast<int32_t>(statement.Integer(3)),
                    static_cast<int32_t>(statement.Integer(4))};
  begun.content.environment_seed = static_cast<uint64_t>(statement.Integer(5));
  begun.content.tool = statement.Bytes(6);
  begun.content.state_hash = statement.Bytes(7);
  const auto effect = EffectFromName(statement.View(8));
  Result<Json> arguments = ParseJson(statement.View(9));
  if (!effect || !arguments.ok()) return Damaged(begun.identity, "what was begun cannot be read");
  begun.effect = *effect;
  begun.content.arguments = *std::move(arguments);
  return begun;
}

}  // namespace hone
