// Backward through the layers, the last one first.

#include <algorithm>

#include "engine/decoder_parts.h"
#include "engine/kernels/reduce.h"

namespace hone {

// dbias += the sum of dy's rows, in their order. Threads share the columns, not the rows: a sum
// over rows that was cut would round differently.
void Decoder::AddBiasGradient(const float* dy, int64_t dy_row, int64_t rows, int64_t size,
                              Floats* dbias) const {
  if (dbias->empty()) return;  // not trained
  pool_->ParallelFor(static_cast<size_t>(size), 128, [&](size_t begin, size_t end) {
    const FloatMode mode;
    const auto from = static_cast<int64_t>(begin), count = static_cast<int64_t>(end - begin);
    for (int64_t r = 0; r < rows; ++r) {
      kernels_.add(dy + r * dy_row + from, count, dbias->data() + from);
    }
  });
}

// Backward of a norm for some rows. The gradient of its weight goes into `partial`, one sum per
// slice of rows; where slices lie does not depend on the number of threads. dx is added to.
void Decoder::NormBackwardBlock(const NormRows& n, int norm, int64_t begin, int64_t end,
                                float* partial) const {
  for (int64_t r = begin; r < end; ++r) {
    for (int64_t h = 0; h < n.heads; ++h) {
      kernels_.rms_norm_backward(n.x + r * n.x_row + h * n.size, NormWeights(norm),
                                 n.scale[r * n.scale_row + h], n.dy + r * n.dy_row + h * n.size,
                                 n.size, n.dx + r * n.dx_row + h * n.size,
                                 partial + r / kNormSlice * n.size);
    }
  }
}

void Decoder::AddNormPartials(const float* partial, int64_t rows, int64_t size, int norm,
                              Gradients* gradients) const {
  Floats& gradient = (*gradients)[static_cast<size_t>(norm)];
  if (gradient.empty()) return;  // not trained
  for (int64_t at = 0; at < rows; at += kNormSlice, partial += size) {
    kernels_.add(partial, size, gradient.data());
  }
}

void Decoder::NormBackward(const NormRows& n, int norm, Gradients* gradients) {
  float* partial = ZeroRoom(&work_->norm_gradient, (n.rows + kNormSlice - 1) / kNormSlice * n.size);
  pool_->ParallelFor(static_cast<size_t>(n.rows), kNormSlice, [&](size_t begin, size_t end) {
    const FloatMode mode;
    NormBackwardBlock(n, norm, static_cast<int64_t>(begin), static_cast<int64_t>(end), partial);
  });
  AddNormPartials(partial, n.rows, n.size, norm, gradients);
}

// The norm's output again, as it entered the product. Two multiplications and a rounding per value
// are cheaper than to keep a third copy of the rows in every layer.
void Decoder::NormAgain(const KeptNorm& norm, int64_t begin, int64_t end, float* normed) const {
  const int64_t width = config().width;
  for (int64_t r = begin; r < end; ++r) {
    kernels_.scale_by(norm.input.data() + r * width, NormWeights(norm.weight),
                      norm.scale[static_cast<size_t>(r)], width, normed + r * width);
  }
  Round(normed + begin * width, (end - begin) * width);
}

// From the gradient of a norm's output, for the rows of a block, to work_->dx. The residual stream
// goes round the norm as well, and dx holds the gradient that came that way: so it is added to.
void Decoder::NormBlockBackward(const KeptNorm& norm, const float* dy, int64_t begin,
                                int64_t end) const {
  const int64_t width = config().width;
  NormBackwardBlock({.x = norm.input.data(),
                     .x_row = width,
                     .scale = norm.scale.data(),
                     .scale_row = 1,
                     .dy = dy - begin * width,  // the block's first row is row `begin`
                     .dy_row = width,
                     .dx = work_->dx.data(),
                     .dx_row = width,
                     .rows = end,
                     .heads = 1,
                     .size = width},
                    norm.weight, begin, end, work_->norm_gradient.data());
}

// Products want rounded gradients in bf16, the residual stream's own stays as it is: what is lost
// in a layer's copy is not lost for the layers below. What a half adds may have gone through a
// norm.
void Decoder::HalfGradientBlock(const HalfGradient& half, int64_t begin, int64_t end) const {
  const int64_t width = config().width;
  const float* dx = work_->dx.data();
  float* rounded = work_->rounded.data();
  if (half.norm < 0) {
    std::copy_n(dx + begin * width, (end - begin) * width, rounded + begin * width);
  } else {
    std::fill_n(rounded + begin * width, (end - begin) * width, 0.0f);
    NormBackwardBlock({.x = half.output.rows.data(),
                       .x_row = width,
                       .scale = half.output.scale.data(),
                       .scale_row = 1,
                       .dy = dx,
                       .dy_row = width,
                       .dx = rounded,
                       .dx_row = width,
                       .rows = end,
                       .heads = 1,
                       .size = width},
                      half.norm, begin, end, work_->output_norm_gradient.data());
  }
  Round(rounded + begin * width, (end - begin) * width);
}

void Decoder::BeginHalfNorm(const HalfGradient& half, int64_t rows) {
  if (half.norm < 0) return;
  ZeroRoom(&work_->output_norm_gradient, (rows + kNormSlice - 1) / kNormSlice * config().width);
}

void Decoder::AddHalfNorm(const HalfGradient& half, int64_t rows, Gradients* gradients) {
  if (half.norm < 0) return;
  AddNormPartials(work_->output_norm_gradient.data(), rows, config().width, half.norm, gradients);
}

// From the gradient of what attention gave (work_->dattended) to that of the projection's output
// (work_->dqkv), not yet rounded.
void Decoder::AttentionBackward(int64_t index, const TreeBatch& batch, const LayerState& s,
                                Gradients* gradients) {
  const ModelConfig& c = model_->config;
  const LayerParameters& p = model_->layers[index];
  const int64_t rows = batch.total_rows, dim = c.head_dim, group = c.heads / c.kv_heads;
  const int64_t q_size = c.heads * dim, kv_size = c.kv_heads * dim, wide = q_size + 2 * kv_size;
  constexpr int64_t kQueriesAtOnce = 512;
  float* dqkv = ZeroRoom(&work_->dqkv, rows * wide);
  const auto kv_heads = static_cast<size_t>(c.kv_heads);
  // A tree and a head at a time: nodes add to the keys of their ancestors, in the tree's order. So
  // no two threads add to one key, and the sums have the same bits on any number of threads.
  pool_->ParallelFor(batch.trees.size() * kv_heads, 1, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t piece = begin; piece < end; ++piece) {
      const size_t tree = piece / kv_heads;
      const auto g = static_cast<int64_t>(piece % kv_heads);
      for (size_t i = batch.first_chunk[tree]; i < batch.first_chunk[tree + 1]; ++i) {
        const Chunk& chunk = batch.chunks[i];
        const std::vector<int64_t> path_rows = batch.PathRows(i);
        const auto length = static_cast<int64_t>(chunk.tokens.size());
        // Some positions at a time: what is held for them does not grow with the chunk.
        for (int64_t from = 0; from < length; from += kQueriesAtOnce) {
          const int64_t row = batch.first_row[i] + from, at = g * group * dim;
          AttendBackward(HeadOf(index, &pages_, g),
                         {.table = chunk.table,
                          .position = chunk.position + from,
                          .count = std::min(kQueriesAtOnce, length - from),
                          .q = s.qkv.data() + row * wide + at,
                          .q_row = wide,
                          .out = const_cast<float*>(s.attended.data()) + row * q_size + at,
                          .out_row = q_size,
                          .lse = const_cast<float*>(s.lse.data()) + row * c.heads + g * group,
                          .lse_row = c.heads},
                         {.dout = work_->dattended.data() + row * q_size + at,
                          .dout_row = q_size,
                          .dq = dqkv + row * wide + at,
                          .dq_row = wide,
                          .row_of = path_rows,
                          .dk = dqkv + q_size + g * dim,
                          .dv = dqkv + q_size + kv_size + g * dim,
                          .dkv_row = wide},
                         kernels_);
        }
      }
    }
  });
  const RopeTable* rope = RopeOf(index);
  ForRows(rope == nullptr ? 0 : rows, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t h = 0; h < c.heads + c.kv_heads; ++h) {
        rope->Rotate(batch.position[static_cast<size_t>(r)], dqkv + r * wide + h * dim, kernels_,
                     true);
      }
    }
  });
  SinksBackward(index, rows, s, gradients);
  if (c.qk_norm) HeadNormsBackward(index, rows, s, gradients);
  if (p.q_bias >= 0) {
    auto add = [&](int bias, int64_t at, int64_t size) {
      AddBiasGradient(dqkv + at, wide, rows, size, &(*gradients)[static_cast<size_t>(bias)]);
    };
    add(p.q_bias, 0, q_size);
    add(p.k_bias, q_size, kv_size);
    add(p.v_bias, q_size + kv_size, kv_size);
  }
}

