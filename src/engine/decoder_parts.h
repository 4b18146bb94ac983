#pragma once

// What the files of the decoder share among themselves, and memory.cpp with them.

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/decoder.h"
#include "engine/distribution.h"
#include "engine/tree_batch.h"

namespace hone {

inline constexpr int64_t kNormSlice = 48;  // rows whose norm gradients are summed first
// Rows that go through a step together. Where a layer's weights are larger than the caches, each
// block reads them from memory, so there are fewer and larger ones.
inline constexpr int64_t kBlockRows = 2 * kNormSlice, kLargeBlockRows = 6 * kNormSlice;
inline constexpr int64_t kLargeLayer = int64_t{1} << 22;  // parameters
inline constexpr float kForbiddenLogit = -1e30f;          // its probability is exactly 0

// Rows of logits whose gradient of the head is one sum: some 32 MiB of them. And whether forward
// keeps all logits for backward: up to 128 MiB.
inline int64_t LogitSliceRows(int64_t vocab) {
  return std::clamp<int64_t>((int64_t{1} << 23) / vocab, 32, 1024);
}
inline bool KeepsLogits(int64_t rows, int64_t vocab) { return rows * vocab <= int64_t{1} << 25; }

// Rows of logits computed at a time: whole slices, so many that the head's weights and their
// gradient, which are far larger than any cache, are read for some hundreds of rows; some 256 MiB.
inline int64_t LogitRowsAtOnce(int64_t vocab) {
  const int64_t slice = LogitSliceRows(vocab);
  const int64_t slices = std::min<int64_t>(512 / slice, (int64_t{1} << 26) / (slice * vocab));
  return slice * std::max<int64_t>(slices, 1);
}

// Rows of the next batch: as even as whole slices allow, so that none is much smaller.
inline int64_t LogitRowsOf(int64_t total, int64_t vocab) {
  const int64_t slice = LogitSliceRows(vocab), most = LogitRowsAtOnce(vocab);
  const int64_t batches = std::max<int64_t>(1, (total + most - 1) / most);
  const int64_t slices = (total + slice - 1) / slice;
  return slice * std::max<int64_t>(1, (slices + batches - 1) / batches);
}

// The packed weights of a layer: matrices of the same input together.
struct Decoder::Layer {
  struct FeedForward {
    Projection gate_up, down;
  };
  Projection qkv, output;
  std::optional<FeedForward> dense;
  std::optional<Projection> router;  // instead, with the experts it chooses among
  std::vector<FeedForward> experts;

  Layer(const Model* model, const LayerParameters& p);
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(&qkv);
    visit(&output);
    if (dense) visit(&dense->gate_up), visit(&dense->down);
    if (router) visit(&*router);
    for (FeedForward& expert : experts) visit(&expert.gate_up), visit(&expert.down);
  }
};

// What a half of a layer adds to the stream, where that is normalised: before the norm.
struct KeptOutput {
  Floats rows, scale;
};

// The choice of experts: per row the chosen ones, ascending, what their outputs are multiplied by,
// and the probabilities of all.
struct KeptChoice {
  int64_t per_row = 0;
  std::vector<int32_t> chosen;  // [rows][per_row]
  Floats weight;                // the same
  Floats probability;           // [rows][experts]
};

// What backward needs of one layer, [rows][...]. Norms and activations are computed again.
struct Decoder::LayerState {
  Floats input, input_scale;
  Floats qkv_raw, head_scale;  // before the q/k norms, where there are any
  Floats qkv;                  // queries and keys rotated
  Floats attended, lse;
  KeptOutput attention_output, forward_output;
  Floats middle, middle_scale;
  Floats gate_up;  // of experts: [rows][chosen_experts][2 expert_ffn]
  KeptChoice choice;

  int64_t bytes() const {
    size_t count = 0;
    for (const Floats* part : {&input, &input_scale, &qkv_raw, &head_scale, &qkv, &attended, &lse,
                               &attention_output.rows, &attention_output.scale,
                               &forward_output.rows, &forward_output.scale, &middle, &middle_scale,
                               &gate_up, &choice.weight, &choice.probability}) {
      count += part->capacity();
    }
    return static_cast<int64_t>((count + choice.chosen.capacity()) * sizeof(float));
  }
};

struct Decoder::Workspace {
  LayerState passing;  // the state of a layer when nobody keeps it
  Floats x, normed, activated, hidden, all_hidden, final_scale, logits, kept_logits;
  Floats dx, rounded, dgate_up, dattended, dqkv, draw, dhidden, dlogits, states, dstates,
      norm_gradient, output_norm_gradient;
  std::vector<Distribution> distributions;  // per prediction, from forward to backward
};

// One of a layer's norms, with what forward kept of it: its input and the scale of each row.
struct Decoder::KeptNorm {
  const Floats& input;
  const Floats& scale;
  int weight;
};

// `heads` vectors of `size` per row; strides between rows, vectors of a row lie side by side.
struct Decoder::NormRows {
  const float* x;
  int64_t x_row;
  const float* scale;
  int64_t scale_row;
  const float* dy;
  int64_t dy_row;
  float* dx;  // added to
  int64_t dx_row;
  int64_t rows, heads, size;
};

// The gradient of what a half of a layer adds to the stream: of work_->dx, through the norm of the
// half's output where there is one; `rounded` as an operand of products, [rows][width].
struct Decoder::HalfGradient {
  const KeptOutput& output;
  int norm;  // -1: none
};

// Normalised rows, of which the first is row `begin` of the pass.
struct Decoder::Routed {
  const float* normed;
  int64_t begin, end;
};

// The rows of one pass: which chunk and which position each is.
struct Decoder::Rows {
  std::span<const Chunk> chunks;
  std::vector<int64_t> position, first_row;

  explicit Rows(std::span<const Chunk> all);
  int64_t count() const { return static_cast<int64_t>(position.size()); }
};

}  // namespace hone
