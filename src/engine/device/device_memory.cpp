#include "engine/device/device_memory.h"

#include <algorithm>

#include "base/check.h"
#include "engine/device/counting_device.h"
#include "engine/device/device_room.h"

namespace hone {
namespace {

// So many tokens in trees of the shape, the last one smaller.
std::vector<Tree> TreesOf(const DeviceStepShape& shape, int64_t length, int64_t prompt) {
  const int64_t node = shape.node > 0 ? shape.node : length;
  // A sequence that nobody shares and nothing divides is one node.
  const int64_t shared = shape.leaves == 1 && shape.node == 0 ? length : prompt;
  std::vector<Tree> trees;
  int64_t left = shape.tokens;
  auto add = [&](NodeId parent, int64_t tokens) {
    tokens = std::min(tokens, left);
    left -= tokens;
    Tree& tree = trees.back();
    tree.nodes.push_back(
        {.parent = parent, .tokens = std::vector<TokenId>(static_cast<size_t>(tokens))});
    return static_cast<NodeId>(tree.nodes.size() - 1);
  };
  while (left > 0) {
    trees.emplace_back();
    const NodeId root = add(kNoNode, shared);
    for (int64_t path = 0; path < shape.leaves && (left > 0 || path == 0); ++path) {
      NodeId last = root;
      for (int64_t at = shared; at < length && left > 0; at += node) {
        last = add(last, std::min(node, length - at));
      }
      trees.back().leaves.push_back({.node = last});
    }
  }
  return trees;
}

void DrawAll(const DeviceStepShape& shape, int64_t length, int64_t prompt, DeviceRunner* runner) {
  Sampler sampler(runner, shape.sampler);
  for (int64_t i = 0; i < shape.live; ++i) {
    TurnRequest turn;
    turn.max_new = length - prompt;
    // One that does not fit alone is refused in the run, too.
    const auto id = sampler.Start(std::vector<TokenId>(static_cast<size_t>(prompt)));
    if (!sampler.Generate(id, turn).ok()) return;
  }
  while (!sampler.idle()) sampler.Step();
}

}  // namespace

int64_t DeviceMemory::Most() const { return std::max(peak, trying); }

int64_t DeviceMemory::Needed() const { return Most() + kDeviceLibraryBytes; }

DeviceMemory DeriveDeviceMemory(const Model& model, const DeviceRunnerOptions& options,
                                const DeviceStepShape& shape) {
  const std::shared_ptr<Device> device = Device::Open(CountingDevice()).value();
  // A runner writes to its model where somebody asks for the weights, which nobody does here.
  DeviceRunner runner(const_cast<Model*>(&model), options, device);
  DeviceMemory memory;
  const int64_t length =
      std::clamp<int64_t>(shape.length, 1, std::max<int64_t>(1, model.config.max_positions));
  const int64_t prompt = std::clamp<int64_t>(shape.prompt, 1, std::max<int64_t>(1, length - 1));
  DrawAll(shape, length, prompt, &runner);
  const std::vector<Tree> trees = TreesOf(shape, length, prompt);
  if (shape.scored) runner.LogProbs(trees);
  if (!trees.empty()) {
    const Loss loss = [](std::span<TreeTerms> all) {
      for (TreeTerms& tree : all) {
        for (PathTerms& path : tree.paths) {
          std::fill(path.dlogprobs.begin(), path.dlogprobs.end(), 1.0f);
        }
      }
    };
    runner.Accumulate(trees, loss, SharedTokens::kRepeat);
    runner.Step(shape.optimizer);
  }
  memory.parts = runner.Memory();
  memory.peak = device->peak_bytes();
  memory.trying = MostWhileProductsWereTried(device->context());
  return memory;
}

}  // namespace hone
