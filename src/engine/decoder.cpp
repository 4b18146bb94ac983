#include "engine/decoder.h"

#include <algorithm>

#include "base/check.h"
#include "engine/bfloat16.h"
#include "engine/distribution.h"

namespace hone {
namespace {

// Rows of logits computed at a time: bounds the memory, changes no bit.
constexpr int64_t kLogitRows = 32;

std::unique_ptr<PackedLinear> Pack(const Parameter& parameter, Precision precision) {
  return std::make_unique<PackedLinear>(parameter.value, parameter.shape[0], parameter.shape[1],
                                        precision);
}

// y[r] += bias, for every row.
void AddBias(const float* bias, int64_t rows, int64_t size, float* y) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < size; ++i) y[r * size + i] += bias[i];
  }
}

void AddBiasGradient(const float* dy, int64_t rows, int64_t size, float* dbias) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < size; ++i) dbias[i] += dy[r * size + i];
  }
}

}  // namespace

KvCache::KvCache(const ModelConfig& config) : kv_heads_(config.kv_heads) {
  heads_.assign(static_cast<size_t>(config.layers * config.kv_heads), KvHead(config.head_dim));
}

struct Decoder::PackedLayer {
  std::unique_ptr<PackedLinear> q, k, v, output, gate, up, down;
};

// What backward needs of one layer. All [rows][...].
struct Decoder::LayerState {
  std::vector<float> input, input_scale, normed;      // before attention
  std::vector<float> q_raw, k_raw, q_scale, k_scale;  // before the q/k norms, where there are any
  std::vector<float> q, attended, lse;                // rotated queries; what attention gave
  std::vector<float> middle, middle_scale, middle_normed;
  std::vector<float> gate, up, activated;
};

// The rows of one call: which sequence and which position each is.
struct Decoder::Batch {
  std::span<const Chunk> chunks;
  std::vector<int> chunk_of;
  std::vector<int64_t> position;
  std::vector<int64_t> first_row;  // of each chunk

  explicit Batch(std::span<const Chunk> all) : chunks(all) {
    for (size_t c = 0; c < all.size(); ++c) {
      first_row.push_back(rows());
      for (size_t t = 0; t < all[c].tokens.size(); ++t) {
        chunk_of.push_back(static_cast<int>(c));
        position.push_back(all[c].cache->length() + static_cast<int64_t>(t));
      }
    }
  }
  int64_t rows() const { return static_cast<int64_t>(chunk_of.size()); }
};

Decoder::Decoder(const Model* model, Precision precision, ThreadPool* pool,
                 const PanelKernels& kernels)
    : model_(model),
      precision_(precision),
      pool_(pool),
      kernels_(kernels),
      rope_(model->config, model->config.max_positions) {
  for (const LayerParameters& layer : model->layers) {
    PackedLayer packed;
    packed.q = Pack(model->parameters[layer.q], precision);
    packed.k = Pack(model->parameters[layer.k], precision);
    packed.v = Pack(model->parameters[layer.v], precision);
    packed.output = Pack(model->parameters[layer.output], precision);
    packed.gate = Pack(model->parameters[layer.gate], precision);
    packed.up = Pack(model->parameters[layer.up], precision);
    packed.down = Pack(model->parameters[layer.down], precision);
    layers_.push_back(std::move(packed));
  }
  head_ = Pack(model->parameters[model->head], precision);
  embedding_ = model->parameters[model->embedding].value;
  Round(embedding_.data(), static_cast<int64_t>(embedding_.size()));
}

Decoder::~Decoder() = default;

void Decoder::Round(float* values, int64_t count) const {
  if (precision_ != Precision::kBf16) return;
  for (int64_t i = 0; i < count; ++i) values[i] = RoundToBf16(values[i]);
}

void Decoder::ForRows(int64_t rows, const std::function<void(int64_t)>& body) const {
  pool_->ParallelFor(static_cast<size_t>(rows), 4, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t r = begin; r < end; ++r) body(static_cast<int64_t>(r));
  });
}

