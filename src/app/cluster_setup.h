#pragma once

#include <memory>

#include "base/result.h"
#include "cluster/cluster.h"
#include "train/training_recipe.h"

namespace hone {

// The processes that were started together (mpirun, srun) to carry out this recipe, or this one
// alone. Where several are on one machine and the recipe does not say how many threads one has,
// they share its cores.
Result<std::unique_ptr<Cluster>> JoinCluster(TrainingRecipe* recipe);

}  // namespace hone
