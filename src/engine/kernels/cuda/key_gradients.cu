// The gradient of keys and values: tiles of keys, which go over the queries that see them.

#include "engine/kernels/cuda/attention_backward.cuh"

namespace hone::cuda {
namespace {

// Up to 64 of a span's query rows (position and query head of the group): the pairs `at` ... `at` +
// rows - 1, counted from the span's first position, which is the batch's row `row`.
struct QueryTile {
  int row, position, at, rows;
};

// The tiles of the queries that see a tile of keys, in order: span after span, without the
// positions before the first key.
class QueryWalk {
 public:
  __device__ __forceinline__ QueryWalk(const KeyTile& keys, const QuerySpan* spans, int group)
      : spans_(spans), next_(keys.first), last_(keys.last), key_(keys.position), group_(group) {}

  // Goes `steps` tiles on; false where there are not so many.
  __device__ __forceinline__ bool Next(int steps) {
    while (true) {
      const int ahead = (end_ - at_ + kDevicePage - 1) / kDevicePage;  // of this span
      if (steps <= ahead) {
        at_ += steps * kDevicePage;
        return true;
      }
      steps -= ahead;
      if (next_ >= last_) return false;
      const QuerySpan span = spans_[next_++];
      row_ = span.row;
      position_ = span.position;
      at_ = max(0, key_ - span.position) * group_;
      end_ = max(at_, span.count * group_);
    }
  }
  // The tile that was passed last.
  __device__ __forceinline__ QueryTile Tile() const {
    const int at = at_ - kDevicePage;
    return {row_, position_, at, min(kDevicePage, end_ - at)};
  }

 private:
  const QuerySpan* spans_;
  int next_, last_, key_, group_;
  int row_ = 0, position_ = 0, at_ = 0, end_ = 0;
};

// What a block of KeyGradients has in shared memory: keys and values where they are not held in
// registers; for each team two stages of a tile of queries, one of their dout, and RowNumbers.
struct RowNumbers {
  float lse[kDevicePage], inner[kDevicePage];
  int position[kDevicePage];  // -1: no row
};
template <int kDim>
struct KeyGradientsShape {
  static constexpr bool kHeld = kDim <= 64;
  // Two teams of four warps take turns at the tiles of queries; their sums are added at the end.
  static constexpr int kTeams = kDim <= 128 ? 2 : 1;
  // A block computes the gradients of so many dimensions: there are not registers for more.
  static constexpr int kWide = kDim <= 128 ? kDim : 128;
  static constexpr int kFixedTiles = kHeld ? 0 : 2;
  static constexpr int kTiles = kFixedTiles + kTeams * 4;
  static constexpr int kBytes =
      kTiles * kTileBytes<kDim> + kTeams * 2 * static_cast<int>(sizeof(RowNumbers));
};
template <int kDim>
using KeyPair = LeftPair<kDim, KeyGradientsShape<kDim>::kHeld>;  // keys and values
// The gradients of a warp's 16 keys, or of their values.
template <int kDim>
using KeySums = float[KeyGradientsShape<kDim>::kWide / 8][4];

// Where a thread stands, and what its block has.
template <int kDim>
struct KeyBlock {
  using Shape = KeyGradientsShape<kDim>;
  static constexpr uint32_t kTile = kTileBytes<kDim>;
  const BackwardView<Bf16>& a;
  KeyTile tile;
  uint8_t* shared;
  int kv_head, team, warp;
  uint32_t thread;  // of the team

  __device__ __forceinline__ KeyBlock(const BackwardView<Bf16>& view, const KeyTile& keys,
                                      uint8_t* room)
      : a(view),
        tile(keys),
        shared(room),
        kv_head(blockIdx.y),
        team(static_cast<int>(threadIdx.x / kTeam)),
        warp(static_cast<int>(threadIdx.x % kTeam / 32)),
        thread(threadIdx.x % kTeam) {}

