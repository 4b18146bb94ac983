#pragma once

#include "cluster/cluster.h"
#include "train/training_recipe.h"

namespace hone {

// What every process of a run but the first does: what that one says (train/processes/crew.h),
// until it says that the run is over. `recipe` is the one that it carries out. What tools of others
// answer is journaled in the folder process-N of the run's folder on this machine; nothing else is
// written. Whatever cannot be reached throws ClusterError.
Result<void> Work(const TrainingRecipe& recipe, Cluster* cluster);

}  // namespace hone
