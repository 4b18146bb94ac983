#pragma once

// What the kernels of attention's gradient share. There are two, without any addition across
// blocks: one over the tiles of forward gives the gradient of queries, one over tiles of keys that
// of keys and values. Both compute the weights again from the scores and forward's lse:
//   dP = dout V^T,  dS = P (dP - inner),  dq = scale dS K,  dk = scale dS^T q,  dv = P^T dout,
// where inner, the sum of dout * out, is the mean of a row's dP. In bfloat16, P and dS are rounded
// where they are operands.

#include "engine/kernels/cuda/attention_tiles.cuh"

namespace hone::cuda {

template <typename T>
struct BackwardView {
  AttentionView<T> forward;
  const T* dout;
  float *dqkv, *inner;
  const KeyTile* key_tile;
  const QuerySpan* spans;
  uint32_t group_inverse;  // 2^32 / group, rounded up

  template <int kDim>
  __device__ __forceinline__ const T* Dout(const QueryRow& row) const {
    return dout + forward.HeadAt(row) * kDim;
  }
};

template <typename T>
BackwardView<T> BackwardViewOf(const DeviceAttentionBackward& a) {
  const AttentionView<T> forward = ViewOf<T>(a.forward);
  const uint64_t group = static_cast<uint64_t>(forward.group);
  return {forward,
          static_cast<const T*>(a.dout),
          a.dqkv,
          a.inner,
          a.key_tile,
          a.spans,
          static_cast<uint32_t>(((uint64_t{1} << 32) + group - 1) / group)};
}

// What the weights of a row of queries are computed from, next to their scores.
struct RowAgain {
  float lse_log2;  // for powers of 2
  float inner;
};

// A weight of forward's again, and the gradient of its score, without the scale; 0 where the key is
// not seen.
__device__ __forceinline__ void WeightAgain(bool seen, float scale_log2, const RowAgain& row,
                                            float* score_to_weight, float* dweight_to_dscore) {
  const float weight = seen ? Exp2(__fmaf_rn(*score_to_weight, scale_log2, -row.lse_log2)) : 0.0f;
  *score_to_weight = weight;
  *dweight_to_dscore = seen ? __fmul_rn(weight, __fsub_rn(*dweight_to_dscore, row.inner)) : 0.0f;
}

// 16 of 32 columns of sums as a left operand.
__device__ __forceinline__ void PackColumns(const float (&sums)[4][4], int k, uint32_t (&f)[4]) {
  f[0] = PackBf16(sums[2 * k][0], sums[2 * k][1]);
  f[1] = PackBf16(sums[2 * k][2], sums[2 * k][3]);
  f[2] = PackBf16(sums[2 * k + 1][0], sums[2 * k + 1][1]);
  f[3] = PackBf16(sums[2 * k + 1][2], sums[2 * k + 1][3]);
}

// A pair of left operands and a pair of tiles, whose products have the same shape.
template <int kDim, bool kHeld>
struct LeftPair {
  LeftRows<kDim, kHeld> one, other;
};
struct TilePair {
  uint32_t one, other;
};
// Of both pairs: the products of a warp's 16 left rows and the 32 rows of the tile from `row` on,
// over head_dim in order.
template <int kDim, bool kHeld>
__device__ __forceinline__ void AddProducts(const LeftPair<kDim, kHeld>& left,
                                            const TilePair& right, int row, float (&one)[4][4],
                                            float (&other)[4][4]) {
#pragma unroll
  for (int k = 0; k < kDim / 16; ++k) {
    uint32_t x[4], y[4];
    left.one.Get(k, x);
    left.other.Get(k, y);
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      uint32_t f[4];
      LoadRight<kDim>(right.one, row + n * 16, k, f);
      Multiply(one[2 * n], x, f[0], f[1]);
      Multiply(one[2 * n + 1], x, f[2], f[3]);
      LoadRight<kDim>(right.other, row + n * 16, k, f);
      Multiply(other[2 * n], y, f[0], f[1]);
      Multiply(other[2 * n + 1], y, f[2], f[3]);
    }
  }
}

// query_gradients.cu: the gradient of queries, and the rows' inner. Before the other.
void QueryGradientsOf(DeviceContext* context, const DeviceAttentionBackward& a);
// key_gradients.cu: that of keys and values.
void KeyGradientsOf(DeviceContext* context, const DeviceAttentionBackward& a);

}  // namespace hone::cuda