  // The tiles of queries and of their dout of one of the team's two stages.
  __device__ __forceinline__ TilePair Stage(int stage) const {
    const uint32_t first =
        SharedAddress(shared) + (Shape::kFixedTiles + team * 4 + stage * 2) * kTile;
    return {first, first + kTile};
  }
  __device__ __forceinline__ RowNumbers* Numbers(int stage) const {
    return reinterpret_cast<RowNumbers*>(shared + Shape::kTiles * kTile) + team * 2 + stage;
  }
  // From a key to its value.
  __device__ __forceinline__ int ToValue() const { return a.forward.kv_heads * kDim; }
  // The first dimension whose gradients are computed.
  __device__ __forceinline__ int Column() const {
    return static_cast<int>(blockIdx.z) * Shape::kWide;
  }
  // Of this warp's keys.
  __device__ __forceinline__ int FirstPosition() const { return tile.position + warp * kWarpRows; }
};

// The keys and values of the tile: a warp's, or the start of copying all.
template <int kDim>
__device__ __forceinline__ void TakeKeys(const KeyBlock<kDim>& block, KeyPair<kDim>* to) {
  using Shape = KeyGradientsShape<kDim>;
  const AttentionView<Bf16>& forward = block.a.forward;
  const Bf16* first =
      forward.qkv + block.tile.row * forward.qkv_row + (forward.heads + block.kv_head) * kDim;
  const auto key_at = [&](int key) {
    return first + min(key, block.tile.count - 1) * forward.qkv_row;
  };
  const int to_value = block.ToValue();
  if constexpr (Shape::kHeld) {
    const Bf16* upper = key_at(block.warp * kWarpRows + Lane() / 4);
    const Bf16* lower = key_at(block.warp * kWarpRows + Lane() / 4 + 8);
    to->one.Hold(upper, lower);
    to->other.Hold(upper + to_value, lower + to_value);
  } else {
    to->one.tile = SharedAddress(block.shared);
    to->other.tile = to->one.tile + kTileBytes<kDim>;
    to->one.row = to->other.row = block.warp * kWarpRows;
    constexpr int kThreads = Shape::kTeams * kTeam;
    CopyTile<kDim, kThreads>(to->one.tile, threadIdx.x, kDevicePage,
                             [&](uint32_t key) { return key_at(static_cast<int>(key)); });
    CopyTile<kDim, kThreads>(to->other.tile, threadIdx.x, kDevicePage, [&](uint32_t key) {
      return key_at(static_cast<int>(key)) + to_value;
    });
  }
}

// Copies a tile of queries to one of the team's two stages.
template <int kDim>
__device__ __forceinline__ void CopyQueries(const KeyBlock<kDim>& block, const QueryTile& queries,
                                            int stage) {
  const BackwardView<Bf16>& a = block.a;
  const int group = a.forward.group;
  const auto row_of = [&](int r) {
    const uint32_t pair = queries.at + min(r, queries.rows - 1);
    const uint32_t t = group == 1 ? pair : __umulhi(pair, a.group_inverse);
    return QueryRow{queries.row + static_cast<int>(t),
                    block.kv_head * group + static_cast<int>(pair - t * group),
                    queries.position + static_cast<int>(t)};
  };
  const TilePair to = block.Stage(stage);
  CopyTile<kDim, kTeam>(to.one, block.thread, queries.rows, [&](uint32_t r) {
    return a.forward.template Query<kDim>(row_of(static_cast<int>(r)));
  });
  CopyTile<kDim, kTeam>(to.other, block.thread, queries.rows, [&](uint32_t r) {
    return a.template Dout<kDim>(row_of(static_cast<int>(r)));
  });
  RowNumbers* const numbers = block.Numbers(stage);
  const int r = static_cast<int>(block.thread) % kDevicePage;
  const QueryRow row = row_of(r);
  if (block.thread < kDevicePage) {
    CopyLater4(SharedAddress(&numbers->lse[r]), a.forward.lse + a.forward.HeadAt(row),
               r < queries.rows);
    numbers->position[r] = r < queries.rows ? row.position : -1;
  } else {
    CopyLater4(SharedAddress(&numbers->inner[r]), a.inner + a.forward.HeadAt(row),
               r < queries.rows);
  }
}

// Scores and gradients of weights, of 32 queries from `part` on, to weights and gradients of
// scores. `position` is that of this lane's first key: it is seen from there on.
__device__ __forceinline__ void WeightsAgain(const RowNumbers& numbers, int part, int position,
                                             float scale_log2, float (&scores)[2][4][4]) {
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    const int at = part + n * 8 + Lane() % 4 * 2;
    const float2 lse = *reinterpret_cast<const float2*>(&numbers.lse[at]);
    const float2 inner = *reinterpret_cast<const float2*>(&numbers.inner[at]);
    const int2 from = *reinterpret_cast<const int2*>(&numbers.position[at]);
    const RowAgain again[2] = {{__fmul_rn(lse.x, kLog2E), inner.x},
                               {__fmul_rn(lse.y, kLog2E), inner.y}};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      WeightAgain(position + i / 2 * 8 <= (i % 2 == 0 ? from.x : from.y), scale_log2, again[i % 2],
                  &scores[0][n][i], &scores[1][n][i]);
    }
  }
}

// The gradients of a warp's keys and values, so far.
template <int kDim>
struct Gradients {
  KeySums<kDim> dk = {}, dv = {};

