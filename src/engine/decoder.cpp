#include "engine/decoder.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "engine/decoder_parts.h"

namespace hone {

Decoder::Layer::Layer(const Model* model, const LayerParameters& p)
    : qkv(model, {p.q, p.k, p.v}), output(model, {p.output}) {
  auto half = [&](int gate, int up, int down) {
    return FeedForward{Projection(model, {gate, up}), Projection(model, {down})};
  };
  if (p.gate >= 0) dense = half(p.gate, p.up, p.down);
  if (p.router >= 0) router.emplace(model, std::vector<int>{p.router});
  for (const ExpertParameters& e : p.experts) experts.push_back(half(e.gate, e.up, e.down));
}

Decoder::Decoder(const Model* model, DecoderOptions options, ThreadPool* pool,
                 const Kernels& kernels)
    : model_(model),
      options_(std::move(options)),
      pool_(pool),
      kernels_(kernels),
      rope_(model->config),
      local_rope_(model->config, LayerTraits::Rope::kLocal),
      head_(model, {model->head}),
      pages_(model->config, options_.precision),
      work_(std::make_unique<Workspace>()) {
  for (const LayerParameters& layer : model->layers) layers_.emplace_back(model, layer);
  const ModelConfig& c = config();
  const int64_t layer = c.width * (2 * (c.heads + c.kv_heads) * c.head_dim + 3 * c.ffn);
  block_rows_ = layer > kLargeLayer ? kLargeBlockRows : kBlockRows;
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
  for (Layer& layer : layers_) layer.ForEach(pack);
  pack(&head_);
  PrepareNorms();
  packed_for_backward_ = false;
}

void Decoder::PackForBackward() {
  if (packed_for_backward_) return;
  auto pack = [&](Projection* projection) { projection->PackBackward(pool_); };
  for (Layer& layer : layers_) layer.ForEach(pack);
  pack(&head_);
  packed_for_backward_ = true;
}

int64_t Decoder::packed_bytes() const {
  int64_t bytes = head_.bytes();
  for (const Layer& layer : layers_) {
    const_cast<Layer&>(layer).ForEach(
        [&](Projection* projection) { bytes += projection->bytes(); });
  }
  return bytes;
}

void Decoder::PrepareNorms() {
  if (!config().norm_adds_one) return;
  norms_.resize(model_->parameters.size());
  auto prepare = [&](int norm) {
    if (norm < 0) return;
    const std::vector<float>& weight = model_->parameters[static_cast<size_t>(norm)].value;
    Floats& sum = norms_[static_cast<size_t>(norm)];
    sum.resize(weight.size());
    for (size_t i = 0; i < weight.size(); ++i) sum[i] = 1.0f + weight[i];
  };
  for (const LayerParameters& p : model_->layers) {
    for (const int norm :
         {p.input_norm, p.q_norm, p.k_norm, p.attention_norm, p.post_norm, p.forward_norm}) {
      prepare(norm);
    }
  }
  prepare(model_->final_norm);
}

const float* Decoder::NormWeights(int index) const {
  return norms_.empty() ? Weights(index) : norms_[static_cast<size_t>(index)].data();
}

// As those who trained the models had it: in the type of the weights.
float Decoder::EmbeddingScale() const {
  if (!config().scaled_embedding) return 1;
  float scale = std::sqrt(static_cast<float>(config().width));
  Round(&scale, 1);
  return scale;
}

AttentionHead Decoder::HeadOf(int64_t index, const KvPages* pages, int64_t kv_head) const {
  const ModelConfig& c = config();
  const int64_t group = c.heads / c.kv_heads;
  const int sinks = model_->layers[static_cast<size_t>(index)].sinks;
  return {.pages = pages,
          .layer = index,
          .kv_head = kv_head,
          .group = group,
          .head_dim = c.head_dim,
          .precision = options_.precision,
          .scale = c.AttentionScale(),
          .window = c.TraitsOf(index).window,
          .cap = static_cast<float>(c.attention_cap),
          .sinks = sinks < 0 ? nullptr : Weights(sinks) + kv_head * group};
}

const RopeTable* Decoder::RopeOf(int64_t index) const {
  switch (config().TraitsOf(index).rope) {
    case LayerTraits::Rope::kGlobal: return &rope_;
    case LayerTraits::Rope::kLocal: return &local_rope_;
    case LayerTraits::Rope::kNone: return nullptr;
  }
  return nullptr;
}

int64_t Decoder::buffer_bytes() const {
  int64_t bytes = work_->passing.bytes() + pages_.bytes();
  for (const LayerState& state : states_) bytes += state.bytes();
  size_t floats = 0;
  for (const Floats* part : {&work_->x,
                             &work_->normed,
                             &work_->activated,
                             &work_->hidden,
                             &work_->all_hidden,
                             &work_->final_scale,
                             &work_->logits,
                             &work_->kept_logits,
                             &work_->dx,
                             &work_->rounded,
                             &work_->dgate_up,
                             &work_->dattended,
                             &work_->dqkv,
                             &work_->draw,
                             &work_->dhidden,
                             &work_->dlogits,
                             &work_->states,
                             &work_->dstates,
                             &work_->norm_gradient,
                             &work_->output_norm_gradient}) {
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

// Blocks of rows. Where there are many, they run side by side, each on one thread from end to end:
// what one step writes is still in the cache when the next one reads it. A few rows are one block,
// whose products use all threads.
void Decoder::ForBlocks(int64_t rows,
                        const std::function<void(int64_t, int64_t, ThreadPool*)>& body) const {
  const FloatMode mode;
  const int64_t threads = pool_->threads();
  if (rows < 2 * kBlockRows * threads) return body(0, rows, pool_);
  int64_t blocks = (rows + block_rows_ - 1) / block_rows_;
  const bool large = block_rows_ > kBlockRows;
  // Large ones: as many for each thread, and as even as slices of norm gradients allow.
  if (large) blocks = (blocks + threads - 1) / threads * threads;
  auto cut = [&](int64_t block) {
    const int64_t at = large ? block * rows / blocks : block * block_rows_;
    return block == blocks ? rows : at / kNormSlice * kNormSlice;
  };
  pool_->ParallelFor(static_cast<size_t>(blocks), 1, [&](size_t begin, size_t end) {
    const FloatMode thread_mode;
    for (auto block = static_cast<int64_t>(begin); block < static_cast<int64_t>(end); ++block) {
      body(cut(block), cut(block + 1), &serial_);
    }
  });
}

Decoder::Rows::Rows(std::span<const Chunk> all) : chunks(all) {
  for (size_t c = 0; c < all.size(); ++c) {
    first_row.push_back(count());
    for (size_t t = 0; t < all[c].tokens.size(); ++t) {
      position.push_back(all[c].position + static_cast<int64_t>(t));
    }
  }
}

// The norm of some rows of the residual stream, rounded for the product; `state` keeps what
// backward needs of it.
void Decoder::NormRowsOf(int norm, int64_t begin, int64_t end, LayerState* state, bool middle,
                         float* normed) const {
  const int64_t width = config().width;
  Floats& input = middle ? state->middle : state->input;
  Floats& scale = middle ? state->middle_scale : state->input_scale;
  for (int64_t r = begin; r < end; ++r) {
    const float* x = work_->x.data() + r * width;
    float* out = normed + (r - begin) * width;
    std::copy_n(x, width, input.data() + r * width);
    scale[static_cast<size_t>(r)] =
        kernels_.rms_norm(x, NormWeights(norm), width, static_cast<float>(config().norm_eps), out);
    Round(out, width);
  }
}

// Queries, keys and values from what the projection gave: biases, q/k norms, rotation, rounding.
void Decoder::FinishQkv(int64_t index, const Rows& rows, int64_t begin, int64_t end,
                        LayerState* state) {
  const ModelConfig& c = model_->config;
  const LayerParameters& p = model_->layers[index];
  const int64_t dim = c.head_dim, q_size = c.heads * dim, kv_size = c.kv_heads * dim;
  const int64_t wide = q_size + 2 * kv_size, normed_heads = c.heads + c.kv_heads;
  const RopeTable* rope = RopeOf(index);
  for (int64_t r = begin; r < end; ++r) {
    float* row = state->qkv.data() + r * wide;
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
        state->head_scale[static_cast<size_t>(r * normed_heads + h)] =
            kernels_.rms_norm(raw + h * dim, NormWeights(h < c.heads ? p.q_norm : p.k_norm), dim,
                              static_cast<float>(c.norm_eps), head);
      }
      if (rope != nullptr) rope->Rotate(rows.position[static_cast<size_t>(r)], head, kernels_);
    }
    // Keys and values are rounded once, here, and everybody reads these.
    Round(row, wide);
  }
}

// In the order of the chunks: one may begin with a copy of what an earlier one writes.
void Decoder::WriteKeys(int64_t index, const Rows& rows, KvPages* pages, const LayerState& state) {
  const ModelConfig& c = model_->config;
  const int64_t dim = c.head_dim, q_size = c.heads * dim, kv_size = c.kv_heads * dim;
  const int64_t wide = q_size + 2 * kv_size;
  pool_->ParallelFor(static_cast<size_t>(c.kv_heads), 1, [&](size_t begin, size_t end) {
    for (size_t g = begin; g < end; ++g) {
      const auto head = static_cast<int64_t>(g);
      for (size_t i = 0; i < rows.chunks.size(); ++i) {
        const Chunk& chunk = rows.chunks[i];
        if (chunk.copy.to >= 0) pages->CopyHead(chunk.copy.from, chunk.copy.to, index, head);
        const float* row = state.qkv.data() + rows.first_row[i] * wide + q_size + head * dim;
        for (size_t t = 0; t < chunk.tokens.size(); ++t, row += wide) {
          const int64_t at = chunk.position + static_cast<int64_t>(t);
          pages->Write(
              {chunk.table[static_cast<size_t>(at / kKeyBlock)], at % kKeyBlock, index, head}, row,
              row + kv_size);
        }
      }
    }
  });
}

void Decoder::AttendRows(int64_t index, const Rows& rows, KvPages* pages, LayerState* state) {
  const ModelConfig& c = model_->config;
  const int64_t dim = c.head_dim, q_size = c.heads * dim, group = c.heads / c.kv_heads;
  const int64_t wide = q_size + 2 * c.kv_heads * dim;
  // One piece of work: some positions of a chunk, one key/value head.
  struct Piece {
    size_t chunk;
    int64_t from, count;
  };
  std::vector<Piece> pieces;
  const int64_t tile = AttentionPositions(group);
  for (size_t i = 0; i < rows.chunks.size(); ++i) {
    const auto length = static_cast<int64_t>(rows.chunks[i].tokens.size());
    for (int64_t from = 0; from < length; from += tile) {
      pieces.push_back({i, from, std::min(tile, length - from)});
    }
  }
  const auto kv_heads = static_cast<size_t>(c.kv_heads);
  pool_->ParallelFor(pieces.size() * kv_heads, 2, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t i = begin; i < end; ++i) {
      const Piece& piece = pieces[i / kv_heads];
      const auto g = static_cast<int64_t>(i % kv_heads);
      const Chunk& chunk = rows.chunks[piece.chunk];
      const int64_t row = rows.first_row[piece.chunk] + piece.from;
      Attend(HeadOf(index, pages, g),
             {.table = chunk.table,
              .position = chunk.position + piece.from,
              .count = piece.count,
              .q = state->qkv.data() + row * wide + g * group * dim,
              .q_row = wide,
              .out = state->attended.data() + row * q_size + g * group * dim,
              .out_row = q_size,
              .lse = state->lse.data() + row * c.heads + g * group,
              .lse_row = c.heads},
             kernels_);
    }
  });
}

