#pragma once

#include <cstddef>
#include <vector>

#include "lab/scale/scale_options.h"

// What a process computes with, in seconds: each cost is a closed form of the options.

namespace hone::lab {

// The numbers of a model that costs hang on.
struct ScaleModel {
  explicit ScaleModel(const ScaleModelOptions& options);

  std::vector<size_t> trained;  // numbers of each tensor that is trained
  double parameters = 0;        // of the whole model, adapters apart
  double trained_numbers = 0;
  double kv_bytes = 0;       // of keys and values, per token, in bf16
  double training_flop = 0;  // per token, forward and backward
};

class DeviceCosts {
 public:
  explicit DeviceCosts(const ScaleOptions& options);

  // Of one step that draws a token for each of so many sequences, which together stand on so many
  // tokens: StepSeconds(live, 0) + tokens * KvSeconds().
  double StepSeconds(double live, double tokens) const;
  double KvSeconds() const { return kv_seconds_; }
  // Of tokens that are only read.
  double PromptSeconds(double tokens) const { return prompt_seconds_ * tokens; }
  double TurnSeconds() const { return turn_seconds_; }
  double RolloutSeconds() const { return rollout_seconds_; }
  // Forward and backward.
  double TrainingSeconds(double tokens) const { return training_seconds_ * tokens; }
  // What a mini-batch takes besides, of all that compute it.
  double BatchSeconds() const { return batch_seconds_; }
  // A step of the optimiser on so many numbers.
  double OptimizerSeconds(double numbers) const { return optimizer_seconds_ * numbers; }
  // So many numbers of one gradient are added to another.
  double AdditionSeconds(double numbers) const { return addition_seconds_ * numbers; }
  // What a device of the process holds at least: weights, and where it trains, what that takes
  // without activations, and with what its slices set aside; with keys and values of so many
  // tokens, of each step that is drawn at a time.
  double MemoryBytes(bool trains, double kv_tokens) const;

  const ScaleModel& model() const { return model_; }

 private:
  double Between(double tokens) const;  // that devices of one process tell each other, per layer

  ScaleModel model_;
  ScaleRunOptions run_;
  ScaleMachineOptions machine_;
  ScaleModelOptions shape_;
  double beside_ = 1;
  double weights_seconds_ = 0, products_seconds_ = 0, fixed_seconds_ = 0, sequence_seconds_ = 0;
  double kv_seconds_ = 0, prompt_seconds_ = 0, turn_seconds_ = 0, rollout_seconds_ = 0;
  double training_seconds_ = 0, batch_seconds_ = 0, optimizer_seconds_ = 0;
  double addition_seconds_ = 0;
};

// How many processes a node has.
double ProcessesOfNode(const ScaleOptions& options);

}  // namespace hone::lab
