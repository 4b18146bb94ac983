#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "envs/environments.h"
#include "rollout/policy.h"
#include "tools/executor.h"

// Which steps of a task a policy knows the outcome of, and demonstrations that call for the others
// alone (SMART).

namespace hone {

struct KnownStepsOptions {
  Split split = Split::kTrain;
  int64_t tasks = 256;     // the first of the split
  int64_t samples = 8;     // trajectories per step
  double threshold = 0.5;  // the share of them that must succeed without the step's tool
  uint64_t seed = 0;
  bool thoughts = true;  // the demonstrations say what is known and what is not
  // With {tool}, {call} and {value} in them.
  std::string known = "I know this without {tool}: {value}";
  std::string needed = "I do not know this, so I use {tool}.";
  int64_t max_live = 256;
  std::function<void(int64_t step, int64_t steps)> progress = nullptr;  // steps of plans
  std::function<bool()> stop = nullptr;  // asked between rounds of trajectories; kStopped
};

// One step of a task's plan: a call of the gold agent.
struct KnownStep {
  std::string tool;
  int64_t right = 0, samples = 0;  // trajectories without this tool from here on
  bool known = false;
};

struct KnownTask {
  std::string id, kind;
  std::vector<KnownStep> steps;
  // {"messages", "tools"}: the gold agent's way, with the calls of known steps left out. Each
  // thought that a turn has is followed by what is known or needed.
  Json demonstration;
};

struct KnownSteps {
  std::vector<KnownTask> tasks;
  int64_t skipped = 0;  // tasks that the gold agent does not do

  // Known steps and all, by tool.
  std::map<std::string, std::pair<int64_t, int64_t>> ByTool() const;
};

// Step by step, in the order of each plan: the policy goes on from where the calls that it needs
// have been made, so many times, with the tool of this step taken away. Where it succeeds often
// enough it knows the step; what it knows it is not shown again. The executor has no other user.
//
// An episode goes on from the turns of a demonstration and not from the state of its tools: for
// tools whose answers depend on earlier calls this says nothing, and where a user takes part it is
// refused (kUnsupported).
Result<KnownSteps> FindKnownSteps(const KnownStepsOptions& options,
                                  const LoadedEnvironment& environment, const Policy& policy,
                                  Executor* executor);

}  // namespace hone
