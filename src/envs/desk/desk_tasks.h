#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "envs/desk/kinds.h"
#include "envs/task_source.h"

namespace hone::desk {

// Which tasks are made: the axes of difficulty.
struct TaskOptions {
  uint64_t seed = 1;
  double chatter = 0.3;  // how often a sentence stands in front of the request
  std::vector<double> families = {1, 1, 1, 1};  // how often when, which, how and pipelines occur
  bool hard = false;                            // add the hard kinds as a fifth family
  std::vector<std::string> kinds;               // only these; empty: all that the rest allows
  int64_t max_calls = 4;                        // no task that needs more calls
  uint64_t world = 0;  // one fixed session seed for all tasks; 0: fresh ones
  int64_t chain = 0;   // only chains of so many dependent calls (chain.h), over the rest; 0: none
};
// The error names the key.
Result<void> CheckTaskOptions(const TaskOptions& options);
TaskOptions ReadTaskOptions(RecipeTable table);

// Tasks without end. Each has its gold plan and marks under "metadata", its answer and gold calls.
std::unique_ptr<TaskSource> NewTaskSource(const TaskOptions& options);

}  // namespace hone::desk
