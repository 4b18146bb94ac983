// The gradient of queries: tiles as in forward.

#include "engine/kernels/cuda/attention_backward.cuh"

namespace hone::cuda {
namespace {

template <int kDim>
inline constexpr bool kRowsHeld = kDim <= 128;
template <int kDim>
inline constexpr int kQueryGradientsBytes = (4 + (kRowsHeld<kDim> ? 0 : 2)) * kTileBytes<kDim>;

// A lane's share of the sum of x * y over a row: the numbers that it has of the row's operands.
template <int kDim>
__device__ __forceinline__ float LaneInner(const Bf16* x, const Bf16* y) {
  float sum = 0;
#pragma unroll
  for (int d = Lane() % 4 * 2; d < kDim; d += 8) {
    const float2 u = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(x + d));
    const float2 v = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(y + d));
    sum = __fmaf_rn(u.x, v.x, sum);
    sum = __fmaf_rn(u.y, v.y, sum);
  }
  return sum;
}

// What a lane needs of one of its rows; its inner is also written, where the row is one.
template <int kDim>
__device__ __forceinline__ RowAgain BeginRow(const BackwardView<Bf16>& a, const QueryRow& row,
                                             bool real) {
  const int64_t at = a.forward.HeadAt(row);
  float sum = LaneInner<kDim>(a.dout + at * kDim, a.forward.out + at * kDim);
  sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, 1));
  sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, 2));
  if (real && Lane() % 4 == 0) a.inner[at] = sum;
  return {__fmul_rn(a.forward.lse[at], kLog2E), sum};
}

// Scores and gradients of weights, of 32 keys, to weights and gradients of scores. The lane's two
// rows see the first `visible` of the keys.
__device__ __forceinline__ void WeightsAgain(const int (&visible)[2], float scale_log2,
                                             const RowAgain (&again)[2], float (&scores)[4][4],
                                             float (&dweights)[4][4]) {
  // Counted from this lane's first.
  const int seen[2] = {visible[0] - Lane() % 4 * 2, visible[1] - Lane() % 4 * 2};
#pragma unroll
  for (int n = 0; n < 4; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      WeightAgain(8 * n + i % 2 < seen[i / 2], scale_log2, again[i / 2], &scores[n][i],
                  &dweights[n][i]);
    }
  }
}

// dq += the gradients of 32 scores times their keys, which are the tile's from `row` on.
template <int kDim>
__device__ __forceinline__ void AddKeys(const float (&dscores)[4][4], uint32_t keys, int row,
                                        float (&dq)[kDim / 8][4]) {
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    uint32_t some[4];
    PackColumns(dscores, k, some);
#pragma unroll
    for (int n = 0; n < kDim / 16; ++n) {
      uint32_t f[4];
      LoadRightTransposed<kDim>(keys, row + k * 16, n, f);
      Multiply(dq[2 * n], some, f[0], f[1]);
      Multiply(dq[2 * n + 1], some, f[2], f[3]);
    }
  }
}

// Writes the upper (kHalf 0) or the lower of a lane's rows.
template <int kDim, int kHalf>
__device__ __forceinline__ void WriteQuery(const BackwardView<Bf16>& a, const QueryRow& row,
                                           const float (&dq)[kDim / 8][4]) {
  constexpr int kAt = 2 * kHalf;
  const float scale = a.forward.scale;
  float* to = a.dqkv + row.row * a.forward.qkv_row + row.head * kDim + Lane() % 4 * 2;
#pragma unroll
  for (int n = 0; n < kDim / 8; ++n) {
    *reinterpret_cast<float2*>(to + n * 8) =
        make_float2(__fmul_rn(dq[n][kAt], scale), __fmul_rn(dq[n][kAt + 1], scale));
  }
}

