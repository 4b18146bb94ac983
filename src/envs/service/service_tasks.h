#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "envs/task_source.h"

namespace hone::service {

// Which tasks are made: the axes of difficulty.
struct TaskOptions {
  uint64_t seed = 1;
  int64_t max_goals = 2;           // wishes of one customer, one after the other: 1 or 2
  double two_goals = 0.3;          // how often there are two
  std::vector<std::string> kinds;  // only goals of these kinds; empty: all
};
// The error names the key.
Result<void> CheckTaskOptions(const TaskOptions& options);
TaskOptions ReadTaskOptions(RecipeTable table);

// Tasks without end. Each has its gold plan, the customer's hidden script and its marks under
// "metadata"; gold calls and what must be told under "reward".
std::unique_ptr<TaskSource> NewTaskSource(const TaskOptions& options);

}  // namespace hone::service
