#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/recipe.h"
#include "record/task.h"
#include "tools/toolbox.h"

// Rows of other people's task files as tasks.

namespace hone {

// Where a row has what a task needs, where the usual columns are not meant: a column, or a path
// into one ("reward_model.ground_truth"). Empty: the usual ones.
struct TaskKeys {
  std::string prompt;  // text, or messages
  std::string answer;
  std::string id;
  std::string after;  // the answer is what follows the last occurrence of this text ("####")
  std::string kind;   // of the answers (rewards/matching/answer.h) of rows that name none

  // Whether they say where what is asked and what is right stand.
  bool columns() const { return !prompt.empty() || !answer.empty() || !after.empty(); }
  bool any() const {
    return !prompt.empty() || !answer.empty() || !id.empty() || !after.empty() || !kind.empty();
  }
};
// [environment.keys] of a recipe.
TaskKeys ReadTaskKeys(RecipeTable table);

// "hone", "suite", "verl", a benchmark (envs/benchmark_rows.h) or "trl" (which rows of verifiers
// are, too), by what only rows of that shape have.
std::string_view TaskShapeOf(const Json& row);

// The task of a row, as far as it can be read; its messages are null where it has no prompt. What
// is wrong is added to `problems`. `line` names
// rows without an id; `tools` may be null. The row must be an object.
struct RowContext {
  std::string_view shape;
  const TaskKeys* keys = nullptr;
  int64_t line = 0;
  const Toolbox* tools = nullptr;
};
Task TaskFromRow(const Json& row, const RowContext& context, std::vector<std::string>* problems);

}  // namespace hone
