#include "engine/decoder.h"

#include <algorithm>

#include "base/check.h"
#include "engine/decoder_parts.h"

namespace hone {

Decoder::Decoder(const Model* model, DecoderOptions options, ThreadPool* pool,
                 const Kernels& kernels)
    : model_(model),
      options_(std::move(options)),
      pool_(pool),
      kernels_(kernels),
      rope_(model->config),
      head_(model, {model->head}),
      work_(std::make_unique<Workspace>()) {
  for (const LayerParameters& layer : model->layers) {
    layers_.push_back({Projection(model, {layer.q, layer.k, layer.v}),
                       Projection(model, {layer.output}), Projection(model, {layer.gate, layer.up}),
                       Projection(model, {layer.down})});
  }
  for (const TokenId token : options_.forbidden) {
    CHECK(token >= 0 && token < config().vocab, "a forbidden token outside the vocabulary");
  }
  Repack();
}

Decoder::~Decoder() = default;

void Decoder::Repack() {
  const FloatMode mode;
  auto pack = [&](Projection* projection) {
    projection->Pack(options_.precision, kernels_, pool_);
  };
  for (Layer& layer : layers_) {
    for (Projection* projection : {&layer.qkv, &layer.output, &layer.gate_up, &layer.down}) {
      pack(projection);
    }
  }
  pack(&head_);
  packed_for_backward_ = false;
}

void Decoder::PackForBackward() {
  if (packed_for_backward_) return;
  for (Layer& layer : layers_) {
    for (Projection* projection : {&layer.qkv, &layer.output, &layer.gate_up, &layer.down}) {
      projection->PackBackward(pool_);
    }
  }
  head_.PackBackward(pool_);
  packed_for_backward_ = true;
}

int64_t Decoder::packed_bytes() const {
  int64_t bytes = head_.bytes();
  for (const Layer& layer : layers_) {
    bytes += layer.qkv.bytes() + layer.output.bytes() + layer.gate_up.bytes() + layer.down.bytes();
  }
  return bytes;
}

int64_t Decoder::buffer_bytes() const {
  int64_t bytes = work_->passing.bytes();
  for (const LayerState& state : states_) bytes += state.bytes();
  size_t floats = 0;
  for (const Floats* part : {&work_->x,         &work_->normed,      &work_->activated,
                             &work_->projected, &work_->hidden,      &work_->final_scale,
                             &work_->logits,    &work_->kept_logits, &work_->dx,
                             &work_->rounded,   &work_->dnormed,     &work_->dactivated,
                             &work_->dgate_up,  &work_->dattended,   &work_->dqkv,
                             &work_->draw,      &work_->dhidden,     &work_->dlogits,
                             &work_->states,    &work_->dstates,     &work_->norm_gradient}) {
    floats += part->capacity();
  }
  return bytes + static_cast<int64_t>(floats * sizeof(float));
}

void Decoder::Round(float* values, int64_t count) const {
  if (options_.precision == Precision::kBf16) kernels_.round_bf16(values, count);
}

void Decoder::ForRows(int64_t rows, const std::function<void(int64_t, int64_t)>& body) const {
  constexpr size_t kGrain = 16;
  pool_->ParallelFor(static_cast<size_t>(rows), kGrain, [&](size_t begin, size_t end) {
    const FloatMode mode;
    body(static_cast<int64_t>(begin), static_cast<int64_t>(end));
  });
}

Decoder::Rows::Rows(std::span<const Chunk> all) : chunks(all) {
  for (size_t c = 0; c < all.size(); ++c) {
    first_row.push_back(count());
    for (size_t t = 0; t < all[c].tokens.size(); ++t) {
      chunk_of.push_back(static_cast<int32_t>(c));
      position.push_back(all[c].position + static_cast<int64_t>(t));
    }
  }
}

// Queries, keys and values from what the projection gave: biases, q/k norms, rotation, rounding;
// and the keys and values into their pages.
void Decoder::AttentionInputs(int64_t index, const Rows& rows, KvPages* pages, LayerState* state) {
  const ModelConfig& c = model_->config;
  const LayerParameters& p = model_->layers[index];
  const int64_t dim = c.head_dim, q_size = c.heads * dim, kv_size = c.kv_heads * dim;
  const int64_t wide = q_size + 2 * kv_size, normed_heads = c.heads + c.kv_heads;
  const auto eps = static_cast<float>(c.norm_eps);
  float* qkv = state->qkv.data();
  if (c.qk_norm) {
    Room(&state->qkv_raw, rows.count() * (q_size + kv_size));
    Room(&state->head_scale, rows.count() * normed_heads);
  }
  ForRows(rows.count(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* row = qkv + r * wide;
      if (p.q_bias >= 0) {
        kernels_.add(Weights(p.q_bias), q_size, row);
        kernels_.add(Weights(p.k_bias), kv_size, row + q_size);
        kernels_.add(Weights(p.v_bias), kv_size, row + q_size + kv_size);
      }
      float* raw = nullptr;
      if (c.qk_norm) {
        raw = state->qkv_raw.data() + r * (q_size + kv_size);
        std::copy_n(row, q_size + kv_size, raw);
      }
      for (int64_t h = 0; h < normed_heads; ++h) {
        float* head = row + h * dim;
        if (c.qk_norm) {
          state->head_scale[static_cast<size_t>(r * normed_heads + h)] = kernels_.rms_norm(
              raw + h * dim, Weights(h < c.heads ? p.q_norm : p.k_norm), dim, eps, head);
        }
        rope_.Rotate(rows.position[static_cast<size_t>(r)], head, kernels_);
      }
      // Keys and values are rounded once, here, and everybody reads these.
      Round(row, wide);
    }
  });
  // In the order of the chunks: one may begin with a copy of what an earlier one writes.
  pool_->ParallelFor(static_cast<size_t>(c.kv_heads), 1, [&](size_t begin, size_t end) {
    for (size_t g = begin; g < end; ++g) {
      const auto head = static_cast<int64_t>(g);
      for (size_t i = 0; i < rows.chunks.size(); ++i) {
        const Chunk& chunk = rows.chunks[i];
        if (chunk.copy.to >= 0) pages->CopyHead(chunk.copy.from, chunk.copy.to, index, head);
        const float* row = qkv + rows.first_row[i] * wide + q_size + head * dim;
        for (size_t t = 0; t < chunk.tokens.size(); ++t, row += wide) {
          const int64_t at = chunk.position + static_cast<int64_t>(t);
          pages->Write(chunk.table[static_cast<size_t>(at / kKeyBlock)], at % kKeyBlock, index,
                       head, row, row + kv_size);
        }
      }
    }
  });
}

