#pragma once

// What the files of the decoder share among themselves, and memory.cpp with them.

#include <algorithm>
#include <vector>

#include "engine/decoder.h"
#include "engine/tree_batch.h"

namespace hone {

inline constexpr int64_t kNormSlice = 48;              // rows whose norm gradients are summed first
inline constexpr int64_t kBlockRows = 2 * kNormSlice;  // rows that go through a step together
inline constexpr float kForbiddenLogit = -1e30f;       // its probability is exactly 0

// Rows of logits computed at a time: some 32 MiB. And whether forward keeps them all for backward:
// up to 128 MiB.
inline int64_t LogitRowsAtOnce(int64_t vocab) {
  return std::clamp<int64_t>((int64_t{1} << 23) / vocab, 32, 1024);
}
inline bool KeepsLogits(int64_t rows, int64_t vocab) { return rows * vocab <= int64_t{1} << 25; }

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
