#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "envs/study/library.h"
#include "envs/study/question_kinds.h"
#include "envs/study/study_tools.h"
#include "envs/task_source.h"

namespace hone::study {

// Which tasks are made.
struct TaskOptions {
  uint64_t seed = 1;
  // How often the families occur, in the order of `Family`.
  std::vector<double> families = {2, 2, 2, 1, 1, 1, 1, 1};
  std::vector<std::string> kinds;  // only these; empty: all that the rest allows
  int64_t max_calls = 4;           // no task that needs more calls
};
// The error names the key.
Result<void> CheckTaskOptions(const TaskOptions& options);
void ReadTaskOptions(RecipeTable* table, TaskOptions* options);
LibraryOptions ReadLibraryOptions(RecipeTable table);

// Tasks without end. Each has its answer and gold calls; under "metadata" its plan, marks, the
// thoughts of who plays it well ("thoughts": one before each call and one before the answer), what
// is read in each result ("values"), what calls have to bring ("needs"; envs/study/needs.h), and
// the relation that the last search is for ("relation"; absent: a computation comes last, or no
// call).
std::unique_ptr<TaskSource> NewStudyTasks(std::shared_ptr<const Library> library,
                                          const TaskOptions& options, const StudyToolNames& tools);

}  // namespace hone::study