void Decoder::ForwardLayer(int64_t index, const Batch& batch, std::vector<float>* x,
                           LayerState* state) const {
  const ModelConfig& c = model_->config;
  const LayerParameters& parameters = model_->layers[index];
  const PackedLayer& packed = layers_[index];
  const int64_t rows = batch.rows(), width = c.width, dim = c.head_dim;
  const int64_t q_size = c.heads * dim, kv_size = c.kv_heads * dim, group = c.heads / c.kv_heads;
  const auto eps = static_cast<float>(c.norm_eps);
  LayerState& s = *state;

  s.input = *x;
  s.input_scale.resize(static_cast<size_t>(rows));
  s.normed = PaddedBuffer(rows * width);
  ForRows(rows, [&](int64_t r) {
    float* normed = s.normed.data() + r * width;
    s.input_scale[r] =
        RmsNorm(x->data() + r * width, Weights(parameters.input_norm), width, eps, normed);
    Round(normed, width);
  });
  s.q = PaddedBuffer(rows * q_size);
  std::vector<float> k = PaddedBuffer(rows * kv_size), v = PaddedBuffer(rows * kv_size);
  packed.q->Forward(s.normed.data(), rows, s.q.data(), kernels_, pool_);
  packed.k->Forward(s.normed.data(), rows, k.data(), kernels_, pool_);
  packed.v->Forward(s.normed.data(), rows, v.data(), kernels_, pool_);
  if (parameters.q_bias >= 0) {
    AddBias(Weights(parameters.q_bias), rows, q_size, s.q.data());
    AddBias(Weights(parameters.k_bias), rows, kv_size, k.data());
    AddBias(Weights(parameters.v_bias), rows, kv_size, v.data());
  }
  if (c.qk_norm) {
    s.q_raw = s.q;
    s.k_raw = k;
    s.q_scale.resize(static_cast<size_t>(rows * c.heads));
    s.k_scale.resize(static_cast<size_t>(rows * c.kv_heads));
  }
  ForRows(rows, [&](int64_t r) {
    auto finish = [&](int64_t heads, int norm, const std::vector<float>& raw,
                      std::vector<float>* scales, float* all) {
      for (int64_t h = 0; h < heads; ++h) {
        float* head = all + (r * heads + h) * dim;
        if (norm >= 0) {
          (*scales)[r * heads + h] =
              RmsNorm(raw.data() + (r * heads + h) * dim, Weights(norm), dim, eps, head);
        }
        rope_.Rotate(batch.position[r], head);
        Round(head, dim);
      }
    };
    finish(c.heads, parameters.q_norm, s.q_raw, &s.q_scale, s.q.data());
    finish(c.kv_heads, parameters.k_norm, s.k_raw, &s.k_scale, k.data());
    Round(v.data() + r * kv_size, kv_size);
  });
  // Keys and values are rounded once, here, and everybody reads these.
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t g = 0; g < c.kv_heads; ++g) {
      batch.chunks[batch.chunk_of[r]].cache->Head(index, g).Append(
          k.data() + r * kv_size + g * dim, v.data() + r * kv_size + g * dim);
    }
  }
  s.attended = PaddedBuffer(rows * q_size);
  s.lse.resize(static_cast<size_t>(rows * c.heads));
  ForRows(rows, [&](int64_t r) {
    for (int64_t g = 0; g < c.kv_heads; ++g) {
      const int64_t at = r * q_size + g * group * dim;
      Attend(batch.chunks[batch.chunk_of[r]].cache->Head(index, g), s.q.data() + at, group, dim,
             batch.position[r], precision_ == Precision::kBf16, kernels_, s.attended.data() + at,
             s.lse.data() + r * c.heads + g * group);
    }
    Round(s.attended.data() + r * q_size, q_size);
  });
  std::vector<float> projected = PaddedBuffer(rows * width);
  packed.output->Forward(s.attended.data(), rows, projected.data(), kernels_, pool_);
  if (parameters.output_bias >= 0) {
    AddBias(Weights(parameters.output_bias), rows, width, projected.data());
  }
  for (int64_t i = 0; i < rows * width; ++i) (*x)[i] += projected[i];

  s.middle = *x;
  s.middle_scale.resize(static_cast<size_t>(rows));
  s.middle_normed = PaddedBuffer(rows * width);
  ForRows(rows, [&](int64_t r) {
    float* normed = s.middle_normed.data() + r * width;
    s.middle_scale[r] =
        RmsNorm(x->data() + r * width, Weights(parameters.post_norm), width, eps, normed);
    Round(normed, width);
  });
  s.gate = PaddedBuffer(rows * c.ffn);
  s.up = PaddedBuffer(rows * c.ffn);
  s.activated = PaddedBuffer(rows * c.ffn);
  packed.gate->Forward(s.middle_normed.data(), rows, s.gate.data(), kernels_, pool_);
  packed.up->Forward(s.middle_normed.data(), rows, s.up.data(), kernels_, pool_);
  ForRows(rows, [&](int64_t r) {
    float* activated = s.activated.data() + r * c.ffn;
    SwiGlu(s.gate.data() + r * c.ffn, s.up.data() + r * c.ffn, c.ffn, activated);
    Round(activated, c.ffn);
  });
  packed.down->Forward(s.activated.data(), rows, projected.data(), kernels_, pool_);
  for (int64_t i = 0; i < rows * width; ++i) (*x)[i] += projected[i];
}

