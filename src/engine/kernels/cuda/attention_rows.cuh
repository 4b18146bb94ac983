#pragma once

// What the kernels of forward attention do to a row of queries, the same operations in the same
// order in all of them.
//
// Queries of one key/value head are rows of a product with a page's 64 keys; every row keeps its
// running maximum, its sum of weights and its sum of weighted values. Whatever rows are beside it:
// scores are sums over head_dim in order, UpdateRow is the only softmax, and a page's values are
// added 16 keys at a time in order. Keys that a row does not see have weight 0, which adds nothing.

#include "engine/kernels/cuda/attention_tiles.cuh"

namespace hone::cuda {

// What a row has seen so far. `sum` is that of a lane's columns only; FinishRow joins the four.
struct RowState {
  float top = -INFINITY;  // the largest score
  float sum = 0;          // of weights relative to it
};

// Turns a row's 64 scores of a page into weights, of which this lane has 16: columns 2 (lane % 4)
// and the one after it of each eight, in the upper (kHalf 0) or lower half of the products' rows.
// The row sees the first `visible` keys; `masked` says that some row of the warp may not see all.
// Returns what the row's sums so far must be multiplied with: exactly 1 unless a key has a larger
// score than all before. Every row sees key 0, so the maximum is finite from the first page on.
template <int kHalf>
__device__ __forceinline__ float UpdateRow(float (&scores)[8][4], bool masked, int visible,
                                           float scale_log2, RowState* state) {
  constexpr int kAt = 2 * kHalf;
  if (masked) {
    const int seen = visible - Lane() % 4 * 2;
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      scores[n][kAt] = 8 * n < seen ? scores[n][kAt] : -INFINITY;
      scores[n][kAt + 1] = 8 * n + 1 < seen ? scores[n][kAt + 1] : -INFINITY;
    }
  }
  float top = state->top;
#pragma unroll
  for (int n = 0; n < 8; ++n) top = fmaxf(top, fmaxf(scores[n][kAt], scores[n][kAt + 1]));
  top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
  top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
  const float offset = __fmul_rn(top, scale_log2);
  const float shrink = Exp2(__fsub_rn(__fmul_rn(state->top, scale_log2), offset));
  float even = 0, odd = 0;
#pragma unroll
  for (int n = 0; n < 8; ++n) {
    scores[n][kAt] = Exp2(__fmaf_rn(scores[n][kAt], scale_log2, -offset));
    scores[n][kAt + 1] = Exp2(__fmaf_rn(scores[n][kAt + 1], scale_log2, -offset));
    even = __fadd_rn(even, scores[n][kAt]);
    odd = __fadd_rn(odd, scores[n][kAt + 1]);
  }
  state->top = top;
  state->sum = __fmaf_rn(state->sum, shrink, __fadd_rn(even, odd));
  return shrink;
}

// The row's lse; *inverse is what its weighted values must be multiplied with.
__device__ __forceinline__ float FinishRow(const RowState& state, float scale, float* inverse) {
  float sum = state.sum;
  sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, 1));
  sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, 2));
  *inverse = __frcp_rn(sum);
  return __fmaf_rn(state.top, scale, logf(sum));
}

// Two numbers of a row's output. Adding zero makes negative zeros positive: adding weights of 0
// would do so too, and whether they are added depends on the rows beside this one.
__device__ __forceinline__ uint32_t FinishPair(float x, float y, float inverse) {
  return PackBf16(__fmaf_rn(x, inverse, 0.0f), __fmaf_rn(y, inverse, 0.0f));
}

// The weights of 16 keys as a left operand.
__device__ __forceinline__ void PackWeights(const float (&weights)[8][4], int k, uint32_t (&f)[4]) {
  f[0] = PackBf16(weights[2 * k][0], weights[2 * k][1]);
  f[1] = PackBf16(weights[2 * k][2], weights[2 * k][3]);
  f[2] = PackBf16(weights[2 * k + 1][0], weights[2 * k + 1][1]);
  f[3] = PackBf16(weights[2 * k + 1][2], weights[2 * k + 1][3]);
}

// Multiplies what the two rows of a lane have of their weighted values.
template <int kColumns>
__device__ __forceinline__ void ShrinkRows(float upper, float lower, float (&out)[kColumns][4]) {
#pragma unroll
  for (int n = 0; n < kColumns; ++n) {
    out[n][0] = __fmul_rn(out[n][0], upper);
    out[n][1] = __fmul_rn(out[n][1], upper);
    out[n][2] = __fmul_rn(out[n][2], lower);
    out[n][3] = __fmul_rn(out[n][3], lower);
  }
}

// Writes a row's numbers of a lane: the upper one's (kHalf 0) or the lower one's, two of each
// eight.
template <int kHalf, int kColumns>
__device__ __forceinline__ void WriteRow(const float (&out)[kColumns][4], float inverse, Bf16* to) {
#pragma unroll
  for (int n = 0; n < kColumns; ++n) {
    *reinterpret_cast<uint32_t*>(to + n * 8) =
        FinishPair(out[n][2 * kHalf], out[n][2 * kHalf + 1], inverse);
  }
}

// attention_one.cu: for tiles of one position, at most 16 query heads per key/value head, bfloat16.
void AttendOnePosition(DeviceContext* context, const DeviceAttention& a);

}  // namespace hone::cuda
