#pragma once

#include <string>
#include <vector>

#include "lab/scale/scale_options.h"

// For tests: a machine whose steps of drawing take 10 ms however many draw, where all else costs
// nothing that could be seen.

namespace hone::lab {

inline constexpr char kTestedMachine[] = R"([model]
name = "tested"
layers = 2
width = 64
heads = 4
kv_heads = 2
head_dim = 16
ffn = 128
vocabulary = 256
[machine]
products = 1e30
training = 1e30
bandwidth = 1e30
step_seconds = 0.01
devices = 4
host_bandwidth = 1e30
network = 1e30
device_network = 1e30
[workload]
groups = 4
group = 2
turns = 2
turn_tokens = 10
tool_seconds = 1
[run]
slices = 1
)";

inline Result<ScaleOptions> ReadTested(const std::vector<std::string>& changes = {},
                                       const std::string& text = kTestedMachine) {
  Recipe recipe = Recipe::Parse(text, "tested.toml").value();
  for (const std::string& change : changes) recipe.Override(change);
  return ReadScaleOptions(&recipe);
}

}  // namespace hone::lab