// A sink takes the share exp(sink - lse) of each query and gives nothing: its gradient is that
// share of what the query's weights lose, minus dout out.
void Decoder::SinksBackward(int64_t index, int64_t rows, const LayerState& s,
                            Gradients* gradients) {
  const ModelConfig& c = model_->config;
  const int sinks = model_->layers[static_cast<size_t>(index)].sinks;
  if (sinks < 0 || (*gradients)[static_cast<size_t>(sinks)].empty()) return;
  Floats& gradient = (*gradients)[static_cast<size_t>(sinks)];
  const int64_t dim = c.head_dim, q_size = c.heads * dim;
  pool_->ParallelFor(static_cast<size_t>(c.heads), 1, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t h = begin; h < end; ++h) {
      const int64_t at = static_cast<int64_t>(h) * dim;
      for (int64_t r = 0; r < rows; ++r) {
        const float lse = s.lse[static_cast<size_t>(r * c.heads) + h];
        const float lost = kernels_.dot(work_->dattended.data() + r * q_size + at,
                                        s.attended.data() + r * q_size + at, dim);
        gradient[h] -= ExpF32(Weights(sinks)[h] - lse) * lost;
      }
    }
  });
}

// Through the norms of queries and keys, which lie side by side in work_->dqkv. The gradient of a
// norm's input is added to where it goes, so it cannot go where the gradient of its output lies: a
// buffer takes it, and is copied back. The values' part of dqkv has no norm.
void Decoder::HeadNormsBackward(int64_t index, int64_t rows, const LayerState& s,
                                Gradients* gradients) {
  const ModelConfig& c = model_->config;
  const LayerParameters& p = model_->layers[index];
  const int64_t dim = c.head_dim, q_size = c.heads * dim, kv_size = c.kv_heads * dim;
  const int64_t wide = q_size + 2 * kv_size, raw_row = q_size + kv_size;
  float* dqkv = work_->dqkv.data();
  float* draw = ZeroRoom(&work_->draw, rows * raw_row);
  NormRows n{.x = s.qkv_raw.data(),
             .x_row = raw_row,
             .scale = s.head_scale.data(),
             .scale_row = c.heads + c.kv_heads,
             .dy = dqkv,
             .dy_row = wide,
             .dx = draw,
             .dx_row = raw_row,
             .rows = rows,
             .heads = c.heads,
             .size = dim};
  NormBackward(n, p.q_norm, gradients);
  n.x += q_size;
  n.scale += c.heads;
  n.dy += q_size;
  n.dx += q_size;
  n.heads = c.kv_heads;
  NormBackward(n, p.k_norm, gradients);
  for (int64_t r = 0; r < rows; ++r) std::copy_n(draw + r * raw_row, raw_row, dqkv + r * wide);
}