  // dk += the gradients of 32 scores times their queries, dv += the weights times their dout. `row`
  // is the first of them in the tiles, `column` the first of the dimensions, in sixteens.
  __device__ __forceinline__ void Add(const float (&scores)[2][4][4], const TilePair& queries,
                                      int row, int column) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      uint32_t left_v[4], left_k[4];
      PackColumns(scores[0], k, left_v);
      PackColumns(scores[1], k, left_k);
#pragma unroll
      for (int n = 0; n < KeyGradientsShape<kDim>::kWide / 16; ++n) {
        uint32_t f[4];
        LoadRightTransposed<kDim>(queries.other, row + k * 16, column + n, f);
        Multiply(dv[2 * n], left_v, f[0], f[1]);
        Multiply(dv[2 * n + 1], left_v, f[2], f[3]);
        LoadRightTransposed<kDim>(queries.one, row + k * 16, column + n, f);
        Multiply(dk[2 * n], left_k, f[0], f[1]);
        Multiply(dk[2 * n + 1], left_k, f[2], f[3]);
      }
    }
  }
};

// The first team adds the second's sums to its own; they go where the tiles of queries were.
template <int kDim>
__device__ __forceinline__ void JoinTeams(const KeyBlock<kDim>& block, Gradients<kDim>* g) {
  using Shape = KeyGradientsShape<kDim>;
  constexpr int kEights = Shape::kWide / 8;
  static_assert((Shape::kTiles - Shape::kFixedTiles) * kTileBytes<kDim> >= Shape::kWide * 512,
                "room");
  float4* const sums =
      reinterpret_cast<float4*>(block.shared + Shape::kFixedTiles * kTileBytes<kDim>) +
      block.warp * (2 * kEights) * 32 + Lane();
  __syncthreads();
  if (block.team == 1) {
#pragma unroll
    for (int n = 0; n < kEights; ++n) {
      sums[2 * n * 32] = make_float4(g->dk[n][0], g->dk[n][1], g->dk[n][2], g->dk[n][3]);
      sums[(2 * n + 1) * 32] = make_float4(g->dv[n][0], g->dv[n][1], g->dv[n][2], g->dv[n][3]);
    }
  }
  __syncthreads();
  if (block.team == 1) return;
#pragma unroll
  for (int n = 0; n < kEights; ++n) {
    const float4 k = sums[2 * n * 32], v = sums[(2 * n + 1) * 32];
    const float more_k[4] = {k.x, k.y, k.z, k.w}, more_v[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      g->dk[n][i] = __fadd_rn(g->dk[n][i], more_k[i]);
      g->dv[n][i] = __fadd_rn(g->dv[n][i], more_v[i]);
    }
  }
}

template <int kDim>
__device__ __forceinline__ void WriteKeys(const KeyBlock<kDim>& block, const Gradients<kDim>& g) {
  const AttentionView<Bf16>& forward = block.a.forward;
  const float scale = forward.scale;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int key = block.warp * kWarpRows + Lane() / 4 + half * 8;
    if (key >= block.tile.count) continue;
    float* to = block.a.dqkv + (block.tile.row + key) * forward.qkv_row +
                (forward.heads + block.kv_head) * kDim + block.Column() + Lane() % 4 * 2;
#pragma unroll
    for (int n = 0; n < KeyGradientsShape<kDim>::kWide / 8; ++n) {
      *reinterpret_cast<float2*>(to + n * 8) =
          make_float2(__fmul_rn(g.dk[n][2 * half], scale), __fmul_rn(g.dk[n][2 * half + 1], scale));
      *reinterpret_cast<float2*>(to + block.ToValue() + n * 8) =
          make_float2(g.dv[n][2 * half], g.dv[n][2 * half + 1]);
    }
  }
}

// A block per tile of keys, key/value head and kWide dimensions. A warp has 16 keys as the rows of
// its products and goes over the queries 32 at a time.
template <int kDim>
__global__ void __launch_bounds__(KeyGradientsShape<kDim>::kTeams* kTeam, 1)
    KeyGradients(const BackwardView<Bf16> a) {
  extern __shared__ __align__(1024) uint8_t shared[];
  using Shape = KeyGradientsShape<kDim>;
  const KeyTile tile = a.key_tile[blockIdx.x];
  if (tile.count == 0) return;
  const KeyBlock<kDim> block(a, tile, shared);
  KeyPair<kDim> keys;
  TakeKeys(block, &keys);
  QueryWalk walk(tile, a.spans, a.forward.group);
  bool more = walk.Next(block.team + 1);
  if (more) CopyQueries(block, walk.Tile(), 0);
  CommitCopies();
  WaitCopies<0>();
  __syncthreads();

  const int position = block.FirstPosition() + Lane() / 4, column = block.Column() / 16;
  Gradients<kDim> gradients;
  for (int stage = 0; more; stage ^= 1) {
    more = walk.Next(Shape::kTeams);
    if (more) CopyQueries(block, walk.Tile(), stage ^ 1);
    CommitCopies();
    const TilePair queries = block.Stage(stage);
    const RowNumbers& numbers = *block.Numbers(stage);
#pragma unroll 1
    for (int part = 0; part < kDevicePage; part += 32) {
      // Rows that see none of this warp's keys are left out, where all 32 are such.
      const int lane_position = numbers.position[part + Lane()];
      if (!__any_sync(0xffffffffu, lane_position >= block.FirstPosition())) continue;
      float scores[2][4][4] = {};  // then weights; gradients of weights, then of scores
      AddProducts(keys, queries, part, scores[0], scores[1]);
      WeightsAgain(numbers, part, position, a.forward.scale_log2, scores);
      gradients.Add(scores, queries, part, column);
    }
    WaitCopies<0>();
    TeamBarrier(block.team);
  }
  if constexpr (Shape::kTeams == 2) {
    JoinTeams(block, &gradients);
    if (block.team == 1) return;
  }
  WriteKeys(block, gradients);
}