// A block per tile of forward and key/value head, a warp for 16 of its rows, pages one ahead: like
// AttendTiles. Also gives the rows' inner.
template <int kDim>
__global__ void __launch_bounds__(kTeam, kDim <= 64 ? 3 : 2)
    QueryGradients(const BackwardView<Bf16> a) {
  extern __shared__ __align__(1024) uint8_t shared[];
  constexpr uint32_t kTile = kTileBytes<kDim>;
  const AttentionView<Bf16>& forward = a.forward;
  const AttentionTile tile = forward.tile[gridDim.x - 1 - blockIdx.x];  // as in AttendTiles
  if (tile.count == 0) return;
  const int kv_head = blockIdx.y;
  const int end = tile.position + tile.count;
  const int blocks = (end + kDevicePage - 1) / kDevicePage;
  const uint32_t base = SharedAddress(shared);
  PageWalk pages(forward.tables + tile.table, blocks);
  const auto copy = [&](int b) {
    CopyPage<kDim>(forward.template Keys<kDim>(pages.Page(b), kv_head), end - b * kDevicePage,
                   base + b % 2 * 2 * kTile);
  };
  copy(0);
  const WarpRows rows(tile, forward.group, kv_head);
  const int last_position = rows.LastPosition();
  LeftPair<kDim, kRowsHeld<kDim>> left;  // queries and dout
  TakeRows(
      rows, base + 4 * kTile,
      [&](const QueryRow& row) { return forward.template Query<kDim>(row); }, &left.one);
  TakeRows(
      rows, base + 5 * kTile, [&](const QueryRow& row) { return a.template Dout<kDim>(row); },
      &left.other);
  CommitCopies();
  const RowAgain again[2] = {BeginRow<kDim>(a, rows.upper, rows.HasUpper()),
                             BeginRow<kDim>(a, rows.lower, rows.HasLower())};

  float dq[kDim / 8][4] = {};
  for (int b = 0; b < blocks; ++b) {
    WaitCopies<0>();
    __syncthreads();
    if (b + 1 < blocks) copy(b + 1);
    CommitCopies();
    const uint32_t keys = base + b % 2 * 2 * kTile, values = keys + kTile;
    // 32 keys at a time: there are not registers for all the scores and their gradients.
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int block = b * kDevicePage + half * 32;
      if (rows.idle() || block > last_position) break;  // nothing of it is seen
      float weights[4][4] = {}, dscores[4][4] = {};
      AddProducts(left, {keys, values}, half * 32, weights, dscores);
      WeightsAgain({rows.upper.position + 1 - block, rows.lower.position + 1 - block},
                   forward.scale_log2, again, weights, dscores);
      AddKeys<kDim>(dscores, keys, half * 32, dq);
    }
  }
  if (rows.HasUpper()) WriteQuery<kDim, 0>(a, rows.upper, dq);
  if (rows.HasLower()) WriteQuery<kDim, 1>(a, rows.lower, dq);
}

// In float32: a warp per row of a tile. Its lanes are keys where weights are computed, and
// dimensions where they are multiplied with keys.
template <int kDim>
__global__ void __launch_bounds__(kTeam) QueryGradientsPlain(const BackwardView<float> a) {
  constexpr int kEach = (kDim + 31) / 32;
  const AttentionView<float>& forward = a.forward;
  const AttentionTile tile = forward.tile[blockIdx.x];
  const int kv_head = blockIdx.y, lane = Lane();
  for (int r = threadIdx.x / 32; r < tile.count * forward.group; r += kTeam / 32) {
    const QueryRow row = RowOf(tile, forward.group, kv_head, r);
    const float* query = forward.template Query<kDim>(row);
    const float* dout = a.template Dout<kDim>(row);
    const float* out = forward.out + forward.HeadAt(row) * kDim;
    float inner = 0;
    for (int d = lane; d < kDim; d += 32) inner = __fmaf_rn(dout[d], out[d], inner);
    inner = WarpSum(inner);
    if (lane == 0) a.inner[forward.HeadAt(row)] = inner;
    const float lse_log2 = __fmul_rn(forward.lse[forward.HeadAt(row)], kLog2E);
    float dq[kEach] = {};
    for (int block = 0; block <= row.position; block += kDevicePage) {
      const int page = forward.tables[tile.table + block / kDevicePage];
      const float* keys = forward.template Keys<kDim>(page, kv_head);
      const float* values = keys + kDevicePage * kDim;
      const int visible = min(kDevicePage, row.position + 1 - block);
      for (int i = 0; i < 2; ++i) {
        const int key = lane + 32 * i;
        const bool seen = key < visible;
        float weight = seen ? Dot<kDim>(query, keys + key * kDim) : 0;
        float dscore = seen ? Dot<kDim>(dout, values + key * kDim) : 0;
        WeightAgain(seen, forward.scale_log2, {lse_log2, inner}, &weight, &dscore);
        for (int j = 32 * i; j < min(32 * i + 32, visible); ++j) {
          const float factor = __shfl_sync(0xffffffffu, dscore, j % 32);
          for (int e = 0; e < kEach; ++e) {
            const int d = lane + 32 * e;
            if (d < kDim) dq[e] = __fmaf_rn(factor, keys[j * kDim + d], dq[e]);
          }
        }
      }
    }
    float* to = a.dqkv + row.row * forward.qkv_row + row.head * kDim;
    for (int e = 0; e < kEach; ++e) {
      const int d = lane + 32 * e;
      if (d < kDim) to[d] = __fmul_rn(dq[e], forward.scale);
    }
  }
}

}  // namespace

void QueryGradientsOf(DeviceContext* context, const DeviceAttentionBackward& a) {
  WithHeads(context, a.forward, [&](auto dim) {
    constexpr int kDim = decltype(dim)::value;
    const dim3 grid(static_cast<unsigned>(a.forward.tiles), a.forward.kv_heads);
    if (a.forward.element == Element::kF32) {
      LaunchShared(context, {"attend_backward", grid, kTeam, 0}, QueryGradientsPlain<kDim>,
                   BackwardViewOf<float>(a));
    } else {
      LaunchShared(context, {"attend_backward", grid, kTeam, kQueryGradientsBytes<kDim>},
                   QueryGradients<kDim>, BackwardViewOf<Bf16>(a));
    }
  });
}

}  // namespace hone::cuda
