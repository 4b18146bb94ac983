#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace hone {

// A half-open range of token positions inside one node.
struct Span {
  int32_t begin = 0;
  int32_t end = 0;

  bool empty() const { return begin >= end; }
  bool operator==(const Span&) const = default;
};

// A tool call that the policy wrote and that could be read.
struct Call {
  std::string name;
  Json arguments;  // an object
  Span span;       // the tokens of its node that spelled it, markers included

  bool operator==(const Call&) const = default;
};

// Why an action of the policy could not be read. A fault is an event on the record, so that a
// malformed call can be penalised where it stands instead of disappearing.
enum class FaultKind {
  kIncomplete,      // the text ends inside an action (cut off by a limit)
  kBadJson,         // what should be JSON is not
  kBadCall,         // JSON, but not a call: no name, arguments that are not an object, wrong fields
  kUnexpectedText,  // text where the grammar allows none, or a second action
  kNoAction,        // nothing that the grammar calls an action or an answer
};

std::string_view FaultKindName(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kBadJson;
  std::string message;  // shown to the policy and to people
  Span span;            // where; empty when it is the turn as a whole

  bool operator==(const Fault&) const = default;
};

// Whose fault a failure is. Only the agent's own train the agent.
enum class Blame {
  kNone,
  kAgent,
  kTool,
  kSimulator,
  kUserSimulator,
  kJudge,
  kEnvironment,
  kInfrastructure,
};

std::string_view BlameName(Blame blame);

// How a call ended.
enum class CallStatus {
  kOk,
  kToolError,         // the tool ran and reported an error
  kUnknownTool,       // no tool of that name
  kInvalidArguments,  // the arguments do not fit the tool's schema
  kDenied,            // a shield or a person refused it
  kTimeout,           // no answer within the deadline
  kUnavailable,       // the tool could not be reached
  kInterrupted,       // cancelled, or a write in flight when the run was killed; never repeated
};

std::string_view CallStatusName(CallStatus status);

// Who answered a call. In the order of their names.
enum class CallSource {
  kComputed,   // the real tool, which is pure, in place of a simulator
  kExecutor,   // nobody: it was refused, cancelled or too late
  kJournal,    // a record of what was answered before
  kSimulator,  // somebody who plays the tool
  kTool,       // the tool itself
};

std::string_view CallSourceName(CallSource source);

// What came back for one call. The tokens the policy saw are the node's; this is the typed record.
struct ToolResult {
  int32_t call = 0;  // index into the calls of the parent (policy) node
  CallStatus status = CallStatus::kOk;
  Blame blame = Blame::kNone;
  std::string content;     // as the tool gave it, cut to size, before rendering
  int64_t latency_us = 0;  // as measured or simulated
  int32_t attempts = 1;    // retries included
  int64_t cut_bytes = 0;   // left out of `content` because it was too long
  std::string injected;    // the kind of fault that was put in on purpose; empty: none

  bool operator==(const ToolResult&) const = default;
};

}  // namespace hone