// The norm of what a half adds to the stream, in place; `kept` gets what backward needs of it.
void Decoder::NormOutput(int norm, int64_t begin, int64_t end, KeptOutput* kept,
                         float* rows) const {
  if (norm < 0) return;
  const int64_t width = config().width;
  for (int64_t r = begin; r < end; ++r) {
    float* row = rows + (r - begin) * width;
    float* raw = kept->rows.data() + r * width;
    std::copy_n(row, width, raw);
    kept->scale[static_cast<size_t>(r)] = kernels_.rms_norm(
        raw, NormWeights(norm), width, static_cast<float>(config().norm_eps), row);
  }
}

void Decoder::Gate(const float* gate_up, int64_t ffn, float* activated) const {
  switch (config().activation) {
    case ModelConfig::Activation::kSilu:
      return kernels_.swiglu(gate_up, gate_up + ffn, ffn, activated);
    case ModelConfig::Activation::kGelu:
      return kernels_.geglu(gate_up, gate_up + ffn, ffn, activated);
    case ModelConfig::Activation::kClamped:
      return kernels_.clamped_glu(gate_up, gate_up + ffn, ffn, activated);
  }
}

// What follows attention: the output projection and the feed-forward half, for some rows.
void Decoder::FinishLayer(int64_t index, int64_t begin, int64_t end, LayerState* state,
                          ThreadPool* pool) {
  static thread_local Floats normed, activated, projected;
  const ModelConfig& c = model_->config;
  const LayerParameters& p = model_->layers[index];
  const Layer& layer = layers_[static_cast<size_t>(index)];
  const int64_t count = end - begin, width = c.width, q_size = c.heads * c.head_dim;
  float* x = work_->x.data() + begin * width;
  float* attended = state->attended.data() + begin * q_size;
  Round(attended, count * q_size);
  layer.output.Forward(attended, count, use_adapters_, Room(&projected, count * width), pool);
  for (int64_t r = 0; r < count && p.output_bias >= 0; ++r) {
    kernels_.add(Weights(p.output_bias), width, projected.data() + r * width);
  }
  NormOutput(p.attention_norm, begin, end, &state->attention_output, projected.data());
  kernels_.add(projected.data(), count * width, x);
  NormRowsOf(p.post_norm, begin, end, state, true, Room(&normed, count * width));
  if (layer.dense) {
    float* gate_up = state->gate_up.data() + begin * 2 * c.ffn;
    layer.dense->gate_up.Forward(normed.data(), count, use_adapters_, gate_up, pool);
    Room(&activated, count * c.ffn);
    for (int64_t r = 0; r < count; ++r) {
      Gate(gate_up + r * 2 * c.ffn, c.ffn, activated.data() + r * c.ffn);
    }
    Round(activated.data(), count * c.ffn);
    layer.dense->down.Forward(activated.data(), count, use_adapters_, projected.data(), pool);
  } else {
    ExpertsForward(index, {normed.data(), begin, end}, pool, state, projected.data());
  }
  NormOutput(p.forward_norm, begin, end, &state->forward_output, projected.data());
  kernels_.add(projected.data(), count * width, x);
}

