#pragma once

#include <functional>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "envs/environments.h"
#include "evaluate/measures.h"
#include "rollout/rollout.h"

namespace hone {

// How an evaluation with the tools taken away is called where it is kept and shown.
inline constexpr char kWithoutTools[] = "without-tools";

struct EvaluationOptions {
  Split split = Split::kDev;
  int64_t tasks = 256;  // the first of the split; fewer where it has fewer; of each environment
  int64_t samples = 1;  // trajectories per task
  bool without_tools =
      false;          // taken away (rollout/no_calls.h); of the same tasks in the same worlds
  uint64_t seed = 0;  // of what is drawn and of the episodes: the same for all that are compared
  std::string run = "evaluation";  // in the identity of calls
  int64_t max_live = 256;
  // Told how many trajectories have ended, and of how many.
  std::function<void(int64_t ended, int64_t wanted)> progress;
  std::stop_token stop = {};
  // Who plays them; null: this process, by PlayEvaluation.
  std::function<Result<RolloutResult>(std::span<const GroupRequest> requests)> play;
};

struct Evaluation {
  Split split = Split::kDev;
  float temperature = 1;       // 0: greedy
  bool without_tools = false;  // the agent could call none
  int64_t tasks = 0;
  int64_t samples = 1;
  // In the order of the tasks, `samples` of each. One that others broke does not count, and is here
  // all the same.
  std::vector<Measures> measures;
  RolloutCounts counts;  // unread_calls and unread_note also of endpoints
  double seconds = 0;

  int64_t Broken() const;  // trajectories that do not count
  // Of the tasks of each family, else kind.
  std::map<std::string, std::vector<Measures>> ByFamily() const;
  std::map<std::string, std::vector<Measures>> ByKind() const;
  std::map<std::string, std::vector<Measures>> ByEnvironment() const;

  // {"split", "temperature", "without_tools" (only where true), "tasks", "samples", "broken",
  //  "seconds",
  //  "all": {"success": 0.5, "calls_per_task": ..., "calls_of_tools": {"search": 0.75}}, without
  //  what there was nothing to count of, "families": {"A": {the same, and "low", "high" of the
  //  success}}, "kinds": {...}, "environments": the same, each with its "outcomes", where there are
  //  several, "figures": {"success": {"value", "low", "high", "trajectories"}, ...}, "outcomes":
  //  "10-1", one character per trajectory in the order of the tasks: done, not done, or
  //              nothing known (ended by the fault of others, or without a verdict),
  //  "calls_by_task": [1, 0, ...], in the same order,
  //  "unread_calls": turns that look like a call which was not read, and "unread_note", what to
  //  set; both only where there are some}
  Json ToJson() const;
};

// What is played: so many tasks of the split, each with the seed of its group. An error when there
// is none.
Result<std::vector<GroupRequest>> EvaluationRequests(const EvaluationOptions& options,
                                                     const TaskSource& tasks);

// Lets the policy play some of them.
Result<RolloutResult> PlayEvaluation(const EvaluationOptions& options,
                                     const Environment& environment, const Policy& policy,
                                     Executor* executor, std::span<const GroupRequest> requests);

// Lets the policy do every task. The executor decides who answers; it may have no other user
// meanwhile. When others broke every single trajectory nothing was measured: the error says why.
Result<Evaluation> EvaluatePolicy(const EvaluationOptions& options,
                                  const LoadedEnvironment& environment, const Policy& policy,
                                  Executor* executor);

}  // namespace hone