void Decoder::GateBackward(const float* gate_up, const float* dactivated, int64_t ffn,
                           float* dgate_up) const {
  const GateGradient to{dgate_up, dgate_up + ffn};
  switch (config().activation) {
    case ModelConfig::Activation::kSilu:
      return kernels_.swiglu_backward(gate_up, gate_up + ffn, dactivated, ffn, to);
    case ModelConfig::Activation::kGelu:
      return kernels_.geglu_backward(gate_up, gate_up + ffn, dactivated, ffn, to);
    case ModelConfig::Activation::kClamped:
      return kernels_.clamped_glu_backward(gate_up, gate_up + ffn, dactivated, ffn, to);
  }
}

// work_->dx goes from the gradient of the half's output to that of its input. Gradients of weights
// sum over all rows, so each half keeps what they need of all rows and computes them at its end;
// the blocks before that only ever hold some rows, which stay in the cache from step to step.
void Decoder::FeedForwardBackward(int64_t index, int64_t rows, const LayerState& s,
                                  Gradients* gradients) {
  const LayerParameters& p = model_->layers[index];
  const Layer& layer = layers_[static_cast<size_t>(index)];
  const KeptNorm norm{s.middle, s.middle_scale, p.post_norm};
  const HalfGradient half{s.forward_output, p.forward_norm};
  const int64_t width = config().width, ffn = config().ffn;
  float* rounded = Room(&work_->rounded, rows * width);
  float* normed = Room(&work_->normed, rows * width);
  float* activated = Room(&work_->activated, rows * ffn);
  float* dgate_up = Room(&work_->dgate_up, rows * 2 * ffn);
  ZeroRoom(&work_->norm_gradient, (rows + kNormSlice - 1) / kNormSlice * width);
  BeginHalfNorm(half, rows);
  ForBlocks(rows, [&](int64_t begin, int64_t end, ThreadPool* pool) {
    static thread_local Floats dactivated, dnormed;
    const int64_t count = end - begin;
    HalfGradientBlock(half, begin, end);
    ZeroRoom(&dactivated, count * ffn);
    layer.dense->down.BackwardInput(rounded + begin * width, count, use_adapters_,
                                    dactivated.data(), pool);
    for (int64_t r = begin; r < end; ++r) {
      const float* gate_up = s.gate_up.data() + r * 2 * ffn;
      Gate(gate_up, ffn, activated + r * ffn);
      GateBackward(gate_up, dactivated.data() + (r - begin) * ffn, ffn, dgate_up + r * 2 * ffn);
    }
    Round(activated + begin * ffn, count * ffn);
    Round(dgate_up + begin * 2 * ffn, count * 2 * ffn);
    ZeroRoom(&dnormed, count * width);
    layer.dense->gate_up.BackwardInput(dgate_up + begin * 2 * ffn, count, use_adapters_,
                                       dnormed.data(), pool);
    NormAgain(norm, begin, end, normed);
    NormBlockBackward(norm, dnormed.data(), begin, end);
  });
  layer.dense->down.AddGradients({activated, rounded, rows}, use_adapters_, gradients, pool_);
  layer.dense->gate_up.AddGradients({normed, dgate_up, rows}, use_adapters_, gradients, pool_);
  AddNormPartials(work_->norm_gradient.data(), rows, width, norm.weight, gradients);
  AddHalfNorm(half, rows, gradients);
}

