#pragma once

#include <cstdint>
#include <filesystem>

#include "base/json.h"
#include "learn/objective_options.h"
#include "train/reference.h"

namespace hone {

// The reference of a stage as steps go by: every objective.kl.sync_every steps it becomes
// sync_mix * policy + (1 - sync_mix) * reference, as TRL's sync_ref_model has it
// (trl/trainer/callbacks.py, SyncRefModelCallback). What it was at first lies in reference-N of the
// run's folder, what it became after K steps in reference-N-K. The latter stay as long as a
// checkpoint of the run needs them.
class StageReference {
 public:
  struct Place {
    std::filesystem::path run;  // the run's folder
    int64_t stage = 0;          // the stage's number
    KlOptions kl;
  };
  // As Reference::Open; going on, Restore follows.
  static Result<StageReference> Open(Place place, bool begin, const Engine& policy,
                                     const Engine::Options& options);

  const Reference& now() const { return reference_; }
  // After the step of this number, from 0.
  Result<void> AfterStep(int64_t step, const Engine& policy);

  Json ToJson() const;
  Result<void> Restore(const Json& state, const Engine& policy);

 private:
  StageReference(Place place, Engine::Options options, Reference reference)
      : place_(std::move(place)), options_(std::move(options)), reference_(std::move(reference)) {}

  std::filesystem::path FolderAfter(int64_t steps) const;
  void RemoveUnused() const;

  Place place_;
  Engine::Options options_;
  Reference reference_;
  int64_t synced_ = 0;  // after so many steps it was mixed; 0: never
};

}  // namespace hone