std::vector<float> Decoder::Run(std::span<const Chunk> chunks, std::vector<LayerState>* keep,
                                std::vector<float>* final_scales) const {
  const FloatMode mode;
  const ModelConfig& c = model_->config;
  const Batch batch(chunks);
  const int64_t rows = batch.rows(), width = c.width;
  std::vector<float> x(static_cast<size_t>(rows * width));
  int64_t row = 0;
  for (const Chunk& chunk : chunks) {
    CHECK(chunk.cache->length() + static_cast<int64_t>(chunk.tokens.size()) <= max_positions(),
          "a sequence longer than the model's positions");
    for (const TokenId token : chunk.tokens) {
      CHECK(token >= 0 && token < c.vocab, "a token outside the model's vocabulary");
      std::copy_n(embedding_.data() + token * width, width, x.data() + width * row++);
    }
  }
  for (int64_t layer = 0; layer < c.layers; ++layer) {
    LayerState state;
    ForwardLayer(layer, batch, &x, &state);
    if (keep != nullptr) keep->push_back(std::move(state));
  }
  std::vector<float> hidden = PaddedBuffer(rows * width);
  if (final_scales != nullptr) final_scales->resize(static_cast<size_t>(rows));
  ForRows(rows, [&](int64_t r) {
    const float scale = RmsNorm(x.data() + r * width, Weights(model_->final_norm), width,
                                static_cast<float>(c.norm_eps), hidden.data() + r * width);
    if (final_scales != nullptr) (*final_scales)[r] = scale;
    Round(hidden.data() + r * width, width);
  });
  if (keep != nullptr) {
    keep->emplace_back();
    keep->back().input = std::move(x);
  }
  return hidden;
}

std::vector<float> Decoder::Hidden(std::span<const Chunk> chunks) const {
  return Run(chunks, nullptr, nullptr);
}

std::vector<float> Decoder::Logits(const float* hidden, int64_t rows) const {
  const FloatMode mode;
  std::vector<float> logits = PaddedBuffer(rows * model_->config.vocab);
  head_->Forward(hidden, rows, logits.data(), kernels_, pool_);
  return logits;
}

