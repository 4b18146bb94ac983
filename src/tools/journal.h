#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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

  bool operator==(const CallIdentity&) const = default;
  std::string Text() const;  // "run/task/path turn 2 call 0", for messages
};

// What it asks, of which state of the world: equal content may have equal answers.
struct CallContent {
  uint64_t environment_seed = 0;
  std::string tool;
  Json arguments;
  std::string state_hash;  // of what was done to the state the tool reads; empty: nothing

  bool operator==(const CallContent&) const = default;
  // SHA-256 of the canonical text of all of it.
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
  std::string source;             // who answered: "tool", "simulator", "executor"
  ToolResult result;              // `call` equals identity.call
  std::vector<Attempt> attempts;  // all of them, the last included
  int64_t recorded_ms = 0;        // Unix time; not part of any key

  bool operator==(const JournalEntry&) const = default;
};

// What tools answered, kept so that a run can be derived again without them.
//
// One SQLite file. A call that returned success has committed; after a kill at any moment the
// journal opens and holds all of it. Several processes may write one journal. Thread-safe.
class Journal {
 public:
  static Result<std::unique_ptr<Journal>> Open(const std::filesystem::path& file);
  static Result<std::unique_ptr<Journal>> OpenForReading(const std::filesystem::path& file);
  virtual ~Journal() = default;

  // What is known of a call by its identity.
  struct Found {
    std::optional<JournalEntry> entry;  // its outcome
    bool begun = false;                 // no outcome, but it may have been carried out
  };
  virtual Result<Found> Find(const CallIdentity& identity) = 0;
  // The outcome of the earliest recorded call of equal content that was really answered (ok or
  // tool_error) and had no fault put in.
  virtual Result<std::optional<JournalEntry>> FindByContent(const CallContent& content) = 0;

  // Commits that a call which must not be repeated is about to be carried out.
  virtual Result<void> Begin(const CallIdentity& identity, const CallContent& content,
                             Effect effect) = 0;
  // Commits the outcome. A second outcome for the same identity is refused.
  virtual Result<void> Finish(const JournalEntry& entry) = 0;
};

}  // namespace hone