void Decoder::ForwardLayer(int64_t index, const Rows& rows, KvPages* pages, LayerState* state) {
  const ModelConfig& c = model_->config;
  const LayerParameters& p = model_->layers[index];
  Layer& layer = layers_[static_cast<size_t>(index)];
  const int64_t count = rows.count(), width = c.width, dim = c.head_dim;
  const int64_t q_size = c.heads * dim, wide = q_size + 2 * c.kv_heads * dim;
  const int64_t group = c.heads / c.kv_heads;
  const auto eps = static_cast<float>(c.norm_eps);
  float* x = work_->x.data();
  float* normed = Room(&work_->normed, count * width);
  auto norm_rows = [&](int norm, Floats* input, Floats* scale) {
    Room(input, count * width);
    Room(scale, count);
    ForRows(count, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        std::copy_n(x + r * width, width, input->data() + r * width);
        (*scale)[static_cast<size_t>(r)] =
            kernels_.rms_norm(x + r * width, Weights(norm), width, eps, normed + r * width);
        Round(normed + r * width, width);
      }
    });
  };
  norm_rows(p.input_norm, &state->input, &state->input_scale);
  layer.qkv.Forward(normed, count, use_adapters_, Room(&state->qkv, count * wide), pool_);
  AttentionInputs(index, rows, pages, state);

  // One piece of work: some positions of a chunk, one key/value head.
  struct Piece {
    size_t chunk;
    int64_t from, count;
  };
  std::vector<Piece> pieces;
  const int64_t tile = AttentionTile(group);
  for (size_t i = 0; i < rows.chunks.size(); ++i) {
    const auto length = static_cast<int64_t>(rows.chunks[i].tokens.size());
    for (int64_t from = 0; from < length; from += tile) {
      pieces.push_back({i, from, std::min(tile, length - from)});
    }
  }
  float* attended = Room(&state->attended, count * q_size);
  float* lse = Room(&state->lse, count * c.heads);
  const auto kv_heads = static_cast<size_t>(c.kv_heads);
  pool_->ParallelFor(pieces.size() * kv_heads, 2, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t i = begin; i < end; ++i) {
      const Piece& piece = pieces[i / kv_heads];
      const auto g = static_cast<int64_t>(i % kv_heads);
      const Chunk& chunk = rows.chunks[piece.chunk];
      const int64_t row = rows.first_row[piece.chunk] + piece.from;
      Attend({pages, index, g, group, dim, options_.precision},
             {.table = chunk.table,
              .position = chunk.position + piece.from,
              .count = piece.count,
              .q = state->qkv.data() + row * wide + g * group * dim,
              .q_row = wide,
              .out = attended + row * q_size + g * group * dim,
              .out_row = q_size,
              .lse = lse + row * c.heads + g * group,
              .lse_row = c.heads},
             kernels_);
    }
  });
  ForRows(count, [&](int64_t begin, int64_t end) {
    Round(attended + begin * q_size, (end - begin) * q_size);
  });
  float* projected = Room(&work_->projected, count * width);
  layer.output.Forward(attended, count, use_adapters_, projected, pool_);
  ForRows(count, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end && p.output_bias >= 0; ++r) {
      kernels_.add(Weights(p.output_bias), width, projected + r * width);
    }
    kernels_.add(projected + begin * width, (end - begin) * width, x + begin * width);
  });

  norm_rows(p.post_norm, &state->middle, &state->middle_scale);
  float* gate_up = Room(&state->gate_up, count * 2 * c.ffn);
  layer.gate_up.Forward(normed, count, use_adapters_, gate_up, pool_);
  float* activated = Room(&work_->activated, count * c.ffn);
  ForRows(count, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* gate = gate_up + r * 2 * c.ffn;
      kernels_.swiglu(gate, gate + c.ffn, c.ffn, activated + r * c.ffn);
      Round(activated + r * c.ffn, c.ffn);
    }
  });
  layer.down.Forward(activated, count, use_adapters_, projected, pool_);
  ForRows(count, [&](int64_t begin, int64_t end) {
    kernels_.add(projected + begin * width, (end - begin) * width, x + begin * width);
  });
}