void Decoder::BackwardLayer(int64_t index, const Batch& batch, const LayerState& s,
                            std::vector<float>* dx,
                            std::vector<std::vector<float>>* gradients) const {
  const ModelConfig& c = model_->config;
  const LayerParameters& parameters = model_->layers[index];
  const PackedLayer& packed = layers_[index];
  const int64_t rows = batch.rows(), width = c.width, dim = c.head_dim;
  const int64_t q_size = c.heads * dim, kv_size = c.kv_heads * dim, group = c.heads / c.kv_heads;
  auto gradient = [&](int parameter) { return (*gradients)[parameter].data(); };
  // The part of a linear layer that backward passes on, and the gradient of its weights.
  auto linear = [&](const PackedLinear& weights, int parameter, const std::vector<float>& dy,
                    const std::vector<float>& input, std::vector<float>* dinput) {
    weights.BackwardInput(dy.data(), rows, dinput->data(), kernels_, pool_);
    AddWeightGradient(dy.data(), input.data(), rows, weights.outputs(), weights.inputs(),
                      gradient(parameter), kernels_, pool_);
  };

  // The MLP.
  std::vector<float> dactivated = PaddedBuffer(rows * c.ffn);
  linear(*packed.down, parameters.down, *dx, s.activated, &dactivated);
  std::vector<float> dgate = PaddedBuffer(rows * c.ffn), dup = PaddedBuffer(rows * c.ffn);
  ForRows(rows, [&](int64_t r) {
    const int64_t at = r * c.ffn;
    SwiGluBackward(s.gate.data() + at, s.up.data() + at, dactivated.data() + at, c.ffn,
                   dgate.data() + at, dup.data() + at);
  });
  std::vector<float> dnormed = PaddedBuffer(rows * width);
  linear(*packed.gate, parameters.gate, dgate, s.middle_normed, &dnormed);
  linear(*packed.up, parameters.up, dup, s.middle_normed, &dnormed);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = r * width;
    RmsNormBackward(s.middle.data() + at, Weights(parameters.post_norm), s.middle_scale[r],
                    dnormed.data() + at, width, dx->data() + at, gradient(parameters.post_norm));
  }

  // Attention.
  std::vector<float> dattended = PaddedBuffer(rows * q_size);
  linear(*packed.output, parameters.output, *dx, s.attended, &dattended);
  if (parameters.output_bias >= 0) {
    AddBiasGradient(dx->data(), rows, width, gradient(parameters.output_bias));
  }
  std::vector<float> dq = PaddedBuffer(rows * q_size), dk = PaddedBuffer(rows * kv_size),
                     dv = PaddedBuffer(rows * kv_size);
  const auto pieces = static_cast<size_t>(c.kv_heads) * batch.chunks.size();
  pool_->ParallelFor(pieces, 1, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t piece = begin; piece < end; ++piece) {
      const size_t chunk = piece / static_cast<size_t>(c.kv_heads);
      const auto g = static_cast<int64_t>(piece % static_cast<size_t>(c.kv_heads));
      const int64_t first = batch.first_row[chunk];
      const int64_t q_at = first * q_size + g * group * dim, kv_at = first * kv_size + g * dim;
      AttendBackward({.head = &batch.chunks[chunk].cache->Head(index, g),
                      .length = static_cast<int64_t>(batch.chunks[chunk].tokens.size()),
                      .queries = group,
                      .head_dim = dim,
                      .q = s.q.data() + q_at,
                      .out = s.attended.data() + q_at,
                      .dout = dattended.data() + q_at,
                      .stride = q_size,
                      .lse = s.lse.data() + first * c.heads + g * group,
                      .lse_stride = c.heads,
                      .dq = dq.data() + q_at,
                      .dk = dk.data() + kv_at,
                      .dv = dv.data() + kv_at,
                      .kv_stride = kv_size});
    }
  });
  auto unfinish = [&](int64_t heads, int norm, const std::vector<float>& raw,
                      const std::vector<float>& scales, std::vector<float>* dhead) {
    std::vector<float> before(static_cast<size_t>(dim));
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t h = 0; h < heads; ++h) {
        float* d = dhead->data() + (r * heads + h) * dim;
        rope_.Rotate(batch.position[r], d, true);
        if (norm < 0) continue;
        std::fill(before.begin(), before.end(), 0.0f);
        RmsNormBackward(raw.data() + (r * heads + h) * dim, Weights(norm), scales[r * heads + h], d,
                        dim, before.data(), gradient(norm));
        std::copy(before.begin(), before.end(), d);
      }
    }
  };
  unfinish(c.heads, parameters.q_norm, s.q_raw, s.q_scale, &dq);
  unfinish(c.kv_heads, parameters.k_norm, s.k_raw, s.k_scale, &dk);
  if (parameters.q_bias >= 0) {
    AddBiasGradient(dq.data(), rows, q_size, gradient(parameters.q_bias));
    AddBiasGradient(dk.data(), rows, kv_size, gradient(parameters.k_bias));
    AddBiasGradient(dv.data(), rows, kv_size, gradient(parameters.v_bias));
  }
  std::fill(dnormed.begin(), dnormed.end(), 0.0f);
  linear(*packed.q, parameters.q, dq, s.normed, &dnormed);
  linear(*packed.k, parameters.k, dk, s.normed, &dnormed);
  linear(*packed.v, parameters.v, dv, s.normed, &dnormed);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = r * width;
    RmsNormBackward(s.input.data() + at, Weights(parameters.input_norm), s.input_scale[r],
                    dnormed.data() + at, width, dx->data() + at, gradient(parameters.input_norm));
  }
}

namespace {

// The rows that predict a token, with the token and the term they are about.
struct Prediction {
  int64_t row;
  size_t sequence, token;
};

std::vector<Prediction> PredictionsOf(std::span<Decoder::Sequence> sequences) {
  std::vector<Prediction> predictions;
  int64_t row = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    for (size_t t = 1; t < sequences[i].tokens.size(); ++t) {
      predictions.push_back({row + static_cast<int64_t>(t) - 1, i, t});
    }
    row += static_cast<int64_t>(sequences[i].tokens.size());
  }
  return predictions;
}

std::span<const TokenId> KeptOf(const Decoder::Sequence& sequence, size_t token) {
  if (sequence.supports.empty()) return {};
  return sequence.supports[token].kept;
}

}  // namespace

