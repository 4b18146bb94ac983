#include "engine/device/device_decoder.h"

#include <algorithm>

#include "base/check.h"

namespace hone {
namespace {

constexpr int64_t kMostRows = 8192;  // that products are prepared for; more are cut
constexpr int64_t kFewestPositions = 4096;

// Buffers that only ever grow; true when one of them has moved.
bool GrowAll(const std::vector<std::pair<DeviceBuffer*, int64_t>>& sizes) {
  bool moved = false;
  for (const auto& [buffer, bytes] : sizes) {
    if (buffer->bytes() >= bytes) continue;
    buffer->Grow(bytes);
    moved = true;
  }
  return moved;
}

// How the layers of a model turn, each kind once.
std::vector<LayerTraits::Rope> KindsOfAngles(const ModelConfig& c) {
  std::vector<LayerTraits::Rope> kinds;
  for (int64_t i = 0; i < c.layers; ++i) {
    const LayerTraits::Rope kind = c.TraitsOf(i).rope;
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace

DeviceDecoder::DeviceDecoder(const DeviceWeights* weights, std::shared_ptr<Device> device,
                             bool recompute)
    : weights_(weights),
      device_(std::move(device)),
      api_(device_->api()),
      context_(device_->context()),
      recompute_(recompute),
      passing_(NewState()) {
  const Model& model = weights->model();
  const Element element = weights->element();
  for (const LayerParameters& p : model.layers) {
    layers_.push_back({DeviceProjection(weights, {p.q, p.k, p.v}, Element::kF32, false),
                       DeviceProjection(weights, {p.output}, Element::kF32, true),
                       DeviceProjection(weights, {p.gate, p.up}, element, false),
                       DeviceProjection(weights, {p.down}, Element::kF32, true)});
  }
  for (const auto kind : KindsOfAngles(model.config)) {
    angles_.push_back(
        {kind, RopeTable(model.config, kind), DeviceBuffer(device_), DeviceBuffer(device_)});
  }
  head_ = std::make_unique<DeviceProjection>(weights, std::vector<int>{model.head}, Element::kF32,
                                             false);
  for (const DeviceProjection* projection :
       {&layers_[0].qkv, &layers_[0].output, &layers_[0].gate_up, &layers_[0].down}) {
    projection->Prepare(*device_, kMostRows, &products_);
  }
  head_->Prepare(*device_, LogitRowsOf(model.config.vocab), &products_);
  for (DeviceBuffer* buffer :
       {&x_, &normed_, &activated_, &inner_, &dx_, &rounded_, &dactivated_, &dgate_up_, &dnormed_,
        &dattended_, &dqkv_, &draw_, &attention_inner_, &partial_}) {
    *buffer = DeviceBuffer(device_);
  }
}

DeviceDecoder::LayerState DeviceDecoder::NewState() const {
  auto none = [&] { return DeviceBuffer(device_); };
  return {none(), none(), none(), none(), none(), none(), none(), none(), none(), none()};
}

bool DeviceDecoder::GrowState(int64_t rows, bool raw, LayerState* s) {
  const ModelConfig& c = config();
  const int64_t size = BytesOf(weights_->element());
  const int64_t q = c.heads * c.head_dim, wide = q + 2 * c.kv_heads * c.head_dim;
  return GrowAll({{&s->input_scale, rows * 4},
                  {&s->raw, raw ? rows * wide * 4 : 0},
                  {&s->head_scale, c.qk_norm ? rows * (c.heads + c.kv_heads) * 4 : 0},
                  {&s->qkv, rows * wide * size},
                  {&s->attended, rows * q * size},
                  {&s->lse, rows * c.heads * 4},
                  {&s->middle_scale, rows * 4},
                  {&s->gate_up, rows * 2 * c.ffn * size}});
}

bool DeviceDecoder::Reserve(int64_t rows, int64_t positions, bool keep) {
  const ModelConfig& c = config();
  const int64_t size = BytesOf(weights_->element());
  bool moved = GrowAll({{&x_, rows * c.width * 4},
                        {&normed_, rows * c.width * size},
                        {&activated_, rows * c.ffn * size}});
  // A pass that keeps everything needs of the shared state only what no layer keeps.
  if (!keep || recompute_) {
    moved |= GrowState(rows, true, &passing_);
  } else if (!c.qk_norm) {
    moved |= GrowAll({{&passing_.raw, rows * (c.heads + 2 * c.kv_heads) * c.head_dim * 4}});
  }
  if (keep) {
    while (states_.size() < static_cast<size_t>(c.layers)) states_.push_back(NewState());
    for (LayerState& state : states_) {
      moved |= GrowAll({{&state.input, rows * c.width * 4}});
      if (recompute_) continue;
      moved |= GrowAll({{&state.middle, rows * c.width * 4}});
      moved |= GrowState(rows, c.qk_norm, &state);
    }
    if (recompute_) moved |= GrowAll({{&passing_.middle, rows * c.width * 4}});
    moved |= GrowForBackward(rows);
  }
  if (positions > positions_) {
    positions_ = std::max({positions, 2 * positions_, kFewestPositions});
    positions_ = std::min(positions_, std::max(positions, c.max_positions));
    const int64_t bytes = positions_ * (c.head_dim / 2) * 4;
    for (Angles& angles : angles_) {
      angles.table.Reach(positions_);
      moved |= GrowAll({{&angles.cosines, bytes}, {&angles.sines, bytes}});
      api_.upload(context_, angles.table.cosines().data(), bytes, angles.cosines.data());
      api_.upload(context_, angles.table.sines().data(), bytes, angles.sines.data());
    }
    device_->Synchronize();
  }
  return moved;
}

bool DeviceDecoder::GrowForBackward(int64_t rows) {
  const ModelConfig& c = config();
  const int64_t size = BytesOf(weights_->element());
  const int64_t q = c.heads * c.head_dim, wide = q + 2 * c.kv_heads * c.head_dim;
  return GrowAll({{&dx_, rows * c.width * 4},
                  {&rounded_, rows * c.width * size},
                  {&dactivated_, rows * c.ffn * size},
                  {&dgate_up_, rows * 2 * c.ffn * size},
                  {&dnormed_, rows * c.width * 4},
                  {&dattended_, rows * q * size},
                  {&dqkv_, rows * wide * 4},
                  {&draw_, rows * wide * size},
                  {&attention_inner_, rows * c.heads * 4}});
}

// Where nothing turns the angles are zero: what is multiplied by 1 stays as it is.
const DeviceDecoder::Angles& DeviceDecoder::AnglesOf(int64_t layer) const {
  const auto of_layer = [&](const Angles& angles) {
    return angles.kind == config().TraitsOf(layer).rope;
  };
  return *std::find_if(angles_.begin(), angles_.end(), of_layer);
}

DeviceQkv DeviceDecoder::QkvOf(int64_t layer, const DevicePass& pass,
                               const LayerState& state) const {
  const ModelConfig& c = config();
  const LayerParameters& p = weights_->model().layers[static_cast<size_t>(layer)];
  DeviceQkv q;
  q.rows = pass.rows;
  q.heads = static_cast<int32_t>(c.heads);
  q.kv_heads = static_cast<int32_t>(c.kv_heads);
  q.head_dim = static_cast<int32_t>(c.head_dim);
  q.layer = static_cast<int32_t>(layer);
  q.element = weights_->element();
  q.raw = state.raw.as<float>();
  q.q_bias = weights_->Value(p.q_bias);
  q.k_bias = weights_->Value(p.k_bias);
  q.v_bias = weights_->Value(p.v_bias);
  q.q_norm = weights_->Value(p.q_norm);
  q.k_norm = weights_->Value(p.k_norm);
  q.norm_eps = static_cast<float>(c.norm_eps);
  q.cosines = AnglesOf(layer).cosines.as<float>();
  q.sines = AnglesOf(layer).sines.as<float>();
  q.places = pass.places;
  q.pages = pass.pages;
  q.copied_row = pass.copied_row;
  q.copied_slot = pass.copied_slot;
  q.copies = pass.copies;
  q.qkv = state.qkv.data();
  q.head_scale = c.qk_norm ? state.head_scale.as<float>() : nullptr;
  return q;
}

DeviceAttention DeviceDecoder::AttentionOf(int64_t layer, const DevicePass& pass,
                                           const LayerState& state) const {
  const ModelConfig& c = config();
  DeviceAttention a;
  a.tiles = pass.tiles;
  a.tile = pass.tile;
  a.tables = pass.tables;
  a.heads = static_cast<int32_t>(c.heads);
  a.kv_heads = static_cast<int32_t>(c.kv_heads);
  a.head_dim = static_cast<int32_t>(c.head_dim);
  a.layer = static_cast<int32_t>(layer);
  a.element = weights_->element();
  a.pages = pass.pages;
  a.qkv = state.qkv.data();
  a.out = state.attended.data();
  a.lse = state.lse.as<float>();
  a.one_position = pass.one_position;
  a.earlier_keys = pass.earlier_keys;
  return a;
}

// The norm of the first `rows` of x, to normed_.
DeviceNorm DeviceDecoder::NormOf(const float* x, int64_t rows, int norm) const {
  DeviceNorm n;
  n.rows = rows;
  n.width = config().width;
  n.x = x;
  n.weight = weights_->Value(norm);
  n.eps = static_cast<float>(config().norm_eps);
  n.element = weights_->element();
  n.out = normed_.data();
  return n;
}

void DeviceDecoder::ForwardLayer(int64_t index, const DevicePass& pass, const Stream& stream,
                                 LayerState* s) {
  const ModelConfig& c = config();
  const LayerParameters& p = weights_->model().layers[static_cast<size_t>(index)];
  const Layer& layer = layers_[static_cast<size_t>(index)];
  const int64_t rows = pass.rows;
  // Without norms of heads nobody needs the projection's own output later: one buffer serves all.
  LayerState& raw_of = c.qk_norm ? *s : passing_;
  DeviceNorm before = NormOf(stream.in, rows, p.input_norm);
  before.scale = s->input_scale.as<float>();
  api_.rms_norm(context_, before);
  layer.qkv.Forward(*device_, {normed_.data(), rows, nullptr, raw_of.raw.data()}, adapters());
  DeviceQkv qkv = QkvOf(index, pass, *s);
  qkv.raw = raw_of.raw.as<float>();
  api_.finish_qkv(context_, qkv);
  api_.attend(context_, AttentionOf(index, pass, *s));
  layer.output.Forward(*device_, {s->attended.data(), rows, stream.in, stream.middle}, adapters());
  if (p.output_bias >= 0) {
    api_.add_bias(context_, weights_->Value(p.output_bias), rows, c.width, stream.middle);
  }
  DeviceNorm between = NormOf(stream.middle, rows, p.post_norm);
  between.scale = s->middle_scale.as<float>();
  api_.rms_norm(context_, between);
  const DeviceProjection::Rows gate_up{normed_.data(), rows, nullptr, s->gate_up.data()};
  if (stream.kept) {
    layer.gate_up.Forward(*device_, gate_up, adapters());
    api_.swiglu(context_, {rows, c.ffn, weights_->element(), s->gate_up.data(), activated_.data()});
  } else {
    layer.gate_up.ForwardGated(*device_, gate_up, adapters(), activated_.data());
  }
  layer.down.Forward(*device_, {activated_.data(), rows, stream.middle, stream.out}, adapters());
}

void DeviceDecoder::Forward(const DevicePass& pass, bool keep) {
  const ModelConfig& c = config();
  const int64_t layers = c.layers;
  auto input_of = [&](int64_t layer) {
    return keep && layer < layers ? states_[static_cast<size_t>(layer)].input.as<float>()
                                  : x_.as<float>();
  };
  DeviceEmbedding embedding;
  embedding.rows = pass.rows;
  embedding.width = c.width;
  embedding.tokens = pass.tokens;
  embedding.element = weights_->element();
  embedding.embedding = weights_->Operand(weights_->model().embedding);
  embedding.x = input_of(0);
  api_.embed(context_, embedding);
  for (int64_t i = 0; i < layers; ++i) {
    LayerState* state = keep && !recompute_ ? &states_[static_cast<size_t>(i)] : &passing_;
    float* middle = keep ? state->middle.as<float>() : x_.as<float>();
    ForwardLayer(i, pass, {input_of(i), middle, input_of(i + 1), keep && !recompute_}, state);
  }
}

const float* DeviceDecoder::stream() const { return x_.as<float>(); }

void DeviceDecoder::FinalNorm(const int32_t* row_of, int64_t rows, void* out, float* scale) {
  DeviceNorm n = NormOf(stream(), rows, weights_->model().final_norm);
  n.row_of = row_of;
  n.out = out;
  n.scale = scale;
  api_.rms_norm(context_, n);
}

int64_t DeviceDecoder::kept_bytes() const {
  int64_t bytes = 0;
  for (const LayerState& state : states_) {
    for (const DeviceBuffer* buffer : state.All()) bytes += buffer->bytes();
  }
  return bytes;
}

int64_t DeviceDecoder::buffer_bytes() const {
  int64_t bytes = 0;
  for (const DeviceBuffer* buffer :
       {&x_, &normed_, &activated_, &inner_, &dx_, &rounded_, &dactivated_, &dgate_up_, &dnormed_,
        &dattended_, &dqkv_, &draw_, &attention_inner_, &partial_}) {
    bytes += buffer->bytes();
  }
  for (const DeviceBuffer* buffer : passing_.All()) bytes += buffer->bytes();
  for (const Angles& angles : angles_) bytes += angles.cosines.bytes() + angles.sines.bytes();
  return bytes;
}

}  // namespace hone
