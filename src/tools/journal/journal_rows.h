#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sqlite.h"
#include "tools/journal/journal.h"

// How calls lie in the tables of a journal (docs/formats/journal.md).

namespace hone {

extern const SqliteFormat kJournalFormat;

// The columns of `calls` behind its id, in the order of BindCall and ReadCall.
inline constexpr std::string_view kCallColumns =
    "run, task, path, turn, call, environment_seed, tool, state_hash, effect, source, status, "
    "blame, injected, latency_us, attempts, cut_bytes, session_lost, recorded_ms, checksum, "
    "arguments, attempt_list, content";

// The columns of `begun`.
inline constexpr std::string_view kBegunColumns =
    "run, task, path, turn, call, environment_seed, tool, state_hash, effect, arguments";

// Which calls FindByContent may answer with: really answered, no fault put in. The spelling is that
// of the index, which serves only queries that repeat it.
inline constexpr std::string_view kAnsweredByContent =
    "status IN ('ok', 'tool_error') AND injected = '' AND source <> 'simulator'";

// The texts of a call that its struct does not hold as they are stored.
struct CallTexts {
  std::string arguments;                    // JSON, members in their order
  std::string content_hash;                 // 32 bytes
  std::optional<std::string> attempt_list;  // absent: one attempt, which is the result

  static CallTexts Of(const CallContent& content);
  static CallTexts Of(const JournalEntry& entry);
};

// What cannot be recorded: an index that is not the result's, text that is not UTF-8, too much.
Result<void> CheckRecordable(const JournalEntry& entry, const CallTexts& texts);
Result<void> CheckRecordable(const CallIdentity& identity, const CallContent& content,
                             const CallTexts& texts);

// Binds kCallColumns; everything must outlive the statement's last step.
void BindCall(const JournalEntry& entry, const CallTexts& texts, SqliteStatement* statement);
void BindIdentity(const CallIdentity& identity, SqliteStatement* statement);
void BindBegun(const CallIdentity& identity, const CallContent& content, Effect effect,
               const CallTexts& texts, SqliteStatement* statement);

// Reads kCallColumns from column `first` on. A row whose bytes are not those that were written is
// kCorrupt.
Result<JournalEntry> ReadCall(const SqliteStatement& statement, int first);
Result<BegunCall> ReadBegun(const SqliteStatement& statement);

}  // namespace hone
