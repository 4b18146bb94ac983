#pragma once

#include <map>
#include <stop_token>
#include <string>

#include "envs/environments.h"
#include "evaluate/conduct.h"
#include "rollout/rollout.h"

namespace hone {

struct EvaluationOptions {
  Split split = Split::kDev;
  int64_t tasks = 256;  // the first of the split; fewer where it has fewer
  uint64_t seed = 0;    // of what is drawn and of the episodes: the same for all that are compared
  std::string run = "evaluation";  // in the identity of calls
  int64_t max_live = 256;
};

struct Evaluation {
  Split split = Split::kDev;
  float temperature = 1;  // 0: greedy
  int64_t tasks = 0;
  int64_t broken = 0;  // by the fault of others; not part of the rest
  Conduct all;
  std::map<std::string, Conduct> by_family;  // metadata.family of the tasks, else metadata.kind
  RolloutCounts counts;
  double seconds = 0;

  Json ToJson() const;
};

// Lets the policy do every task once. The executor decides who answers; it may have no other user
// meanwhile.
Result<Evaluation> EvaluatePolicy(const EvaluationOptions& options,
                                  const LoadedEnvironment& environment, const Policy& policy,
                                  Executor* executor, std::stop_token stop = {});

}  // namespace hone
