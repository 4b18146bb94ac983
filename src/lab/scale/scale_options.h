#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "base/rng.h"

// What a run on many devices is predicted from (docs/scale.md). All of it is said by a file; what a
// cost is called there stands beside it here.

namespace hone::lab {

// A number that differs from case to case: log-normal.
struct LogNormal {
  double median = 0;
  double p99 = 0;  // its 99th percentile; not above the median: always the median

  double Draw(Rng* rng) const;
  double Mean() const;
};

// [model]
struct ScaleModelOptions {
  std::string name;
  int64_t layers = 0, width = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocabulary = 0;
  bool tied_embeddings = true;
  int64_t rank = 0;          // adapters of this rank are trained; 0: all weights
  bool recompute = false;    // activations, in the backward pass
  int64_t moment_bytes = 8;  // of the optimiser's state, per trained number
};

// [machine]: nodes of several devices, each device with a process. Rates are those that were
// reached, not those that are advertised. A cost of 0 is left out.
struct ScaleMachineOptions {
  // A device.
  double products = 0;          // FLOP/s of prompts, and of steps that draw for many
  double training = 0;          // FLOP/s, forward and backward
  double bandwidth = 0;         // bytes/s of its memory
  double memory = 0;            // bytes; 0: not looked at
  double layer_seconds = 0;     // of each layer of a step of drawing, beside what it reads
  double step_seconds = 0;      // of such a step
  double sequence_seconds = 0;  // of each sequence in it
  double batch_seconds = 0;     // of a mini-batch, shared by those that compute it
  // Its host.
  double rollout_seconds = 0;  // of a rollout, however small
  double turn_seconds = 0;     // of a turn: reading it, the environment's step
  int64_t devices = 1;         // of a node
  double device_link = 0;      // bytes/s between a device and its host; 0: they are one
  double host_bandwidth = 0;   // bytes/s that a node's processes copy together
  double network = 0;          // bytes/s of a node, each way
  double message_seconds = 0;  // of a message, to whoever sends and to whoever receives it
  double beside = 1;           // how much slower processes are where others of the node compute
  // The first process, which leads.
  double leader_seconds = 0;  // of a step: tasks, credit and writing down
  double token_seconds = 0;   // of the same, per token of the trees
  double tree_bytes = 0;      // of a message of trees, per token
  double update_bytes = 0;    // of a message of what is trained on, per token
  double tree_rate = 0;       // bytes/s of making or reading a message of trees
  double update_rate = 0;     // the same of an update
  // What is not built: devices that talk to each other without their hosts.
  double device_network = 0;      // bytes/s of a device to the others of its node
  double collective_seconds = 0;  // of a message among them
};

// [workload]: one step of practice.
struct ScaleWorkloadOptions {
  int64_t groups = 1, group = 1;
  LogNormal turns, turn_tokens;
  LogNormal task;            // by what all turns of a task are longer
  double prompt_tokens = 0;  // that a group shares
  double answer_tokens = 0;  // that a tool or a user says between two turns
  LogNormal tool_seconds;
  int64_t live = 256;  // trajectories under way in a process
  int64_t mini_batches = 1;
  double trained_share = 1;  // of the groups: from the others nothing is learned
};

// [run]: how it is carried out.
struct ScaleRunOptions {
  int64_t processes = 1;
  // Of a mini-batch; only so many processes compute its gradients. 0: one for each process.
  int64_t slices = 1;
  int64_t ahead = 0;          // steps that are drawn before they are trained
  bool trainers_draw = true;  // false: those that compute gradients do not play
  bool shared_step = false;   // each takes the optimiser's step on tensors of its own
  // What is not built: a process is so many devices, which hold a part of each weight, and
  // gradients go from device to device.
  int64_t tensor_parallel = 1;
  bool collectives = false;
  int64_t steps = 4;  // that are simulated
  uint64_t seed = 1;
};

struct ScaleOptions {
  ScaleModelOptions model;
  ScaleMachineOptions machine;
  ScaleWorkloadOptions workload;
  ScaleRunOptions run;
};

// Reads all four tables and finishes the recipe: every problem names its key.
Result<ScaleOptions> ReadScaleOptions(Recipe* recipe);

// What an option means for others: as ReadScaleOptions checks it, for those who change a number.
Result<void> CheckScaleOptions(const ScaleOptions& options);

}  // namespace hone::lab