void Decoder::OutputBackward(std::span<Sequence> sequences, const std::vector<float>& hidden,
                             std::vector<float>* dhidden, std::vector<float>* dhead) const {
  const int64_t width = model_->config.width, vocab = model_->config.vocab;
  const std::vector<Prediction> predictions = PredictionsOf(sequences);
  const bool backward = dhidden != nullptr;
  for (size_t first = 0; first < predictions.size(); first += kLogitRows) {
    const size_t count = std::min<size_t>(kLogitRows, predictions.size() - first);
    const auto rows = static_cast<int64_t>(count);
    std::vector<float> states = PaddedBuffer(rows * width);
    for (size_t i = 0; i < count; ++i) {
      std::copy_n(hidden.data() + predictions[first + i].row * width, width,
                  states.data() + i * width);
    }
    const std::vector<float> logits = Logits(states.data(), rows);
    std::vector<float> dlogits = PaddedBuffer(backward ? rows * vocab : 0);
    ForRows(rows, [&](int64_t r) {
      const Prediction& prediction = predictions[first + static_cast<size_t>(r)];
      Sequence& sequence = sequences[prediction.sequence];
      TokenTerm& term = sequence.terms[prediction.token];
      const std::span<const float> row(logits.data() + r * vocab, static_cast<size_t>(vocab));
      const auto kept = KeptOf(sequence, prediction.token);
      const Distribution distribution = DistributionOf(row, sequence.temperature, kept);
      const TokenId token = sequence.tokens[prediction.token];
      if (!backward) {
        term.logprob = distribution.LogProb(row[static_cast<size_t>(token)]);
        term.entropy = distribution.entropy;
      } else {
        DistributionBackward(row, distribution, kept, token, term.dlogprob, term.dentropy,
                             {dlogits.data() + r * vocab, static_cast<size_t>(vocab)});
      }
    });
    if (!backward) continue;
    std::vector<float> dstates = PaddedBuffer(rows * width);
    head_->BackwardInput(dlogits.data(), rows, dstates.data(), kernels_, pool_);
    AddWeightGradient(dlogits.data(), states.data(), rows, vocab, width, dhead->data(), kernels_,
                      pool_);
    for (size_t i = 0; i < count; ++i) {
      std::copy_n(dstates.data() + i * width, width,
                  dhidden->data() + predictions[first + i].row * width);
    }
  }
}

void Decoder::Accumulate(std::span<Sequence> sequences,
                         const std::function<void(std::span<Sequence>)>& loss,
                         std::vector<std::vector<float>>* gradients) const {
  const FloatMode mode;
  const ModelConfig& c = model_->config;
  CHECK(gradients == nullptr || gradients->size() == model_->parameters.size());
  std::vector<KvCache> caches(sequences.size(), KvCache(c));
  std::vector<Chunk> chunks;
  for (size_t i = 0; i < sequences.size(); ++i) {
    sequences[i].terms.assign(sequences[i].tokens.size(), {});
    chunks.push_back({&caches[i], sequences[i].tokens});
  }
  const Batch batch(chunks);  // positions are read before the caches grow
  std::vector<LayerState> states;
  std::vector<float> final_scales;
  const bool backward = gradients != nullptr;
  const std::vector<float> hidden = Run(chunks, backward ? &states : nullptr, &final_scales);
  OutputBackward(sequences, hidden, nullptr, nullptr);
  loss(sequences);
  if (!backward) return;

  const int64_t rows = batch.rows(), width = c.width;
  std::vector<float> dhidden = PaddedBuffer(rows * width);
  OutputBackward(sequences, hidden, &dhidden, &(*gradients)[model_->head]);
  std::vector<float> dx = PaddedBuffer(rows * width);
  const std::vector<float>& last = states.back().input;
  for (int64_t r = 0; r < rows; ++r) {
    RmsNormBackward(last.data() + r * width, Weights(model_->final_norm), final_scales[r],
                    dhidden.data() + r * width, width, dx.data() + r * width,
                    (*gradients)[model_->final_norm].data());
  }
  for (int64_t layer = c.layers; layer-- > 0;) {
    BackwardLayer(layer, batch, states[layer], &dx, gradients);
    states[layer] = LayerState();
  }
  float* dembedding = (*gradients)[model_->embedding].data();
  int64_t row = 0;
  for (const Sequence& sequence : sequences) {
    for (const TokenId token : sequence.tokens) {
      for (int64_t i = 0; i < width; ++i) dembedding[token * width + i] += dx[row * width + i];
      ++row;
    }
  }
}

}  // namespace hone
