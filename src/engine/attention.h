#pragma once

#include <cstdint>
#include <vector>

#include "engine/kernels/panel.h"

namespace hone {

// Keys and values of one sequence in one layer for one key/value head. Blocks of kKeyBlock keys are
// aligned to the absolute position, and what is not yet written is zero.
class KvHead {
 public:
  static constexpr int64_t kKeyBlock = 32;

  explicit KvHead(int64_t head_dim) : head_dim_(head_dim) {}

  void Append(const float* key, const float* value);
  int64_t length() const { return length_; }
  // The panel of the 16 keys from 16 * index on: [head_dim][16].
  const float* KeyPanel(int64_t index) const { return keys_.data() + index * head_dim_ * kLanes; }
  const float* Values(int64_t position) const { return values_.data() + position * head_dim_; }
  float Key(int64_t position, int64_t d) const {
    return KeyPanel(position / kLanes)[d * kLanes + position % kLanes];
  }

 private:
  int64_t head_dim_;
  int64_t length_ = 0;
  std::vector<float> keys_;    // [length / 16][head_dim][16]
  std::vector<float> values_;  // [length][head_dim], padded to whole blocks and a panel
};

// Causal attention of the `queries` heads that share one key/value head, at one position: sees the
// keys up to and including it. q and out are [queries][head_dim]; *lse of each is the logarithm of
// the sum of exponentials, which backward needs. The result depends on these keys alone: not on
// what else is computed, nor on keys behind the position.
void Attend(const KvHead& head, const float* q, int64_t queries, int64_t head_dim, int64_t position,
            bool round_to_bf16, const PanelKernels& kernels, float* out, float* lse);

// The gradient for all positions of one sequence and one key/value head. Rows are `queries` heads
// wide: q, out, dout, dq [length][stride] (the head group begins at the pointer), lse
// [length][lse_stride]; dk, dv [length][kv_stride]. dq, dk and dv are added to.
struct AttentionGradient {
  const KvHead* head;
  int64_t length, queries, head_dim;
  const float *q, *out, *dout;
  int64_t stride;
  const float* lse;
  int64_t lse_stride;
  float *dq, *dk, *dv;
  int64_t kv_stride;
};
void AttendBackward(const AttentionGradient& g);

}  // namespace hone
