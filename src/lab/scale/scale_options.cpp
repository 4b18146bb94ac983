#include "lab/scale/scale_options.h"

#include <cmath>

#include <fmt/format.h>

#include "base/exact_math.h"

namespace hone::lab {
namespace {

constexpr double kNormalP99 = 2.3263478740408408;  // of the standard normal distribution

double Sigma(const LogNormal& spread) {
  if (spread.p99 <= spread.median || spread.median <= 0) return 0;
  return NaturalLog(spread.p99 / spread.median) / kNormalP99;
}

// "turns" and "turns_p99"
void ReadLogNormal(RecipeTable* table, const std::string& key, LogNormal* spread,
                   const std::string& about, Range range) {
  table->Read(key, &spread->median, about, range);
  table->Read(key + "_p99", &spread->p99, "its 99th percentile; 0: always the same", AtLeast(0));
}

ScaleModelOptions ReadModel(RecipeTable table) {
  ScaleModelOptions model;
  const auto size = [&](std::string_view key, int64_t* value, std::string_view about) {
    table.Read(key, value, about, AtLeast(1));
    if (!table.Has(key)) table.Problem(key, fmt::format("\"{}\" is missing", key));
  };
  table.Read("name", &model.name, "for people");
  size("layers", &model.layers, "");
  size("width", &model.width, "of the residual stream");
  size("heads", &model.heads, "");
  size("kv_heads", &model.kv_heads, "");
  size("head_dim", &model.head_dim, "");
  size("ffn", &model.ffn, "of the feed-forward half");
  size("vocabulary", &model.vocabulary, "");
  table.Read("tied_embeddings", &model.tied_embeddings, "");
  table.Read("rank", &model.rank, "of adapters that are trained; 0: all weights", AtLeast(0));
  table.Read("recompute", &model.recompute, "activations, in the backward pass");
  table.Read("moment_bytes", &model.moment_bytes, "of the optimiser, per trained number",
             AtLeast(0));
  return model;
}

// A cost or a rate, under its name in the struct.
struct NamedNumber {
  const char* key;
  double ScaleMachineOptions::*value;
  const char* about;
  bool needed = false;
};
constexpr NamedNumber kNumbers[] = {
    {"products", &ScaleMachineOptions::products, "FLOP/s of prompts and of large steps", true},
    {"training", &ScaleMachineOptions::training, "FLOP/s, forward and backward", true},
    {"bandwidth", &ScaleMachineOptions::bandwidth, "bytes/s of a device's memory", true},
    {"memory", &ScaleMachineOptions::memory, "bytes of a device; 0: not looked at"},
    {"layer_seconds", &ScaleMachineOptions::layer_seconds, "of a layer of a step of drawing"},
    {"step_seconds", &ScaleMachineOptions::step_seconds, "of a step of drawing"},
    {"sequence_seconds", &ScaleMachineOptions::sequence_seconds, "of a sequence in such a step"},
    {"batch_seconds", &ScaleMachineOptions::batch_seconds, "of a mini-batch, which is shared"},
    {"rollout_seconds", &ScaleMachineOptions::rollout_seconds, "of a rollout, however small"},
    {"turn_seconds", &ScaleMachineOptions::turn_seconds, "of a turn, on the host"},
    {"device_link", &ScaleMachineOptions::device_link, "bytes/s from device to host; 0: none"},
    {"host_bandwidth", &ScaleMachineOptions::host_bandwidth, "bytes/s that a node copies"},
    {"network", &ScaleMachineOptions::network, "bytes/s of a node, each way"},
    {"message_seconds", &ScaleMachineOptions::message_seconds, "of sending or receiving one"},
    {"leader_seconds", &ScaleMachineOptions::leader_seconds, "of a step, in the first process"},
    {"token_seconds", &ScaleMachineOptions::token_seconds, "the same, per token of the trees"},
    {"tree_bytes", &ScaleMachineOptions::tree_bytes, "of a message of trees, per token"},
    {"update_bytes", &ScaleMachineOptions::update_bytes, "of a message of an update, per token"},
    {"tree_rate", &ScaleMachineOptions::tree_rate, "bytes/s of making or reading trees"},
    {"update_rate", &ScaleMachineOptions::update_rate, "bytes/s of making or reading an update"},
    {"device_network", &ScaleMachineOptions::device_network, "bytes/s of a device to its node"},
    {"collective_seconds", &ScaleMachineOptions::collective_seconds, "of a message of devices"},
};

ScaleMachineOptions ReadMachine(RecipeTable table) {
  ScaleMachineOptions machine;
  for (const NamedNumber& number : kNumbers) {
    table.Read(number.key, &(machine.*number.value), number.about,
               number.needed ? Above(0) : AtLeast(0));
    if (number.needed && !table.Has(number.key)) {
      table.Problem(number.key, fmt::format("\"{}\" is missing", number.key));
    }
  }
  table.Read("beside", &machine.beside, "by what processes slow each other down", AtLeast(1));
  table.Read("devices", &machine.devices, "of a node", AtLeast(1));
  return machine;
}

ScaleWorkloadOptions ReadWorkload(RecipeTable table) {
  ScaleWorkloadOptions workload;
  workload.turns = workload.turn_tokens = workload.task = {.median = 1, .p99 = 0};
  table.Read("groups", &workload.groups, "tasks of a step", AtLeast(1));
  table.Read("group", &workload.group, "trajectories of a task", AtLeast(1));
  ReadLogNormal(&table, "turns", &workload.turns, "of a trajectory (median)", AtLeast(1));
  ReadLogNormal(&table, "turn_tokens", &workload.turn_tokens, "of a turn (median)", AtLeast(1));
  table.Read("task_p99", &workload.task.p99, "of the length of a task's turns, relative; 0: none",
             AtLeast(0));
  table.Read("prompt_tokens", &workload.prompt_tokens, "that a group shares", AtLeast(0));
  table.Read("answer_tokens", &workload.answer_tokens, "between two turns", AtLeast(0));
  ReadLogNormal(&table, "tool_seconds", &workload.tool_seconds, "of an answer (median)",
                AtLeast(0));
  table.Read("live", &workload.live, "trajectories under way in a process", AtLeast(1));
  table.Read("mini_batches", &workload.mini_batches, "steps of the optimiser", AtLeast(1));
  table.Read("trained_share", &workload.trained_share, "of groups that something is learned from",
             Between(0, 1));
  return workload;
}

ScaleRunOptions ReadRun(RecipeTable table) {
  ScaleRunOptions run;
  auto seed = static_cast<int64_t>(run.seed);
  table.Read("processes", &run.processes, "", Between(1, 1e5));
  table.Read("slices", &run.slices, "of a mini-batch; 0: one for each process", Between(0, 1e5));
  table.Read("ahead", &run.ahead, "steps drawn before they are trained", Between(0, 64));
  table.Read("trainers_draw", &run.trainers_draw, "those that compute gradients play, too");
  table.Read("shared_step", &run.shared_step, "each process takes the step of tensors of its own");
  table.Read("tensor_parallel", &run.tensor_parallel, "not built: devices of a process",
             AtLeast(1));
  table.Read("collectives", &run.collectives, "not built: gradients go from device to device");
  table.Read("steps", &run.steps, "that are simulated", Between(1, 1000));
  table.Read("seed", &seed, "of lengths and latencies", AtLeast(0));
  run.seed = static_cast<uint64_t>(seed);
  return run;
}

}  // namespace

double LogNormal::Draw(Rng* rng) const {
  const double sigma = Sigma(*this);
  return sigma == 0 ? median : median * Exponential(sigma * rng->NextNormal());
}

double LogNormal::Mean() const {
  const double sigma = Sigma(*this);
  return median * Exponential(sigma * sigma / 2);
}

Result<void> CheckScaleOptions(const ScaleOptions& options) {
  const auto refuse = [](std::string text) {
    return Error(ErrorCode::kInvalidArgument, std::move(text));
  };
  const ScaleRunOptions& run = options.run;
  const ScaleMachineOptions& machine = options.machine;
  if (machine.devices % run.tensor_parallel != 0) {
    return refuse(
        fmt::format("run.tensor_parallel ({}) must divide machine.devices ({}): a process "
                    "does not reach beyond its node",
                    run.tensor_parallel, machine.devices));
  }
  const bool all_train = run.slices == 0 || run.slices >= run.processes;
  if (!run.trainers_draw && all_train) {
    return refuse(
        fmt::format("nobody plays: with run.trainers_draw = false there must be more "
                    "run.processes ({}) than run.slices ({})",
                    run.processes, run.slices));
  }
  const bool several = run.processes > 1,
             nodes = run.processes * run.tensor_parallel > machine.devices;
  const bool between = run.tensor_parallel > 1 || (run.collectives && several);
  if (several && machine.host_bandwidth == 0) {
    return refuse("machine.host_bandwidth is missing: several processes copy messages");
  }
  if (nodes && machine.network == 0) {
    return refuse(fmt::format("machine.network is missing: {} devices are more than one node's {}",
                              run.processes * run.tensor_parallel, machine.devices));
  }
  if (between && machine.device_network == 0) {
    return refuse("machine.device_network is missing: devices send to each other");
  }
  if ((options.model.heads % options.model.kv_heads) != 0) {
    return refuse("model.kv_heads must divide model.heads");
  }
  return {};
}

Result<ScaleOptions> ReadScaleOptions(Recipe* recipe) {
  ScaleOptions options;
  options.model = ReadModel(recipe->Root().Table("model"));
  options.machine = ReadMachine(recipe->Root().Table("machine"));
  options.workload = ReadWorkload(recipe->Root().Table("workload"));
  options.run = ReadRun(recipe->Root().Table("run"));
  HONE_RETURN_IF_ERROR(recipe->Finish());
  HONE_RETURN_IF_ERROR(CheckScaleOptions(options));
  return options;
}

}  // namespace hone::lab