// Room for what a layer's forward keeps of so many rows.
void Decoder::RoomFor(int64_t index, int64_t count, LayerState* state) const {
  const ModelConfig& c = model_->config;
  const int64_t q_size = c.heads * c.head_dim, kv_size = c.kv_heads * c.head_dim;
  for (Floats* part : {&state->input, &state->middle}) Room(part, count * c.width);
  for (Floats* part : {&state->input_scale, &state->middle_scale}) Room(part, count);
  Room(&state->qkv, count * (q_size + 2 * kv_size));
  if (c.qk_norm) {
    Room(&state->qkv_raw, count * (q_size + kv_size));
    Room(&state->head_scale, count * (c.heads + c.kv_heads));
  }
  Room(&state->attended, count * q_size);
  Room(&state->lse, count * c.heads);
  if (c.output_norms) {
    for (KeptOutput* output : {&state->attention_output, &state->forward_output}) {
      Room(&output->rows, count * c.width);
      Room(&output->scale, count);
    }
  }
  if (!c.TraitsOf(index).experts) {
    Room(&state->gate_up, count * 2 * c.ffn);
    return;
  }
  const int64_t chosen = count * c.chosen_experts;
  Room(&state->gate_up, chosen * 2 * c.expert_ffn);
  state->choice.per_row = c.chosen_experts;
  state->choice.chosen.resize(static_cast<size_t>(chosen));
  Room(&state->choice.weight, chosen);
  Room(&state->choice.probability, count * c.experts);
}

