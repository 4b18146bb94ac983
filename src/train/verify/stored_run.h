#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/store.h"
#include "train/folder/run_folder.h"
#include "train/training_recipe.h"

namespace hone {

// Why a run's practice cannot be derived.
inline constexpr char kDrawnElsewhere[] =
    "practice: its turns were drawn by an endpoint (policy.kind), which cannot be asked for them "
    "again";

// All that a run has written down, for whoever derives it again. Nothing in its folder is changed;
// somebody may be training there meanwhile.
struct StoredRun {
  std::filesystem::path folder;
  TrainingRecipe recipe;
  std::string begun_at;  // the checkpoint of another run that it began at; empty: at its beginning
  std::vector<int64_t> checkpoints;                              // steps done, ascending
  std::unique_ptr<RunStore> store;                               // null: there is none
  std::map<int64_t, std::vector<RunStore::TreeSummary>> groups;  // by step, in their order
  std::map<int64_t, std::map<std::string, double>> values;       // numbers by step, of rl
  std::string start;      // hash of the weights that rl began with; empty: not known
  std::string weights;    // hash of the last ones; empty: the run has not ended
  int64_t steps = 0;      // that left anything behind: the last one, from 1
  int64_t derivable = 0;  // of them, from the first on: those that can be derived again

  // Where what stages made lies: as the recipe says from here, or from where the run was begun.
  std::filesystem::path CacheFolder() const;
};

// A folder that is no run is an error that says what one is.
Result<std::unique_ptr<StoredRun>> OpenStoredRun(const std::filesystem::path& folder);

}  // namespace hone