// The other half of a layer, as FeedForwardBackward.
void Decoder::AttentionHalfBackward(int64_t index, const TreeBatch& batch, const LayerState& s,
                                    Gradients* gradients) {
  const ModelConfig& c = model_->config;
  const LayerParameters& p = model_->layers[index];
  const Layer& layer = layers_[static_cast<size_t>(index)];
  const KeptNorm norm{s.input, s.input_scale, p.input_norm};
  const int64_t rows = batch.total_rows, width = c.width;
  const int64_t q_size = c.heads * c.head_dim, wide = q_size + 2 * c.kv_heads * c.head_dim;
  const HalfGradient half{s.attention_output, p.attention_norm};
  if (p.output_bias >= 0 && half.norm < 0) {
    AddBiasGradient(work_->dx.data(), width, rows, width,
                    &(*gradients)[static_cast<size_t>(p.output_bias)]);
  }
  BeginHalfNorm(half, rows);
  float* rounded = Room(&work_->rounded, rows * width);
  float* dattended = Room(&work_->dattended, rows * q_size);
  ForBlocks(rows, [&](int64_t begin, int64_t end, ThreadPool* pool) {
    HalfGradientBlock(half, begin, end);
    std::fill_n(dattended + begin * q_size, (end - begin) * q_size, 0.0f);
    layer.output.BackwardInput(rounded + begin * width, end - begin, use_adapters_,
                               dattended + begin * q_size, pool);
  });
  layer.output.AddGradients({s.attended.data(), rounded, rows}, use_adapters_, gradients, pool_);
  if (p.output_bias >= 0 && half.norm >= 0) {
    AddBiasGradient(rounded, width, rows, width, &(*gradients)[static_cast<size_t>(p.output_bias)]);
  }
  AddHalfNorm(half, rows, gradients);
  // Attention joins rows, so the blocks end here and begin anew behind it.
  AttentionBackward(index, batch, s, gradients);
  float* normed = Room(&work_->normed, rows * width);
  ZeroRoom(&work_->norm_gradient, (rows + kNormSlice - 1) / kNormSlice * width);
  ForBlocks(rows, [&](int64_t begin, int64_t end, ThreadPool* pool) {
    static thread_local Floats dnormed;
    float* dqkv = work_->dqkv.data() + begin * wide;
    Round(dqkv, (end - begin) * wide);
    ZeroRoom(&dnormed, (end - begin) * width);
    layer.qkv.BackwardInput(dqkv, end - begin, use_adapters_, dnormed.data(), pool);
    NormAgain(norm, begin, end, normed);
    NormBlockBackward(norm, dnormed.data(), begin, end);
  });
  layer.qkv.AddGradients({normed, work_->dqkv.data(), rows}, use_adapters_, gradients, pool_);
  AddNormPartials(work_->norm_gradient.data(), rows, width, norm.weight, gradients);
}

