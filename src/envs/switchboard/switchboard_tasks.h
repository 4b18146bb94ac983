#pragma once

#include <memory>

#include "base/recipe.h"
#include "envs/switchboard/board.h"
#include "envs/task_source.h"

namespace hone::switchboard {

// [environment.tasks] of a recipe: the world, and what is asked there.
struct SwitchboardOptions {
  BoardOptions board;
  uint64_t seed = 1;  // of the tasks
  int64_t calls = 8;  // operations of a request
  bool loud = false;  // a wrong form is refused; else it returns another code
  int64_t tries = 3;  // loud: of one call
  // Loud: after the last try the operation is given up and the next one is due, with the code that
  // there is; else the episode ends.
  bool skip_refused = false;
  // Loud: a call is right if it was accepted, whoever answers; what is right is not looked at.
  bool judge_by_acceptance = false;
  uint64_t drift = 0;  // the number of the first training task after the drift; 0: there is none
};

// The error names the key.
Result<void> CheckSwitchboard(const SwitchboardOptions& options);
SwitchboardOptions ReadSwitchboardOptions(RecipeTable table);

// Requests without end: "Do bafire kolumi from zetu." Each names different operations. Which of
// them stand together decides the split, in whatever order. With a drift, training tasks from that
// number on, and all of dev and test, are of the world after it.
std::unique_ptr<TaskSource> NewSwitchboardTasks(std::shared_ptr<const Board> board,
                                                const SwitchboardOptions& options);

}  // namespace hone::switchboard
