#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/run_model.h"
#include "train/training_recipe.h"

namespace hone {

// What a run will take, before it begins.
struct RunEstimate {
  int64_t parameters = 0;
  std::vector<std::pair<std::string, int64_t>> memory;  // bytes by name, of this machine
  // Where a device computes: its name, what the run takes there at most, and what is free.
  struct OnDevice {
    std::string name;
    int64_t needed_bytes = 0, free_bytes = 0;
  };
  std::optional<OnDevice> device;
  int64_t checkpoint_bytes = 0;
  int64_t disk_bytes = 0;  // checkpoints, cache and store at their largest
  double tokens_per_demonstration = 0, policy_tokens_per_demonstration = 0;
  double calls_per_demonstration = 0;
  double train_tokens_per_second = 0, drawn_tokens_per_second = 0;  // measured
  std::string drawn_by;  // the endpoint that draws turns, as if as fast; empty: this machine
  struct Stage {
    std::string kind;
    int64_t steps = 0;
    double seconds_per_step = 0;
    bool cached = false;  // its output is in the cache: it takes no time
  };
  std::vector<Stage> stages;
  // Before the first stage: tools are started, and demonstrations are played for the tokenizer.
  struct SetUp {
    int64_t demonstrations = 0;
    double seconds = 0;  // of this program, and of starting the tools of others
    bool asks_others =
        false;  // tools that are not part of this program take their own time besides
  };
  SetUp set_up;
  // For calls in training: of real tools by their price, of a language model that plays them by
  // the length of what it reads and writes, four bytes to a token.
  double money = 0;
  double money_per_trajectory = 0;

  double Seconds() const;  // of the set-up, and of the stages that are not cached
  Json ToJson() const;
  std::string Table() const;  // for people
};

// Looks at some demonstrations, trains a copy of the model on them for a step and lets it speak, to
// see how fast that is here and now; nothing of it is kept, and no tool that is not part of this
// program is asked. An episode of trial and error is taken
// to be as long as a demonstration. Evaluations are not counted. An error where the run would not
// fit into the device that computes, or, before any weight is read, into this machine's memory
// where the processor does. `hooks` as in a run.
Result<RunEstimate> EstimateRun(const TrainingRecipe& recipe, const SetUpHooks& hooks = {});

}  // namespace hone
