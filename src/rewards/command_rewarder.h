#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "record/reward_terms.h"
#include "rewards/rewarder.h"

namespace hone {

struct CommandRewarderOptions {
  std::vector<std::string> command;
  std::chrono::milliseconds deadline{10000};  // per tree, the program's start included
  // The name of terms that the program does not name: what most methods of credit read.
  std::string term{kOutcomeTerm};
  int64_t processes = 1;  // that score at the same time
};

// Any program as a rewarder (docs/howto/write-a-reward.md). `processes` of it are started and kept
// running; per tree one of them gets one line and must answer with one:
//
//   {"request": 7, "step": 0, "term": "outcome", "tree": {...}}
//   {"request": 7, "rewards": [1.0, null]}                 one number per leaf; null: not scored
//   {"request": 7, "scores": [{"leaf": 0, "terms": [{"name": "outcome", "value": 1.0}]}]}
//
// `tree` is docs/formats/tree.md, each leaf with its final state. A program that is late, ends, or
// says something else is a judge fault on every leaf: a term without a value. It is then killed and
// started afresh for the next tree, so a late answer is never taken for another tree's; the other
// processes go on meanwhile. `request` counts trees, whoever scores them.
//
// The error: the program cannot be started.
Result<std::unique_ptr<Rewarder>> NewCommandRewarder(CommandRewarderOptions options);

}  // namespace hone
