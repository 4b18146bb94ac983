#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "credit/method.h"
#include "engine/engine.h"
#include "evaluate/statistics.h"
#include "learn/update.h"
#include "record/score.h"

// What one update by a method of credit does to single calls: does it make right calls of failed
// attempts likelier, and wrong or needless ones less likely? `hone credit audit`.

namespace hone {

// What the labels of a task say of a call; or the environment, where it judges calls: then a call
// is right or wrong where it stands, and none is needless.
enum class CallVerdict {
  kRight,     // it stands for a gold call, with right arguments
  kNeedless,  // the task needs no call, or a right call is made once more
  kWrong,     // another tool, or other arguments
};

struct AuditedCall {
  size_t record = 0;  // that it is of
  NodeId node = kNoNode;
  Span span;  // its tokens, in the node
  CallVerdict verdict = CallVerdict::kWrong;
  bool success = false;  // of its trajectory
  double before = 0;     // log-probability of its tokens when they were drawn
};

// The calls of all trajectories whose success and whose gold calls are known. A call that several
// trajectories share is there for each of them. The error names a task whose labels cannot be read.
Result<std::vector<AuditedCall>> CallsOf(std::span<const ScoredTree> records);

// A share of calls, with an interval over tasks.
struct AuditedShare {
  std::optional<Interval> share;  // absent: there are no such calls
  int64_t calls = 0;              // that it is a share of
};

struct CreditAudit {
  std::string method;
  AuditedShare right_rose;     // of the right calls in failed attempts: those that got likelier
  AuditedShare wrong_fell;     // of the wrong calls in successful ones: those that got less likely
  AuditedShare needless_fell;  // of all needless calls: the same
};

struct CreditAuditOptions {
  ObjectiveOptions objective;
  OptimizerOptions optimizer = {.learning_rate = 3e-4};
  Engine::Options engine;  // that of whoever drew the records
  uint64_t seed = 1;       // of intervals
};

// Credits the records by the method, takes one step of a fresh optimiser on a copy of the model
// that drew them, and asks the copy for the calls again. An error where the method cannot be used
// on these records.
Result<CreditAudit> AuditCredit(const Method& method, const std::vector<ScoredTree>& records,
                                const std::vector<AuditedCall>& calls, const Model& drew,
                                const CreditAuditOptions& options);

}  // namespace hone