// From work_->dhidden to the gradients of everything below.
void Decoder::LayersBackward(TreeBatch* batch, Gradients* gradients) {
  const int64_t rows = batch->total_rows, width = config().width;
  ZeroRoom(&work_->dx, rows * width);
  NormBackward({.x = work_->x.data(),
                .x_row = width,
                .scale = work_->final_scale.data(),
                .scale_row = 1,
                .dy = work_->dhidden.data(),
                .dy_row = width,
                .dx = work_->dx.data(),
                .dx_row = width,
                .rows = rows,
                .heads = 1,
                .size = width},
               model_->final_norm, gradients);
  const Rows batch_rows(batch->chunks);
  batch->position = batch_rows.position;
  for (int64_t i = config().layers; i-- > 0;) {
    const LayerState* state = &states_[static_cast<size_t>(i)];
    // Only each layer's input was kept: one layer's forward is computed again, the same bits.
    if (options_.recompute_activations) {
      std::copy_n(state->input.data(), rows * width, work_->x.data());
      ForwardLayer(i, batch_rows, &pages_, &work_->passing);
      state = &work_->passing;
    }
    if (config().TraitsOf(i).experts) {
      ExpertsBackward(i, rows, *state, gradients);
    } else {
      FeedForwardBackward(i, rows, *state, gradients);
    }
    AttentionHalfBackward(i, *batch, *state, gradients);
  }
  Floats& dembedding = (*gradients)[static_cast<size_t>(model_->embedding)];
  if (dembedding.empty()) return;  // not trained
  // By one thread, in the order of the rows: a token that occurs twice has its sum in one order.
  int64_t row = 0;
  const float scale = EmbeddingScale();
  for (const Chunk& chunk : batch->chunks) {
    for (const TokenId token : chunk.tokens) {
      kernels_.add_scaled(work_->dx.data() + width * row++, scale, width,
                          dembedding.data() + token * width);
    }
  }
}

}  // namespace hone
