#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "envs/environments.h"
#include "evaluate/shortcuts.h"
#include "tools/responder.h"
#include "tools/timeline.h"

namespace hone {

// Who answers calls in a world, in order. Called once per thread; the timeline is that thread's.
using WorldAnswers = std::function<std::vector<std::shared_ptr<Responder>>(Timeline* timeline)>;

// The tools themselves.
WorldAnswers RealWorld(std::shared_ptr<const Toolbox> toolbox);

struct AuditOptions {
  double mistakes = 0.6;  // of calls, by those who get them wrong (evaluate/mistakes.h)
  uint64_t seed = 1;      // of the mistakes, and of episodes whose task has no seed
  int threads = 1;        // the report does not depend on it
};

// How the tasks fare in one world, each with the gold answer of that world.
struct WorldReport {
  int64_t tasks = 0;
  // The gold plan met something else than an answer: there is nothing to be learned there.
  int64_t void_tasks = 0;
  std::map<std::string, std::pair<int64_t, int64_t>> by_kind;  // void, all
  std::map<std::string, int64_t> void_reasons;                 // "cancel_order tool_error"
  double gold_success = 0;  // of the gold agent, on tasks that are not void
  Shortcuts shortcuts;      // on the same
};

// Calls that nothing could be computed or looked up for, and how often the simulator had no answer.
struct FaultCount {
  int64_t calls = 0;
  int64_t faults = 0;

  double rate() const;
};

struct WorldAudit {
  WorldReport simulated, real;
  FaultCount right;  // calls of gold plans
  FaultCount wrong;  // calls of somebody who slips that are in no gold plan of their task

  Json ToJson() const;
  std::string Table() const;  // for people
};

// Whether a simulated world is fit to train in. Tasks must have plans (metadata.plan). An error
// says what is wrong with a task; what goes wrong with calls is what the report is about.
Result<WorldAudit> AuditWorld(const LoadedEnvironment& loaded, const std::vector<Task>& tasks,
                              const WorldAnswers& simulated, const WorldAnswers& real,
                              const AuditOptions& options);

}  // namespace hone
