#pragma once

#include <memory>
#include <optional>

#include "envs/environments.h"
#include "rollout/demonstration.h"
#include "train/demonstrator_options.h"

namespace hone {

// Shows how tasks of the training split are done: demonstrations by number, each a function of the
// seed and its number. Asks the executor's tools; it may have no other user meanwhile. One thread
// at a time. Everything it is given must outlive it.
class Demonstrator {
 public:
  Demonstrator(const DemonstratorOptions& settings, const LoadedEnvironment* environment,
               Executor* executor, uint64_t seed);

  // How many tasks there are to show; nothing: as many as one likes.
  std::optional<uint64_t> tasks() const { return environment_->tasks->count(Split::kTrain); }

  // The n-th playthrough: of the n-th task, and from the beginning again where there are fewer. An
  // error says what is wrong with the task.
  struct Shown {
    Task task;
    uint64_t seed = 0;
    Playthrough played;
  };
  Result<Shown> Show(uint64_t number);
  // The same as a tree in the codec's tokens; nothing for one that did not earn full reward, where
  // only those are wanted that did.
  Result<std::optional<Tree>> ShowTree(uint64_t number, const TurnCodec& codec);

  // The same; where it is not wanted, another in its place. An error also when none of a hundred
  // is.
  Result<Tree> WantedTree(uint64_t number, const TurnCodec& codec);

 private:
  DemonstratorOptions settings_;
  const LoadedEnvironment* environment_;
  Executor* executor_;
  Rng rng_;
};

}  // namespace hone
