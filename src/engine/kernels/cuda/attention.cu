// Causal grouped-query attention over paged keys: tiles of any number of positions.

#include "engine/kernels/cuda/attention_rows.cuh"

namespace hone::cuda {
namespace {

template <int kDim>
inline constexpr bool kQueriesHeld = kDim <= 128;
template <int kDim>
using Queries = LeftRows<kDim, kQueriesHeld<kDim>>;
template <int kDim>
inline constexpr int kAttendTilesBytes = (4 + (kQueriesHeld<kDim> ? 0 : 1)) * kTileBytes<kDim>;

// scores += the products of the warp's queries and the 64 keys of a tile.
template <int kDim>
__device__ __forceinline__ void AddScores(const Queries<kDim>& queries, uint32_t keys,
                                          float (&scores)[8][4]) {
#pragma unroll
  for (int k = 0; k < kDim / 16; ++k) {
    uint32_t q[4];
    queries.Get(k, q);
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      uint32_t f[4];
      LoadRight<kDim>(keys, n * 16, k, f);
      Multiply(scores[2 * n], q, f[0], f[1]);
      Multiply(scores[2 * n + 1], q, f[2], f[3]);
    }
  }
}

// out += the values of a tile, weighted.
template <int kDim>
__device__ __forceinline__ void AddValues(const float (&weights)[8][4], uint32_t values,
                                          float (&out)[kDim / 8][4]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    uint32_t some[4];
    PackWeights(weights, k, some);
#pragma unroll
    for (int n = 0; n < kDim / 16; ++n) {
      uint32_t f[4];
      LoadRightTransposed<kDim>(values, k * 16, n, f);
      Multiply(out[2 * n], some, f[0], f[1]);
      Multiply(out[2 * n + 1], some, f[2], f[3]);
    }
  }
}

// Writes one of a lane's rows, where there is one; to be called by whole warps.
template <int kDim, int kHalf>
__device__ __forceinline__ void FinishTileRow(const AttentionView<Bf16>& a, const WarpRows& rows,
                                              const RowState& state,
                                              const float (&out)[kDim / 8][4]) {
  float inverse;
  const float lse = FinishRow(state, a.scale, &inverse);
  if (!(kHalf == 0 ? rows.HasUpper() : rows.HasLower())) return;
  const int64_t at = a.HeadAt(kHalf == 0 ? rows.upper : rows.lower);
  if (Lane() % 4 == 0) a.lse[at] = lse;
  WriteRow<kHalf>(out, inverse, a.out + at * kDim + Lane() % 4 * 2);
}

// A block per tile and key/value head; a warp for 16 of its rows. Pages are copied to shared memory
// one ahead of the one that is computed with.
template <int kDim>
__global__ void __launch_bounds__(kTeam, kDim <= 64 ? 4 : 2)
    AttendTiles(const AttentionView<Bf16> a) {
  extern __shared__ __align__(1024) uint8_t shared[];
  constexpr uint32_t kTile = kTileBytes<kDim>;
  // Later tiles of a sequence see more keys; they begin first.
  const AttentionTile tile = a.tile[gridDim.x - 1 - blockIdx.x];
  if (tile.count == 0) return;
  const int kv_head = blockIdx.y;
  const int end = tile.position + tile.count;  // no row sees a key from here on
  const int blocks = (end + kDevicePage - 1) / kDevicePage;
  const uint32_t base = SharedAddress(shared);
  PageWalk pages(a.tables + tile.table, blocks);
  const auto copy = [&](int b) {  // to be called for all blocks in order
    CopyPage<kDim>(a.template Keys<kDim>(pages.Page(b), kv_head), end - b * kDevicePage,
                   base + b % 2 * 2 * kTile);
  };
  copy(0);
  const WarpRows rows(tile, a.group, kv_head);
  const int first_position = rows.FirstPosition(), last_position = rows.LastPosition();
  Queries<kDim> queries;
  TakeRows(
      rows, base + 4 * kTile, [&](const QueryRow& row) { return a.template Query<kDim>(row); },
      &queries);
  CommitCopies();

  RowState states[2];
  float out[kDim / 8][4] = {};
  for (int b = 0; b < blocks; ++b) {
    WaitCopies<0>();
    __syncthreads();
    if (b + 1 < blocks) copy(b + 1);
    CommitCopies();
    const int block = b * kDevicePage;
    if (rows.idle() || block > last_position) continue;  // nothing of it is seen
    const uint32_t keys = base + b % 2 * 2 * kTile, values = keys + kTile;
    float scores[8][4] = {};
    AddScores<kDim>(queries, keys, scores);
    const bool masked = block + kDevicePage > first_position + 1;
    const float shrink_upper =
        UpdateRow<0>(scores, masked, rows.upper.position + 1 - block, a.scale_log2, &states[0]);
    const float shrink_lower =
        UpdateRow<1>(scores, masked, rows.lower.position + 1 - block, a.scale_log2, &states[1]);
    ShrinkRows(shrink_upper, shrink_lower, out);
    AddValues<kDim>(scores, values, out);
  }
  if (rows.idle()) return;
  FinishTileRow<kDim, 0>(a, rows, states[0], out);
  FinishTileRow<kDim, 1>(a, rows, states[1], out);
}

