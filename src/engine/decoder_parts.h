#pragma once

// What the files of the decoder share among themselves, and memory.cpp with them.

#include <algorithm>
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
  Projection qkv, output, gate_up, down;
};

// What backward needs of one layer, [rows][...]. Norms and activations are computed again.
struct Decoder::LayerState {
  Floats input, input_scale;
  Floats qkv_raw, head_scale;  // before the q/k norms, where there are any
  Floats qkv;                  // queries and keys rotated
  Floats attended, lse;
  Floats middle, middle_scale;
  Floats gate_up;

  int64_t bytes() const {
    size_t count = 0;
    for (const Floats* part : {&input, &input_scale, &qkv_raw, &head_scale, &qkv, &attended, &lse,
                               &middle, &middle_scale, &gate_up}) {
      count += part->capacity();
    }
    return static_cast<int64_t>(count * sizeof(float));
  }
};

struct Decoder::Workspace {
  LayerState passing;  // the state of a layer when nobody keeps it
  Floats x, normed, activated, hidden, all_hidden, final_scale, logits, kept_logits;
  Floats dx, rounded, dgate_up, dattended, dqkv, draw, dhidden, dlogits, states, dstates,
      norm_gradient;
  std::vector<Distribution> distributions;  // per prediction, from forward to backward
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

// The rows of one pass: which chunk and which position each is.
struct Decoder::Rows {
  std::span<const Chunk> chunks;
  std::vector<int64_t> position, first_row;

  explicit Rows(std::span<const Chunk> all);
  int64_t count() const { return static_cast<int64_t>(position.size()); }
};

}  // namespace hone
