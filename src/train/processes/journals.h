#pragma once

#include <filesystem>
#include <vector>

#include "cluster/cluster.h"
#include "train/training_recipe.h"

// What tools that are not part of this program have answered to each process of a run.

namespace hone {

// The folder where a process writes it: that of the run, or process-N there.
std::filesystem::path JournalFolder(const TrainingRecipe& recipe, int rank);
// A recipe that journals there.
TrainingRecipe JournalingFor(const TrainingRecipe& recipe, int rank);

// Every process makes this call while no journal is open: afterwards each has what any of them has
// been answered, and process 0 what any process did that wrote into a folder that it sees. So a
// call is never made again by another process than the one that made it.
Result<void> ShareJournals(const TrainingRecipe& recipe, Cluster* cluster);

}  // namespace hone
