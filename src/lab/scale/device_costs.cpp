#include "lab/scale/device_costs.h"

#include <algorithm>
#include <cmath>

#include "engine/model.h"
#include "learn/together/slices.h"

namespace hone::lab {
namespace {

constexpr double kWeightBytes = 2;  // bf16
constexpr double kFloatBytes = 4;
constexpr double kLogitPasses = 3;  // over the logits: written, their largest, drawn from

ModelConfig ConfigOf(const ScaleModelOptions& options) {
  ModelConfig config;
  config.family = ModelConfig::Family::kLlama;
  config.layers = options.layers;
  config.width = options.width;
  config.heads = options.heads;
  config.kv_heads = options.kv_heads;
  config.head_dim = options.head_dim;
  config.ffn = options.ffn;
  config.vocab = options.vocabulary;
  config.tied_embeddings = options.tied_embeddings;
  return config;
}

// How many gradients wait at a time, as Slices::Accumulate adds up the largest sum of a process.
double GradientsAside(const ScaleRunOptions& run) {
  int64_t largest = 1;
  for (int64_t rank = 0; rank < std::min(run.processes, run.slices); ++rank) {
    for (const SliceRange& sum :
         SumsOfProcess(run.slices, static_cast<int>(run.processes), static_cast<int>(rank))) {
      largest = std::max(largest, sum.end - sum.begin);
    }
  }
  return std::ceil(std::log2(static_cast<double>(largest)));
}

}  // namespace

ScaleModel::ScaleModel(const ScaleModelOptions& options) {
  const Model shape = ModelShape(ConfigOf(options));
  for (const Parameter& parameter : shape.parameters) {
    parameters += static_cast<double>(parameter.count());
    if (options.rank == 0) trained.push_back(static_cast<size_t>(parameter.count()));
  }
  for (const LayerParameters& layer : shape.layers) {
    if (options.rank == 0) break;
    for (const int matrix :
         {layer.q, layer.k, layer.v, layer.output, layer.gate, layer.up, layer.down}) {
      for (const int64_t side : shape.parameters[static_cast<size_t>(matrix)].shape) {
        trained.push_back(static_cast<size_t>(side * options.rank));
      }
    }
  }
  for (const size_t numbers : trained) trained_numbers += static_cast<double>(numbers);
  kv_bytes =
      static_cast<double>(2 * options.layers * options.kv_heads * options.head_dim) * kWeightBytes;
  // Two operations per weight forward, two for what goes back to activations, two for the gradient
  // of the weight; adapters leave the last out.
  training_flop = (options.rank > 0 ? 4 : 6) * parameters;
  if (options.recompute) training_flop += 2 * parameters;
}

double ProcessesOfNode(const ScaleOptions& options) {
  const int64_t room = std::max<int64_t>(1, options.machine.devices / options.run.tensor_parallel);
  return static_cast<double>(std::min(room, options.run.processes));
}

DeviceCosts::DeviceCosts(const ScaleOptions& options)
    : model_(options.model), run_(options.run), machine_(options.machine), shape_(options.model) {
  const ScaleMachineOptions& machine = options.machine;
  const auto parts = static_cast<double>(run_.tensor_parallel);
  const auto layers = static_cast<double>(shape_.layers);
  beside_ = ProcessesOfNode(options) > 1 ? machine.beside : 1;
  weights_seconds_ = beside_ * kWeightBytes * model_.parameters / parts / machine.bandwidth;
  products_seconds_ = beside_ * 2 * model_.parameters / parts / machine.products;
  // The halves of a layer are each added up over the devices.
  const double meetings = run_.tensor_parallel > 1 ? 2 * layers : 0;
  fixed_seconds_ = beside_ * (machine.step_seconds + layers * machine.layer_seconds) +
                   meetings * machine.collective_seconds;
  const double logits = static_cast<double>(shape_.vocabulary) * kFloatBytes * kLogitPasses;
  sequence_seconds_ = beside_ * (machine.sequence_seconds + logits / parts / machine.bandwidth) +
                      meetings * Between(1);
  kv_seconds_ = beside_ * model_.kv_bytes / parts / machine.bandwidth;
  prompt_seconds_ = products_seconds_ + meetings * Between(1);
  turn_seconds_ = beside_ * machine.turn_seconds;
  rollout_seconds_ = beside_ * machine.rollout_seconds;
  batch_seconds_ = beside_ * machine.batch_seconds;
  // Back as well; and forward once more.
  training_seconds_ = beside_ * model_.training_flop / parts / machine.training +
                      (shape_.recompute ? 3 : 2) * meetings * Between(1);
  // The gradient is read, weights and moments are read and written, and the weights that compute
  // are written.
  const double bytes = kFloatBytes + 2 * kFloatBytes +
                       2 * static_cast<double>(shape_.moment_bytes) +
                       (shape_.rank == 0 ? kWeightBytes : 0);
  optimizer_seconds_ = beside_ * bytes / machine.bandwidth / parts;
  addition_seconds_ = beside_ * 3 * kFloatBytes / machine.bandwidth / parts;
}

double DeviceCosts::Between(double tokens) const {
  const auto parts = static_cast<double>(run_.tensor_parallel);
  if (parts == 1) return 0;
  const double bytes = tokens * static_cast<double>(shape_.width) * kWeightBytes;
  return 2 * (parts - 1) / parts * bytes / machine_.device_network;
}

// Weights are read once for all sequences; products of many take longer than that.
double DeviceCosts::StepSeconds(double live, double tokens) const {
  return fixed_seconds_ + std::max(weights_seconds_, products_seconds_ * live) +
         sequence_seconds_ * live + kv_seconds_ * tokens;
}

double DeviceCosts::MemoryBytes(bool trains, double kv_tokens) const {
  const auto parts = static_cast<double>(run_.tensor_parallel);
  const auto drawn_at_a_time = static_cast<double>(run_.ahead > 0 ? run_.ahead + 1 : 1);
  double bytes = kWeightBytes * model_.parameters;
  if (run_.ahead > 0) bytes += drawn_at_a_time * kWeightBytes * model_.parameters;
  bytes += drawn_at_a_time * kv_tokens * model_.kv_bytes;
  if (trains) {
    // The numbers that a step changes, and what it keeps of them, may be those of its part alone.
    const double share = run_.shared_step ? 1 / static_cast<double>(run_.processes) : 1;
    const double changed = run_.collectives ? share * kFloatBytes : kFloatBytes;
    bytes += model_.trained_numbers * ((1 + GradientsAside(run_)) * kFloatBytes + changed +
                                       share * static_cast<double>(shape_.moment_bytes));
  }
  return bytes / parts;
}

}  // namespace hone::lab