// In float32: a warp per row. Its lanes are keys where scores are computed, and dimensions where
// values are added.
template <int kDim>
__global__ void __launch_bounds__(kTeam) AttendPlain(const AttentionView<float> a) {
  constexpr int kEach = (kDim + 31) / 32;
  const AttentionTile tile = a.tile[blockIdx.x];
  const int kv_head = blockIdx.y, lane = Lane();
  for (int r = threadIdx.x / 32; r < tile.count * a.group; r += kTeam / 32) {
    const QueryRow row = RowOf(tile, a.group, kv_head, r);
    const float* query = a.template Query<kDim>(row);
    float top = -INFINITY, sum = 0, out[kEach] = {};
    for (int block = 0; block <= row.position; block += kDevicePage) {
      const int page = a.tables[tile.table + block / kDevicePage];
      const float* keys = a.template Keys<kDim>(page, kv_head);
      const float* values = keys + kDevicePage * kDim;
      const int visible = min(kDevicePage, row.position + 1 - block);
      float weights[2];
      for (int i = 0; i < 2; ++i) {
        const int key = lane + 32 * i;
        weights[i] = key < visible ? Dot<kDim>(query, keys + key * kDim) : -INFINITY;
      }
      const float new_top = fmaxf(top, WarpMax(fmaxf(weights[0], weights[1])));
      const float offset = __fmul_rn(new_top, a.scale_log2);
      const float shrink = Exp2(__fsub_rn(__fmul_rn(top, a.scale_log2), offset));
      top = new_top;
      for (int i = 0; i < 2; ++i) {
        weights[i] = Exp2(__fmaf_rn(weights[i], a.scale_log2, -offset));
      }
      sum = __fmaf_rn(sum, shrink, __fadd_rn(weights[0], weights[1]));
      for (int e = 0; e < kEach; ++e) out[e] = __fmul_rn(out[e], shrink);
      for (int i = 0; i < 2; ++i) {
        for (int key = 32 * i; key < min(32 * i + 32, visible); ++key) {
          const float weight = __shfl_sync(0xffffffffu, weights[i], key % 32);
          for (int e = 0; e < kEach; ++e) {
            const int d = lane + 32 * e;
            if (d < kDim) out[e] = __fmaf_rn(weight, values[key * kDim + d], out[e]);
          }
        }
      }
    }
    sum = WarpSum(sum);
    const float inverse = __frcp_rn(sum);
    float* to = a.out + a.HeadAt(row) * kDim;
    for (int e = 0; e < kEach; ++e) {
      const int d = lane + 32 * e;
      if (d < kDim) to[d] = __fmul_rn(out[e], inverse);
    }
    if (lane == 0) {
      a.lse[a.HeadAt(row)] = __fmaf_rn(top, a.scale, logf(sum));
    }
  }
}

}  // namespace

void Attend(DeviceContext* context, const DeviceAttention& a) {
  if (a.tiles == 0) return;
  if (a.one_position && a.element == Element::kBf16 && a.heads <= 16 * a.kv_heads) {
    AttendOnePosition(context, a);
    return;
  }
  WithHeads(context, a, [&](auto dim) {
    constexpr int kDim = decltype(dim)::value;
    const dim3 grid(static_cast<unsigned>(a.tiles), a.kv_heads);
    if (a.element == Element::kF32) {
      LaunchShared(context, {"attend", grid, kTeam, 0}, AttendPlain<kDim>, ViewOf<float>(a));
    } else {
      LaunchShared(context, {"attend", grid, kTeam, kAttendTilesBytes<kDim>}, AttendTiles<kDim>,
                   ViewOf<Bf16>(a));
    }
  });
}

}  // namespace hone::cuda
