// Backward through the layers on a device, the last one first.

#include <algorithm>

#include "engine/device/device_decoder.h"

namespace hone {

float* DeviceDecoder::Partials(int64_t rows, int64_t n) {
  partial_.Grow(SlicesOf(rows) * n * int64_t{sizeof(float)});
  return partial_.as<float>();
}

void DeviceDecoder::AddPartials(int64_t rows, int64_t n, int parameter, const float* partial) {
  AddPartials({partial, SlicesOf(rows), n}, parameter);
}

void DeviceDecoder::AddPartials(const DevicePartials& partials, int parameter) {
  const auto [gradient, add] = weights_->WholeGradient(parameter, 1);
  if (gradient == nullptr) return;
  DevicePartials to_gradient = partials;
  to_gradient.to = gradient;
  to_gradient.add = add;
  api_.add_partials(context_, to_gradient);
}

// dx_ += the gradient of the norm's input: the residual stream goes round the norm as well, and
// dx_ holds the gradient that came that way. rounded_ is what dx_ has become, and normed_ what the
// norm gave.
void DeviceDecoder::NormBackward(const float* x, const float* scale, int64_t rows, int norm,
                                 const float* dy) {
  const int64_t width = config().width;
  DeviceNormBackward b;
  b.rows = rows;
  b.width = width;
  b.x = x;
  b.scale = scale;
  b.dy = dy;
  b.weight = weights_->Value(norm);
  b.dx = dx_.as<float>();
  b.partial = Partials(rows, width);
  b.rounded = rounded_.data();
  b.normed = normed_.data();
  b.element = weights_->element();
  api_.rms_norm_backward(context_, b);
  AddPartials(rows, width, norm, b.partial);
}

// The gradient of a bias that was added to rows.
void DeviceDecoder::AddBiasGradient(DeviceRowSums sums, int bias) {
  if (!weights_->Trained(bias)) return;
  sums.partial = Partials(sums.rows, sums.n);
  api_.sum_rows(context_, sums);
  AddPartials(sums.rows, sums.n, bias, sums.partial);
}

void DeviceDecoder::FeedForwardBackward(int64_t index, int64_t rows, const LayerState& s) {
  const LayerParameters& p = weights_->model().layers[static_cast<size_t>(index)];
  const Layer& layer = layers_[static_cast<size_t>(index)];
  const Element element = weights_->element();
  const float* middle = s.middle.as<float>();
  layer.down.BackwardInput(*device_, {rounded_.data(), rows, element, dactivated_.data()},
                           adapters());
  DeviceSwiGluBackward swiglu;
  swiglu.forward = {rows, config().ffn, element, s.gate_up.data(), activated_.data()};
  swiglu.d = dactivated_.data();
  swiglu.dgate_up = dgate_up_.data();
  api_.swiglu_backward(context_, swiglu);
  layer.down.AddGradients(*device_, {activated_.data(), rounded_.data(), rows}, adapters());
  layer.gate_up.BackwardInput(*device_, {dgate_up_.data(), rows, Element::kF32, dnormed_.data()},
                              adapters());
  NormBackward(middle, s.middle_scale.as<float>(), rows, p.post_norm, dnormed_.as<float>());
  layer.gate_up.AddGradients(*device_, {normed_.data(), dgate_up_.data(), rows}, adapters());
}

// From dattended_ to draw_, the gradient of the projection to queries, keys and values.
void DeviceDecoder::AttendBackward(int64_t index, const DevicePass& pass, const DeviceKeys& keys,
                                   const LayerState& s) {
  const ModelConfig& c = config();
  const LayerParameters& p = weights_->model().layers[static_cast<size_t>(index)];
  const int64_t rows = pass.rows, dim = c.head_dim;
  DeviceAttentionBackward attention;
  attention.forward = AttentionOf(index, pass, s);
  attention.rows = rows;
  attention.dout = dattended_.data();
  attention.dqkv = dqkv_.as<float>();
  attention.inner = attention_inner_.as<float>();
  attention.key_tiles = keys.tiles;
  attention.key_tile = keys.tile;
  attention.spans = keys.spans;
  api_.attend_backward(context_, attention);

  DeviceQkvBackward qkv;
  qkv.forward = QkvOf(index, pass, s);
  qkv.dqkv = dqkv_.as<float>();
  qkv.draw = draw_.data();
  if (c.qk_norm) {
    qkv.q_partial = Partials(rows, 2 * dim);
    qkv.k_partial = qkv.q_partial + SlicesOf(rows) * dim;
  }
  api_.finish_qkv_backward(context_, qkv);
  if (!c.qk_norm) return;
  AddPartials(rows, dim, p.q_norm, qkv.q_partial);
  AddPartials(rows, dim, p.k_norm, qkv.k_partial);
}

void DeviceDecoder::AttentionBackward(int64_t index, const DevicePass& pass, const DeviceKeys& keys,
                                      const LayerState& s) {
  const ModelConfig& c = config();
  const LayerParameters& p = weights_->model().layers[static_cast<size_t>(index)];
  const Layer& layer = layers_[static_cast<size_t>(index)];
  const Element element = weights_->element();
  const int64_t rows = pass.rows, q_size = c.heads * c.head_dim;
  const int64_t kv_size = c.kv_heads * c.head_dim, wide = q_size + 2 * kv_size;
  const float* input = s.input.as<float>();
  AddBiasGradient({rows, c.width, c.width, Element::kF32, dx_.data()}, p.output_bias);
  layer.output.BackwardInput(*device_, {rounded_.data(), rows, element, dattended_.data()},
                             adapters());
  layer.output.AddGradients(*device_, {s.attended.data(), rounded_.data(), rows}, adapters());
  AttendBackward(index, pass, keys, s);
  if (weights_->Trained(p.q_bias)) {
    float* partial = Partials(rows, wide);
    api_.sum_rows(context_, {rows, wide, wide, element, draw_.data(), partial});
    auto add = [&](int64_t column, int64_t n, int bias) {
      AddPartials({.partial = partial + column, .count = SlicesOf(rows), .n = n, .row = wide},
                  bias);
    };
    add(0, q_size, p.q_bias);
    add(q_size, kv_size, p.k_bias);
    add(q_size + kv_size, kv_size, p.v_bias);
  }
  layer.qkv.BackwardInput(*device_, {draw_.data(), rows, Element::kF32, dnormed_.data()},
                          adapters());
  NormBackward(input, s.input_scale.as<float>(), rows, p.input_norm, dnormed_.as<float>());
  layer.qkv.AddGradients(*device_, {normed_.data(), draw_.data(), rows}, adapters());
}

const float* DeviceDecoder::Backward(const DevicePass& pass, const DeviceKeys& keys,
                                     const float* dhidden, const float* scale) {
  const int64_t rows = pass.rows, width = config().width;
  api_.fill(context_, dx_.data(), 0, rows * width * int64_t{sizeof(float)});
  NormBackward(stream(), scale, rows, weights_->model().final_norm, dhidden);
  for (int64_t i = config().layers; i-- > 0;) {
    LayerState* state = &states_[static_cast<size_t>(i)];
    // Only each layer's input was kept: its forward is computed again, the same bits.
    if (recompute_) {
      ForwardLayer(i, pass,
                   {state->input.as<float>(), passing_.middle.as<float>(), x_.as<float>(), true},
                   &passing_);
      std::swap(state->input, passing_.input);  // backward finds all it needs in one state
    }
    const LayerState& s = recompute_ ? passing_ : *state;
    FeedForwardBackward(i, rows, s);
    AttentionBackward(i, pass, keys, s);
    if (recompute_) std::swap(state->input, passing_.input);
  }
  return dx_.as<float>();
}

}  // namespace hone
