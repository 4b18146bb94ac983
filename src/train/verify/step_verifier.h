#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/trainer.h"
#include "train/verify/stored_run.h"

namespace hone {

// Where a run that is derived again parts from what is stored of it.
struct RunDifference {
  int64_t step = 0;  // of all stages, from 0, as the store counts
  std::string what;  // "group", "number", "checkpoint", "start", "end", "journal", "tokenizer"
  std::string name;  // of the task, the number, the checkpoint
  std::string part;  // of a group: tokens, results, rewards, ... ; else empty
  std::optional<int64_t> tree;        // its id in the store
  std::optional<int32_t> trajectory;  // of the group
  std::optional<int32_t> node;        // of the tree
  std::optional<int64_t> index;       // of the token, call or reward
  std::string place;                  // all of that in words
  std::string derived, stored;

  Json ToJson() const;
  // Where: "step 843, group 2 (tree 174, task train-77), trajectory 3, node 7, token 5: tokens".
  std::string Text() const;
};

// How much there is, or was the same.
struct VerifiedCounts {
  int64_t steps = 0, groups = 0, trajectories = 0;
  int64_t tokens = 0;      // of the groups, all of them; the policy's with log-probabilities
  int64_t rewards = 0;     // terms
  int64_t advantages = 0;  // per token
  int64_t numbers = 0;     // that the steps left in the log
  int64_t checkpoints = 0;
  int64_t weights = 0;  // numbers in checkpoints: model, master weights, optimiser

  void Add(const VerifiedCounts& other);
  Json ToJson() const;
};

// Compares steps as they are derived with what a run has stored of them. The run must outlive it.
class StepVerifier {
 public:
  struct Options {
    bool same_sources = true;       // who answered calls is the same as in the run: count it
    bool evaluated = false;         // evaluations were made again, so that alarms saw the same
    std::filesystem::path scratch;  // a folder to write derived weights into
  };
  StepVerifier(const StoredRun* run, Options options);

  struct Outcome {
    VerifiedCounts equal;
    std::optional<RunDifference> difference;  // the first
  };
  // An error is one of this machine, not of the run.
  Result<Outcome> Verify(const TrainedStep& derived) const;

 private:
  Result<void> Groups(const TrainedStep& derived, int64_t step, Outcome* outcome) const;
  void Numbers(const TrainedStep& derived, int64_t step, Outcome* outcome) const;
  struct NamedDifference {
    std::string name, derived, stored;
  };
  std::optional<NamedDifference> StateDifference(const TrainingState& derived,
                                                 const TrainingState& stored) const;
  Result<void> Checkpoint(const TrainedStep& derived, int64_t step, Outcome* outcome) const;

  const StoredRun* run_;
  Options options_;
};

}  // namespace hone
