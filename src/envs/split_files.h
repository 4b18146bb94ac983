#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/recipe.h"
#include "envs/task_rows.h"
#include "envs/task_source.h"
#include "tools/toolbox.h"

namespace hone {

// The task files of a recipe, in the order of the splits.
using SplitFiles = std::vector<std::pair<Split, std::string>>;

// train = "train.jsonl", and so on for every split. None at all is a problem of the recipe.
SplitFiles ReadSplitFiles(RecipeTable* table);

// All tasks of the files, held against the tools; or every problem in them, in one error. Plans
// are gold calls (envs/planned_gold.h).
Result<std::shared_ptr<const TaskSource>> LoadSplitFiles(const SplitFiles& files,
                                                         const TaskKeys& keys,
                                                         const Toolbox& tools);

}  // namespace hone