// In float32: a warp per key; its lanes are dimensions.
template <int kDim>
__global__ void __launch_bounds__(kTeam) KeyGradientsPlain(const BackwardView<float> a) {
  constexpr int kEach = (kDim + 31) / 32;
  const AttentionView<float>& forward = a.forward;
  const KeyTile tile = a.key_tile[blockIdx.x];
  const int kv_head = blockIdx.y, lane = Lane();
  const int at = static_cast<int>(blockIdx.z * (kTeam / 32) + threadIdx.x / 32);
  if (at >= tile.count) return;
  const int64_t offset = (tile.row + at) * forward.qkv_row + (forward.heads + kv_head) * kDim;
  const int to_value = forward.kv_heads * kDim;
  float key[kEach] = {}, value[kEach] = {}, dk[kEach] = {}, dv[kEach] = {};
  for (int e = 0; e < kEach; ++e) {
    const int d = lane + 32 * e;
    if (d >= kDim) continue;
    key[e] = forward.qkv[offset + d];
    value[e] = forward.qkv[offset + to_value + d];
  }
  for (int s = tile.first; s < tile.last; ++s) {
    const QuerySpan span = a.spans[s];
    for (int t = max(0, tile.position + at - span.position); t < span.count; ++t) {
      for (int h = 0; h < forward.group; ++h) {
        const QueryRow row{span.row + t, kv_head * forward.group + h, span.position + t};
        const float* query = forward.template Query<kDim>(row);
        const float* dout = a.template Dout<kDim>(row);
        float weight = 0, dscore = 0, q[kEach] = {}, g[kEach] = {};
        for (int e = 0; e < kEach; ++e) {
          const int d = lane + 32 * e;
          if (d >= kDim) continue;
          q[e] = query[d];
          g[e] = dout[d];
          weight = __fmaf_rn(q[e], key[e], weight);
          dscore = __fmaf_rn(g[e], value[e], dscore);
        }
        weight = WarpSum(weight);
        dscore = WarpSum(dscore);
        const int64_t head = forward.HeadAt(row);
        WeightAgain(true, forward.scale_log2, {__fmul_rn(forward.lse[head], kLog2E), a.inner[head]},
                    &weight, &dscore);
        for (int e = 0; e < kEach; ++e) {
          dv[e] = __fmaf_rn(weight, g[e], dv[e]);
          dk[e] = __fmaf_rn(dscore, q[e], dk[e]);
        }
      }
    }
  }
  for (int e = 0; e < kEach; ++e) {
    const int d = lane + 32 * e;
    if (d >= kDim) continue;
    a.dqkv[offset + d] = __fmul_rn(dk[e], forward.scale);
    a.dqkv[offset + to_value + d] = dv[e];
  }
}

}  // namespace

void KeyGradientsOf(DeviceContext* context, const DeviceAttentionBackward& a) {
  WithHeads(context, a.forward, [&](auto dim) {
    constexpr int kDim = decltype(dim)::value;
    using Shape = KeyGradientsShape<kDim>;
    const unsigned tiles = static_cast<unsigned>(a.key_tiles);
    const unsigned kv_heads = static_cast<unsigned>(a.forward.kv_heads);
    if (a.forward.element == Element::kF32) {
      const dim3 grid(tiles, kv_heads, kDevicePage / (kTeam / 32));
      LaunchShared(context, {"attend_backward", grid, kTeam, 0}, KeyGradientsPlain<kDim>,
                   BackwardViewOf<float>(a));
    } else {
      const dim3 grid(tiles, kv_heads, kDim / Shape::kWide);
      LaunchShared(context, {"attend_backward", grid, Shape::kTeams * kTeam, Shape::kBytes},
                   KeyGradients<kDim>, BackwardViewOf<Bf16>(a));
    }
  });
}

}  // namespace hone::cuda
