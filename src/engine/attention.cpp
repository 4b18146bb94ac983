#include "engine/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/exact_math.h"
#include "engine/bfloat16.h"
#include "engine/reduce.h"

namespace hone {

void KvHead::Append(const float* key, const float* value) {
  if (length_ % kKeyBlock == 0) {
    keys_.resize(keys_.size() + static_cast<size_t>(kKeyBlock * head_dim_), 0.0f);
    // A panel behind the end, because kernels read whole panels.
    values_.resize(static_cast<size_t>((length_ + kKeyBlock) * head_dim_ + kLanes), 0.0f);
  }
  float* panel = keys_.data() + length_ / kLanes * head_dim_ * kLanes + length_ % kLanes;
  for (int64_t d = 0; d < head_dim_; ++d) panel[d * kLanes] = key[d];
  std::copy_n(value, head_dim_, values_.data() + length_ * head_dim_);
  ++length_;
}

void Attend(const KvHead& head, const float* q, int64_t queries, int64_t head_dim, int64_t position,
            bool round_to_bf16, const PanelKernels& kernels, float* out, float* lse) {
  constexpr int64_t kBlock = KvHead::kKeyBlock;
  const float scale = 1.0f / std::sqrt(static_cast<float>(head_dim));
  const int64_t lanes_dim = (head_dim + kLanes - 1) / kLanes * kLanes;
  std::vector<float> scores(static_cast<size_t>(queries * kBlock));
  std::vector<float> block_out(static_cast<size_t>(queries * lanes_dim));
  std::vector<float> largest(static_cast<size_t>(queries), -std::numeric_limits<float>::infinity());
  std::vector<float> sums(static_cast<size_t>(queries), 0.0f);
  std::fill_n(out, queries * head_dim, 0.0f);
  for (int64_t block = 0; block <= position; block += kBlock) {
    for (int64_t panel = 0; panel < kBlock / kLanes; ++panel) {
      kernels.f32({.a = q,
                   .a_row = head_dim,
                   .a_step = 1,
                   .rows = queries,
                   .b = head.KeyPanel(block / kLanes + panel),
                   .b_row = kLanes,
                   .k = head_dim,
                   .out = scores.data() + panel * kLanes,
                   .out_row = kBlock,
                   .accumulate = false});
    }
    const int64_t visible = std::min(kBlock, position + 1 - block);
    for (int64_t h = 0; h < queries; ++h) {
      float* s = scores.data() + h * kBlock;
      float top = largest[h];
      for (int64_t i = 0; i < visible; ++i) top = std::max(top, s[i] *= scale);
      const float shrink = ExpF32(largest[h] - top);  // 0 at the first block
      for (int64_t i = 0; i < kBlock; ++i) s[i] = i < visible ? ExpF32(s[i] - top) : 0.0f;
      sums[h] = sums[h] * shrink + StridedSum(kBlock, [&](int64_t i) { return s[i]; });
      for (int64_t d = 0; d < head_dim; ++d) out[h * head_dim + d] *= shrink;
      largest[h] = top;
      if (round_to_bf16) {
        for (int64_t i = 0; i < kBlock; ++i) s[i] = RoundToBf16(s[i]);
      }
    }
    for (int64_t d = 0; d < head_dim; d += kLanes) {
      kernels.f32({.a = scores.data(),
                   .a_row = kBlock,
                   .a_step = 1,
                   .rows = queries,
                   .b = head.Values(block) + d,
                   .b_row = head_dim,
                   .k = kBlock,
                   .out = block_out.data() + d,
                   .out_row = lanes_dim,
                   .accumulate = false});
    }
    for (int64_t h = 0; h < queries; ++h) {
      for (int64_t d = 0; d < head_dim; ++d) out[h * head_dim + d] += block_out[h * lanes_dim + d];
    }
  }
  for (int64_t h = 0; h < queries; ++h) {
    const float inverse = 1.0f / sums[h];
    for (int64_t d = 0; d < head_dim; ++d) out[h * head_dim + d] *= inverse;
    lse[h] = largest[h] + static_cast<float>(NaturalLog(sums[h]));
  }
}

void AttendBackward(const AttentionGradient& g) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(g.head_dim));
  const int64_t dim = g.head_dim;
  // Keys by row: the loops below walk along them.
  std::vector<float> keys(static_cast<size_t>(g.length * dim));
  for (int64_t j = 0; j < g.length; ++j) {
    for (int64_t d = 0; d < dim; ++d) keys[static_cast<size_t>(j * dim + d)] = g.head->Key(j, d);
  }
  for (int64_t i = 0; i < g.length; ++i) {
    for (int64_t h = 0; h < g.queries; ++h) {
      const float* q = g.q + i * g.stride + h * dim;
      const float* out = g.out + i * g.stride + h * dim;
      const float* dout = g.dout + i * g.stride + h * dim;
      float* dq = g.dq + i * g.stride + h * dim;
      const float lse = g.lse[i * g.lse_stride + h];
      const float inner = StridedSum(dim, [&](int64_t d) { return dout[d] * out[d]; });
      for (int64_t j = 0; j <= i; ++j) {
        const float* key = keys.data() + j * dim;
        const float* value = g.head->Values(j);
        float* dk = g.dk + j * g.kv_stride;
        float* dv = g.dv + j * g.kv_stride;
        const float score = scale * StridedSum(dim, [&](int64_t d) { return q[d] * key[d]; });
        const float p = ExpF32(score - lse);
        const float dp = StridedSum(dim, [&](int64_t d) { return dout[d] * value[d]; });
        const float ds = p * (dp - inner) * scale;
        for (int64_t d = 0; d < dim; ++d) {
          dv[d] += p * dout[d];
          dq[d] += ds * key[d];
          dk[d] += ds * q[d];
        }
      }
    }
  }
}

}  // namespace hone
