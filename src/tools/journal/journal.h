#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "record/call.h"
#include "tools/tool_spec.h"

namespace hone {

// Which call it is: the n-th of a turn of a branch of a task of a run.
struct CallIdentity {
  std::string run;
  std::string task;
  std::string path;  // the branch of the group's tree, e.g. "3" or "3/1"
  int32_t turn = 0;
  int32_t call = 0;

  auto operator<=>(const CallIdentity&) const = default;  // NOLINT: no null is meant
  std::string Text() const;  // "run/task/path turn 2 call 0", for messages
};

// What it asks, of which state of the world: equal content may have equal answers.
struct CallContent {
  uint64_t environment_seed = 0;
  std::string tool;
  Json arguments;
  std::string state_hash;  // of what was done to the state the tool reads; empty: nothing

  bool operator==(const CallContent&) const = default;
  // SHA-256, in hexadecimal, of the canonical text of all of it.
  std::string Hash() const;
};

// One attempt on the way to an outcome, for people who look.
struct Attempt {
  CallStatus status = CallStatus::kOk;
  std::string content;
  int64_t latency_us = 0;
  std::string injected;  // kind of fault put in; empty: none

  bool operator==(const Attempt&) const = default;
};

// A call and how it ended.
struct JournalEntry {
  CallIdentity identity;
  CallContent content;
  Effect effect = Effect::kReads;
  CallSource source = CallSource::kTool;  // who answered
  ToolResult result;                      // `call` equals identity.call
  std::vector<Attempt> attempts;          // all of them, the last included
  bool session_lost = false;              // it ended the session it ran in (ToolReply)
  int64_t recorded_ms = 0;                // Unix time; not part of any key

  bool operator==(const JournalEntry&) const = default;
};

// A call that was begun and whose outcome is not known: it may have been carried out.
struct BegunCall {
  CallIdentity identity;
  CallContent content;
  Effect effect = Effect::kWrites;

  bool operator==(const BegunCall&) const = default;
};

// Which calls are meant; what is empty or absent excludes none.
struct JournalFilter {
  std::string run;
  std::string task;
  std::string tool;
  std::optional<CallStatus> status;
  bool only_injected = false;  // those with a fault put in
};

struct NumberedEntry {
  int64_t id = 0;  // ascends in the order of recording, within one journal
  JournalEntry entry;
};

// What adding calls of elsewhere came to.
struct AddReport {
  int64_t added = 0;
  int64_t equal = 0;                    // were there already
  std::vector<CallIdentity> conflicts;  // another outcome is there; it was left as it is
};

struct ToolStatistics {
  std::string tool;
  int64_t calls = 0;
  std::map<std::string, int64_t> statuses;  // by name
  int64_t injected = 0;                     // with a fault put in
  int64_t content_bytes = 0;                // of all results
  double mean_latency_us = 0;
};

struct JournalStatistics {
  int64_t calls = 0;
  int64_t begun = 0;     // without outcome
  int64_t contents = 0;  // different questions that FindByContent can answer
  int64_t content_bytes = 0;
  int64_t file_bytes = 0;             // with the log beside it
  std::vector<ToolStatistics> tools;  // by name
  std::map<std::string, int64_t> statuses;
  std::map<std::string, int64_t> sources;
  std::map<std::string, int64_t> injected;  // by kind of fault
  std::map<std::string, int64_t> runs;      // calls of each
};

// What tools answered, kept so that a run can be derived again without them
// (docs/formats/journal.md).
//
// One SQLite file. A call that returned success has committed; after a kill at any moment the
// journal opens and holds all of it. Begin, and Finish of a call that writes, survive a power cut
// too. Several processes may write one journal, while others read. A full disk is kFull and leaves
// nothing half-written. Thread-safe; what many threads record at once is committed together.
class Journal {
 public:
  static Result<std::unique_ptr<Journal>> Open(const std::filesystem::path& file);
  static Result<std::unique_ptr<Journal>> OpenForReading(const std::filesystem::path& file);
  virtual ~Journal() = default;

  // What is known of a call by its identity.
  struct Found {
    std::optional<JournalEntry> entry;  // its outcome; compare entry->content with what is asked
    bool begun = false;                 // no outcome, but it may have been carried out
  };
  virtual Result<Found> Find(const CallIdentity& identity) = 0;
  // The outcome of the earliest recorded call of equal content that was really answered (ok or
  // tool_error, and not by a simulator) and had no fault put in.
  virtual Result<std::optional<JournalEntry>> FindByContent(const CallContent& content) = 0;

  // Commits that a call which must not be repeated is about to be carried out. Refused when the
  // call was begun before or has an outcome: it must not be carried out then.
  virtual Result<void> Begin(const CallIdentity& identity, const CallContent& content,
                             Effect effect) = 0;
  // Commits the outcome. A second outcome for the same identity is refused, unless it is equal
  // (the time of recording aside): then this is success and changes nothing.
  virtual Result<void> Finish(const JournalEntry& entry) = 0;

  // Commits calls of elsewhere, all in one. What is there already is never changed.
  virtual Result<AddReport> Add(std::span<const JournalEntry> entries,
                                std::span<const BegunCall> begun) = 0;

  // Calls with an outcome, by ascending id, from behind `after_id` on.
  virtual Result<std::vector<NumberedEntry>> List(const JournalFilter& filter, int64_t after_id,
                                                  int64_t limit) = 0;
  // Calls without outcome, by identity. `status` and `only_injected` of the filter exclude all.
  virtual Result<std::vector<BegunCall>> ListBegun(const JournalFilter& filter) = 0;
  virtual Result<JournalStatistics> Statistics() = 0;
};

// Adds everything of one journal to another.
Result<AddReport> MergeJournal(Journal* from, Journal* into);

}  // namespace hone
