#include <algorithm>

#include "engine/device/device_decoder.h"

namespace hone {

DeviceProjection::DeviceProjection(const DeviceWeights* weights, std::vector<int> parts,
                                   Element output, bool addend)
    : weights_(weights), output_(output), addend_(addend) {
  const Model& model = weights->model();
  for (const int parameter : parts) {
    const std::vector<int64_t>& shape = model.parameters[static_cast<size_t>(parameter)].shape;
    Part part{parameter, outputs_, shape[0], nullptr};
    for (const LoraModule& module : model.lora) {
      if (module.target == parameter) part.adapter = &module;
    }
    outputs_ += shape[0];
    inputs_ = shape[1];
    parts_.push_back(part);
  }
}

void DeviceProjection::Prepare(const Device& device, int64_t most_rows,
                               std::vector<std::string>* chosen) const {
  const Element element = weights_->element();
  auto prepare = [&](int64_t n, int64_t k, Element output, bool addend) {
    char text[512] = {};
    const DeviceProductShape shape{n, k, element, output, addend, most_rows};
    if (!device.api().prepare_product(device.context(), shape, text, sizeof text)) {
      device.Synchronize();  // throws what the device says
    }
    if (std::find(chosen->begin(), chosen->end(), text) == chosen->end()) chosen->push_back(text);
  };
  prepare(outputs_, inputs_, output_, addend_);
  for (const Part& part : parts_) {
    if (part.adapter == nullptr) continue;
    prepare(part.adapter->rank, inputs_, element, false);
    prepare(part.outputs, part.adapter->rank, output_, true);
  }
}

void DeviceProjection::Inner(const Device& device, const Part& part, const void* x, int64_t rows,
                             void* t) const {
  DeviceProduct p;
  p.m = rows;
  p.n = p.out_row = part.adapter->rank;
  p.k = p.a_row = p.b_row = inputs_;
  p.a = x;
  p.b = weights_->Operand(part.adapter->a);
  p.out = t;
  p.input = p.output = weights_->element();
  device.api().product(device.context(), p);
}

DeviceProduct DeviceProjection::ProductOf(const Rows& rows) const {
  DeviceProduct p;
  p.m = rows.rows;
  p.n = p.out_row = outputs_;
  p.k = p.a_row = p.b_row = inputs_;
  p.a = rows.x;
  p.b = weights_->Operand(parts_[0].parameter);
  p.out = rows.out;
  p.addend = rows.addend;
  p.input = weights_->element();
  p.output = output_;
  return p;
}

void DeviceProjection::ForwardGated(const Device& device, const Rows& rows,
                                    const Adapters& adapters, void* activated) const {
  const DeviceSwiGlu swiglu{rows.rows, outputs_ / 2, output_, rows.out, activated};
  const bool adapted = adapters.use && std::any_of(parts_.begin(), parts_.end(), [](const Part& p) {
                         return p.adapter != nullptr;
                       });
  if (!adapted) return device.api().product_swiglu(device.context(), ProductOf(rows), swiglu);
  Forward(device, rows, adapters);
  device.api().swiglu(device.context(), swiglu);
}

void DeviceProjection::Forward(const Device& device, const Rows& rows,
                               const Adapters& adapters) const {
  const DeviceProduct p = ProductOf(rows);
  device.api().product(device.context(), p);
  for (const Part& part : parts_) {
    if (part.adapter == nullptr || !adapters.use) continue;
    adapters.inner->Grow(rows.rows * part.adapter->rank * BytesOf(weights_->element()));
    Inner(device, part, rows.x, rows.rows, adapters.inner->data());
    DeviceProduct up = p;
    up.n = part.outputs;
    up.k = up.a_row = up.b_row = part.adapter->rank;
    up.a = adapters.inner->data();
    up.b = weights_->Operand(part.adapter->b);
    up.out = static_cast<char*>(rows.out) + part.offset * BytesOf(output_);
    up.addend = up.out;
    up.scale = part.adapter->scale;
    device.api().product(device.context(), up);
  }
}

// y += scale B t: dt = scale B^T dy.
void DeviceProjection::InnerGradient(const Device& device, const Part& part, const void* dy,
                                     int64_t rows, void* dt) const {
  DeviceProduct p;
  p.form = DeviceProduct::Form::kInput;
  p.m = rows;
  p.n = p.b_row = p.out_row = part.adapter->rank;
  p.k = part.outputs;
  p.a = static_cast<const char*>(dy) + part.offset * BytesOf(weights_->element());
  p.a_row = outputs_;
  p.b = weights_->Operand(part.adapter->b);
  p.out = dt;
  p.input = p.output = weights_->element();
  p.scale = part.adapter->scale;
  device.api().product(device.context(), p);
}

void DeviceProjection::BackwardInput(const Device& device, const Gradient& gradient,
                                     const Adapters& adapters) const {
  DeviceProduct p;
  p.form = DeviceProduct::Form::kInput;
  p.m = gradient.rows;
  p.n = p.b_row = p.out_row = inputs_;
  p.k = p.a_row = outputs_;
  p.a = gradient.dy;
  p.b = weights_->Operand(parts_[0].parameter);
  p.out = gradient.dx;
  p.input = weights_->element();
  p.output = gradient.output;
  device.api().product(device.context(), p);
  for (const Part& part : parts_) {
    if (part.adapter == nullptr || !adapters.use) continue;
    adapters.inner->Grow(gradient.rows * part.adapter->rank * BytesOf(weights_->element()));
    InnerGradient(device, part, gradient.dy, gradient.rows, adapters.inner->data());
    DeviceProduct more = p;
    more.k = more.a_row = part.adapter->rank;
    more.a = adapters.inner->data();
    more.b = weights_->Operand(part.adapter->a);
    more.addend = gradient.dx;
    device.api().product(device.context(), more);
  }
}

void DeviceProjection::AddGradient(const Device& device, const Matrix& matrix, const Seen& seen,
                                   int64_t dy_row) const {
  if (matrix.gradient.gradient == nullptr) return;
  DeviceProduct p;
  p.form = DeviceProduct::Form::kWeight;
  p.m = matrix.outputs;
  p.n = p.b_row = p.out_row = matrix.inputs;
  p.k = seen.rows;
  p.a = seen.dy;
  p.a_row = dy_row;
  p.b = seen.x;
  p.out = matrix.gradient.gradient;
  p.addend = matrix.gradient.add ? p.out : nullptr;
  p.input = weights_->element();
  p.scale = matrix.scale;
  device.api().product(device.context(), p);
}

void DeviceProjection::AddGradients(const Device& device, const Seen& seen,
                                    const Adapters& adapters) const {
  const int64_t bytes = BytesOf(weights_->element());
  // One product for all parts, whose gradients follow each other as they do.
  const DeviceWeights::Whole all =
      weights_->WholeGradient(parts_[0].parameter, static_cast<int>(parts_.size()));
  AddGradient(device, {all, outputs_, inputs_, 1}, seen, outputs_);
  for (const Part& part : parts_) {
    if (part.adapter == nullptr || !adapters.use) continue;
    // With t = A x: dB = scale dy t^T, dA = dt x^T.
    const LoraModule& adapter = *part.adapter;
    const int64_t room = seen.rows * adapter.rank * bytes;
    adapters.inner->Grow(2 * room);
    void* t = adapters.inner->data();
    void* dt = adapters.inner->as<char>() + room;
    Inner(device, part, seen.x, seen.rows, t);
    InnerGradient(device, part, seen.dy, seen.rows, dt);
    const void* dy = static_cast<const char*>(seen.dy) + part.offset * bytes;
    AddGradient(device,
                {weights_->WholeGradient(adapter.b, 1), part.outputs, adapter.rank, adapter.scale},
                {t, dy, seen.rows}, outputs_);
    AddGradient(device, {weights_->WholeGradient(adapter.a, 1), adapter.rank, inputs_, 1},
                {seen.x, dt, seen.rows}, adapter.rank);
  }
}

}  // namespace hone
