#include "engine/linear.h"

#include <algorithm>

namespace hone {
namespace {

// The weights under each other; `joined` holds them when there are several.
const float* Join(std::span<const PackedLinear::Weight> weights, int64_t inputs, Floats* joined,
                  int64_t* outputs) {
  *outputs = 0;
  for (const auto& weight : weights) *outputs += weight.outputs;
  if (weights.size() == 1) return weights[0].values;
  float* to = Room(joined, *outputs * inputs);
  for (const auto& weight : weights) {
    to = std::copy_n(weight.values, weight.outputs * inputs, to);
  }
  return joined->data();
}

}  // namespace

void PackedLinear::Pack(std::span<const Weight> weights, int64_t inputs, Precision precision,
                        const Kernels& kernels, ThreadPool* pool) {
  Floats joined;
  int64_t outputs = 0;
  const float* source = Join(weights, inputs, &joined, &outputs);
  forward_.Pack({source, 1, inputs, inputs, outputs}, precision, kernels, pool);
}

void PackedLinear::PackBackward(std::span<const Weight> weights, const Kernels& kernels,
                                ThreadPool* pool) {
  Floats joined;
  int64_t outputs = 0;
  const float* source = Join(weights, inputs(), &joined, &outputs);
  backward_.Pack({source, inputs(), 1, outputs, inputs()}, forward_.precision(), kernels, pool);
}

void PackedLinear::Forward(const float* x, int64_t rows, float* y, const Kernels& kernels,
                           ThreadPool* pool) const {
  Multiply({x, inputs()}, forward_, {y, rows, outputs()}, kernels, pool);
}

void PackedLinear::BackwardInput(const Left& dy, int64_t rows, float* dx, const Kernels& kernels,
                                 ThreadPool* pool) const {
  Multiply(dy, backward_, {dx, rows, inputs(), true}, kernels, pool);
}

}  // namespace hone