void Decoder::ForwardLayer(int64_t index, const Rows& rows, KvPages* pages, LayerState* state) {
  const ModelConfig& c = model_->config;
  const int64_t count = rows.count(), wide = (c.heads + 2 * c.kv_heads) * c.head_dim;
  RoomFor(index, count, state);
  ForBlocks(count, [&](int64_t begin, int64_t end, ThreadPool* pool) {
    static thread_local Floats normed;
    NormRowsOf(model_->layers[index].input_norm, begin, end, state, false,
               Room(&normed, (end - begin) * c.width));
    layers_[static_cast<size_t>(index)].qkv.Forward(normed.data(), end - begin, use_adapters_,
                                                    state->qkv.data() + begin * wide, pool);
    FinishQkv(index, rows, begin, end, state);
  });
  WriteKeys(index, rows, pages, *state);
  AttendRows(index, rows, pages, state);
  ForBlocks(count, [&](int64_t begin, int64_t end, ThreadPool* pool) {
    FinishLayer(index, begin, end, state, pool);
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
  const float embedding_scale = EmbeddingScale();
  int64_t row = 0, positions = 0;
  for (const Chunk& chunk : rows.chunks) {
    positions = std::max(positions, chunk.position + static_cast<int64_t>(chunk.tokens.size()));
    for (const TokenId token : chunk.tokens) {
      CHECK(token >= 0 && token < c.vocab, "a token outside the model's vocabulary");
      float* to = x + width * row++;
      std::copy_n(embedding + token * width, width, to);
      Round(to, width);
      for (int64_t i = 0; i < width && c.scaled_embedding; ++i) to[i] *= embedding_scale;
    }
  }
  CHECK(positions <= c.max_positions, "a sequence longer than the model's positions");
  rope_.Reach(positions);
  local_rope_.Reach(c.traits.empty() ? 0 : positions);
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
          kernels_.rms_norm(x + r * width, NormWeights(model_->final_norm), width,
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
  CapLogits(rows, logits->data());
}

void Decoder::CapLogits(int64_t count, float* logits) const {
  if (config().logit_cap == 0) return;
  const int64_t vocab = config().vocab;
  ForRows(count, [&](int64_t begin, int64_t end) {
    kernels_.soft_cap(static_cast<float>(config().logit_cap), (end - begin) * vocab,
                      logits + begin * vocab);
  });
}

void Decoder::MaskForbidden(const Sampling& sampling, float* logits) const {
  if (sampling.forbidden_set == 0) return;
  CHECK(!options_.forbidden.empty(), "a turn names a forbidden set that the engine was not given");
  for (const TokenId token : options_.forbidden) logits[token] = kForbiddenLogit;
}

}  // namespace hone
