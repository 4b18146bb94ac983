#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "record/tree.h"

namespace hone {

// What trajectories did (evaluate/measures.h), summed up: did they call when that was needed, which
// tool, how, and did it end well. Trajectories that ended by the fault of others are not among
// them.
struct Conduct {
  int64_t trajectories = 0;
  int64_t judged = 0;     // of them, with a verdict of the environment
  int64_t succeeded = 0;  // with a good one
  int64_t turns = 0;
  int64_t tokens = 0;  // that the policy wrote
  int64_t calls = 0;
  int64_t faults = 0;        // actions that could not be read
  int64_t failed_calls = 0;  // that did not end ok, whoever is to blame
  // Of tasks that say whether a tool is needed.
  int64_t idle_tasks = 0, needless = 0;  // none is needed; a call was made all the same
  int64_t busy_tasks = 0, missed = 0;    // one is; no call was made
  // Of tasks that say which calls are right.
  int64_t known_tasks = 0;
  int64_t gold_calls = 0;   // of those tasks
  int64_t known_calls = 0;  // that were made there
  int64_t right_tool = 0;   // of them, those that stand for a gold call
  int64_t right_call = 0;   // of those, with right arguments

  double Success() const;   // of the judged ones
  double When() const;      // called where needed, and only there
  double Which() const;     // of the calls
  double How() const;       // of the calls with the right tool
  double Needless() const;  // of the idle tasks
  double Missed() const;    // of the busy tasks
  double CallsPerTask() const;
  double GoldCallsPerTask() const;  // of tasks that say which
  void Add(const Conduct& other);
  Json ToJson() const;
};

// Of all leaves of a valid tree. An error when the task's labels cannot be read.
Result<Conduct> ConductOf(const Tree& tree);

}  // namespace hone
