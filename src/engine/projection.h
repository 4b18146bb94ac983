#pragma once

#include <cstdint>
#include <vector>

#include "engine/linear.h"
#include "engine/model.h"

namespace hone {

// Weight matrices of a model that multiply the same input, with their LoRA adapters: y = W x, plus
// scale B (A x) for an adapter. Adapters run unmerged in sampling and training alike.
class Projection {
 public:
  // `parts` are indices of parameters; their outputs lie one after the other.
  Projection(const Model* model, std::vector<int> parts);

  void Pack(Precision precision, const Kernels& kernels, ThreadPool* pool);
  void PackBackward(ThreadPool* pool);

  int64_t bytes() const;

  // y [rows][outputs] is set. In bf16, x must hold bfloat16 values.
  void Forward(const float* x, int64_t rows, bool use_adapters, float* y, ThreadPool* pool) const;
  // dx[r] += the gradient of the input. In bf16, dy must hold bfloat16 values.
  void BackwardInput(const float* dy, int64_t rows, bool use_adapters, float* dx,
                     ThreadPool* pool) const;
  // The gradients of trained weights are added to, over all rows at once and in their order; in
  // slices of so many rows (0: one), as if it were called for each of them.
  struct Seen {
    const float* x;   // [rows][inputs], as Forward got it
    const float* dy;  // [rows][outputs]
    int64_t rows;
    int64_t slice = 0;
  };
  void AddGradients(const Seen& seen, bool use_adapters, std::vector<Floats>* gradients,
                    ThreadPool* pool) const;

 private:
  struct Part {
    int parameter;
    int64_t offset, outputs;
    const LoraModule* adapter = nullptr;
    PackedLinear down, up;  // A and B of the adapter
  };
  std::vector<PackedLinear::Weight> WeightsOf() const;
  const float* Values(int parameter) const { return model_->parameters[parameter].value.data(); }
  // scale is applied to B's output; t = A x, rounded in bf16.
  void AdapterInner(const Part& part, const float* x, int64_t rows, Floats* t,
                    ThreadPool* pool) const;
  // The gradients of B's output and of t.
  struct AdapterGradients {
    Floats scaled, dt;
  };
  void AdapterBackward(const Part& part, const float* dy, int64_t rows, AdapterGradients* gradients,
                       ThreadPool* pool) const;

  const Model* model_;
  std::vector<Part> parts_;
  int64_t inputs_ = 0, outputs_ = 0;
  PackedLinear packed_;
  Precision precision_ = Precision::kF32;
  const Kernels* kernels_ = nullptr;
};

}  // namespace hone