// All layers; `hidden` gets the rows after the final norm. With `keep`, states_ hold what backward
// needs.
void Decoder::Run(const Rows& rows, KvPages* pages, bool keep, Floats* hidden) {
  const FloatMode mode;
  const ModelConfig& c = model_->config;
  const int64_t count = rows.count(), width = c.width;
  rows_computed_ += count;
  float* x = Room(&work_->x, count * width);
  const float* embedding = Weights(model_->embedding);
  int64_t row = 0, positions = 0;
  for (const Chunk& chunk : rows.chunks) {
    positions = std::max(positions, chunk.position + static_cast<int64_t>(chunk.tokens.size()));
    for (const TokenId token : chunk.tokens) {
      CHECK(token >= 0 && token < c.vocab, "a token outside the model's vocabulary");
      std::copy_n(embedding + token * width, width, x + width * row);
      Round(x + width * row++, width);
    }
  }
  CHECK(positions <= c.max_positions, "a sequence longer than the model's positions");
  rope_.Reach(positions);
  if (keep) states_.resize(static_cast<size_t>(c.layers));
  for (int64_t i = 0; i < c.layers; ++i) {
    LayerState* state = keep ? &states_[static_cast<size_t>(i)] : &work_->passing;
    if (keep && options_.recompute_activations) {
      Room(&state->input, count * width);
      std::copy_n(x, count * width, state->input.data());
      state = &work_->passing;
    }
    ForwardLayer(i, rows, pages, state);
  }
  Room(hidden, count * width);
  Room(&work_->final_scale, count);
  ForRows(count, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      work_->final_scale[static_cast<size_t>(r)] =
          kernels_.rms_norm(x + r * width, Weights(model_->final_norm), width,
                            static_cast<float>(c.norm_eps), hidden->data() + r * width);
      Round(hidden->data() + r * width, width);
    }
  });
}

void Decoder::Forward(std::span<const Chunk> chunks, KvPages* pages, Floats* hidden) {
  Run(Rows(chunks), pages, false, hidden);
}

void Decoder::Logits(const float* hidden, int64_t rows, Floats* logits) {
  const FloatMode mode;
  head_.Forward(hidden, rows, use_adapters_, Room(logits, rows * config().vocab), pool_);
}

void Decoder::MaskForbidden(const Node& node, float* logits) const {
  if (node.sampling.forbidden_set == 0) return;
  for (const TokenId token : options_.forbidden) logits[token] = kForbiddenLogit;
}

}  // namespace hone
