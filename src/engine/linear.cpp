#include "engine/linear.h"

namespace hone {

void PackedLinear::Pack(std::span<const Weight> weights, int64_t inputs, Precision precision,
                        const Kernels& kernels, ThreadPool* pool) {
  forward_.PackTransposed({weights, inputs, inputs}, precision, kernels, pool);
}

void PackedLinear::PackBackward(std::span<const Weight> weights, const Kernels& kernels,
                                ThreadPool* pool) {
  backward_.PackRows({weights, inputs(), inputs()}, 0, forward_.precision(), kernels, pool);
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
