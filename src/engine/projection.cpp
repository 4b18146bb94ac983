#include "engine/projection.h"

namespace hone {

Projection::Projection(const Model* model, std::vector<int> parts) : model_(model) {
  for (const int parameter : parts) {
    const std::vector<int64_t>& shape = model->parameters[parameter].shape;
    Part part{parameter, outputs_, shape[0]};
    for (const LoraModule& module : model->lora) {
      if (module.target == parameter) part.adapter = &module;
    }
    outputs_ += shape[0];
    inputs_ = shape[1];
    parts_.push_back(std::move(part));
  }
}

std::vector<PackedLinear::Weight> Projection::WeightsOf() const {
  std::vector<PackedLinear::Weight> weights;
  for (const Part& part : parts_) weights.push_back({Values(part.parameter), part.outputs});
  return weights;
}

void Projection::Pack(Precision precision, const Kernels& kernels, ThreadPool* pool) {
  precision_ = precision;
  kernels_ = &kernels;
  packed_.Pack(WeightsOf(), inputs_, precision, kernels, pool);
  for (Part& part : parts_) {
    if (part.adapter == nullptr) continue;
    const int64_t rank = part.adapter->rank;
    const PackedLinear::Weight a{Values(part.adapter->a), rank};
    const PackedLinear::Weight b{Values(part.adapter->b), part.outputs};
    part.down.Pack({&a, 1}, inputs_, precision, kernels, pool);
    part.up.Pack({&b, 1}, rank, precision, kernels, pool);
  }
}

void Projection::PackBackward(ThreadPool* pool) {
  packed_.PackBackward(WeightsOf(), *kernels_, pool);
  for (Part& part : parts_) {
    if (part.adapter == nullptr) continue;
    const PackedLinear::Weight a{Values(part.adapter->a), part.adapter->rank};
    const PackedLinear::Weight b{Values(part.adapter->b), part.outputs};
    part.down.PackBackward({&a, 1}, *kernels_, pool);
    part.up.PackBackward({&b, 1}, *kernels_, pool);
  }
}

int64_t Projection::bytes() const {
  int64_t bytes = packed_.bytes();
  for (const Part& part : parts_) bytes += part.down.bytes() + part.up.bytes();
  return bytes;
}

void Projection::AdapterInner(const Part& part, const float* x, int64_t rows, Floats* t,
                              ThreadPool* pool) const {
  const int64_t rank = part.adapter->rank;
  part.down.Forward(x, rows, Room(t, rows * rank), *kernels_, pool);
  if (precision_ == Precision::kBf16) kernels_->round_bf16(t->data(), rows * rank);
}

void Projection::Forward(const float* x, int64_t rows, bool use_adapters, float* y,
                         ThreadPool* pool) const {
  packed_.Forward(x, rows, y, *kernels_, pool);
  Floats t, u;
  for (const Part& part : parts_) {
    if (part.adapter == nullptr || !use_adapters) continue;
    AdapterInner(part, x, rows, &t, pool);
    part.up.Forward(t.data(), rows, Room(&u, rows * part.outputs), *kernels_, pool);
    for (int64_t r = 0; r < rows; ++r) {
      kernels_->add_scaled(u.data() + r * part.outputs, part.adapter->scale, part.outputs,
                           y + r * outputs_ + part.offset);
    }
  }
}

void Projection::AdapterBackward(const Part& part, const float* dy, int64_t rows,
                                 AdapterGradients* gradients, ThreadPool* pool) const {
  auto& [scaled, dt] = *gradients;
  const int64_t rank = part.adapter->rank;
  float* to = Room(&scaled, rows * part.outputs);
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = dy + r * outputs_ + part.offset;
    for (int64_t i = 0; i < part.outputs; ++i) *to++ = from[i] * part.adapter->scale;
  }
  ZeroRoom(&dt, rows * rank);
  const bool bf16 = precision_ == Precision::kBf16;
  if (bf16) kernels_->round_bf16(scaled.data(), rows * part.outputs);
  part.up.BackwardInput({scaled.data(), part.outputs}, rows, dt.data(), *kernels_, pool);
  if (bf16) kernels_->round_bf16(dt.data(), rows * rank);
}

void Projection::BackwardInput(const float* dy, int64_t rows, bool use_adapters, float* dx,
                               ThreadPool* pool) const {
  packed_.BackwardInput({dy, outputs_}, rows, dx, *kernels_, pool);
  AdapterGradients adapter;
  for (const Part& part : parts_) {
    if (part.adapter == nullptr || !use_adapters) continue;
    AdapterBackward(part, dy, rows, &adapter, pool);
    part.down.BackwardInput({adapter.dt.data(), part.adapter->rank}, rows, dx, *kernels_, pool);
  }
}

void Projection::AddGradients(const Seen& seen, bool use_adapters, std::vector<Floats>* gradients,
                              ThreadPool* pool) const {
  const auto& [x, dy, rows, slice] = seen;
  const RowSlices slices{rows, slice};
  static thread_local Panels x_panels;  // keeps its memory
  bool packed = false;
  auto pack = [&](const float* values, int64_t width, Panels* panels) {
    const Panels::Part part{values, slices.rows};
    panels->PackRows({{&part, 1}, width, width}, slices.slice, precision_, *kernels_, pool);
  };
  auto panels_of_x = [&, x = x]() -> const Panels& {
    if (!packed) pack(x, inputs_, &x_panels);
    packed = true;  // only where something of this input is trained
    return x_panels;
  };
  // dw [outputs][inputs] += the sum over rows of dy x^T, with dy as it lies: by columns.
  auto add = [&](const Left& dy_rows, int64_t outputs, const Panels& inputs, int parameter) {
    Multiply({dy_rows.data, 1, dy_rows.row, slices}, inputs,
             {(*gradients)[parameter].data(), outputs, inputs.columns(), true}, *kernels_, pool);
  };
  for (const Part& part : parts_) {
    if (model_->parameters[part.parameter].trained) {
      add({dy + part.offset, outputs_}, part.outputs, panels_of_x(), part.parameter);
    }
    if (part.adapter == nullptr || !use_adapters) continue;
    // y += scale B t with t = A x: dt = B^T (scale dy), dB = (scale dy) t^T, dA = dt x^T.
    const int64_t rank = part.adapter->rank;
    Floats t;
    AdapterGradients adapter;
    AdapterInner(part, x, rows, &t, pool);
    AdapterBackward(part, dy, rows, &adapter, pool);
    Panels t_panels;
    pack(t.data(), rank, &t_panels);
    add({adapter.scaled.data(), part.outputs}, part.outputs, t_panels, part.adapter->b);
    add({adapter.dt.data(), rank}, rank, panels_of_x(), part.adapter->a);
  }
}

}  // namespace hone
