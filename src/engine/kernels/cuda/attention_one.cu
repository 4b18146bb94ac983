// Attention of one position per tile: a step of drawing.
//
// With at most 8 kHalves query heads per key/value head, one warp would have all the rows and wait
// for each of its own operations. So the four warps share them: each computes the scores of 16 of a
// page's keys and leaves them in shared memory; then each reads all the scores, all make the same
// weights of them, and each adds the values of its own dimensions. Scores are computed one page
// ahead.

#include "engine/kernels/cuda/attention_rows.cuh"
#include "engine/kernels/cuda/early.cuh"

namespace hone::cuda {
namespace {

// Dimensions of a warp, in eights. Heads of 16 are done by two warps.
template <int kDim>
inline constexpr int kColumns = kDim >= 32 ? kDim / 32 : 1;

// A lane's scores of eight keys.
template <int kHalves>
using LaneScores = std::conditional_t<kHalves == 1, float2, float4>;
inline constexpr int kPageScores = 8 * 32;  // of a page: [8][32]

template <int kDim, int kHalves>
constexpr int AttendOneBytes(int ring) {
  // One of two pages of scores is read while the other is written.
  return ring * 2 * kTileBytes<kDim> +
         2 * kPageScores * static_cast<int>(sizeof(LaneScores<kHalves>));
}

// Waits until at most so many groups of copies are under way.
__device__ __forceinline__ void WaitCopiesUpTo(int pending) {
  switch (pending) {
    case 1: WaitCopies<1>(); break;
    case 2: WaitCopies<2>(); break;
    case 3: WaitCopies<3>(); break;
    case 4: WaitCopies<4>(); break;
    case 5: WaitCopies<5>(); break;
    default: WaitCopies<0>();
  }
}

// The pages of a path in shared memory: rings of keys and of values, so many pages each.
template <int kDim>
class PageRings {
 public:
  static constexpr uint32_t kTile = kTileBytes<kDim>;

  __device__ __forceinline__ PageRings(const AttentionView<Bf16>& a, const AttentionTile& tile,
                                       int ring, uint8_t* shared)
      : a_(a),
        end_(tile.position + 1),
        blocks_((end_ + kDevicePage - 1) / kDevicePage),
        ring_(ring),
        keys_(SharedAddress(shared)),
        values_(keys_ + ring * kTile),
        pages_(a.tables + tile.table, blocks_) {}

  // Copies the keys of block b, to this slot of the ring, and the values of the block before. To be
  // called for all blocks in order, and once more.
  __device__ __forceinline__ void Copy(int b, int slot) {
    if (b > 0 && b <= blocks_) {
      const Bf16* values = last_keys_ + kDevicePage * kDim;
      CopyTile<kDim, kTeam>(Values(slot == 0 ? ring_ - 1 : slot - 1), threadIdx.x,
                            end_ - (b - 1) * kDevicePage,
                            [=](uint32_t row) { return values + row * kDim; });
    }
    if (b < blocks_) {
      const Bf16* keys = a_.template Keys<kDim>(pages_.Page(b), blockIdx.y);
      CopyTile<kDim, kTeam>(Keys(slot), threadIdx.x, end_ - b * kDevicePage,
                            [=](uint32_t row) { return keys + row * kDim; });
      last_keys_ = keys;
    }
    CommitCopies();
  }
  __device__ __forceinline__ uint32_t Keys(int slot) const { return keys_ + slot * kTile; }
  __device__ __forceinline__ uint32_t Values(int slot) const { return values_ + slot * kTile; }
  __device__ __forceinline__ int blocks() const { return blocks_; }
  __device__ __forceinline__ int end() const { return end_; }  // of what is seen

 private:
  const AttentionView<Bf16>& a_;
  int end_, blocks_, ring_;
  uint32_t keys_, values_;
  PageWalk pages_;
  const Bf16* last_keys_ = nullptr;
};

// The scores of 16 of a page's keys, those of this warp, to all.
template <int kDim, int kHalves>
__device__ __forceinline__ void ShareScores(const LeftRows<kDim, true>& queries, uint32_t keys,
                                            int warp, LaneScores<kHalves>* to) {
  float scores[2][4] = {};
#pragma unroll
  for (int k = 0; k < kDim / 16; ++k) {
    uint32_t f[4];
    LoadRight<kDim>(keys, warp * 16, k, f);
    Multiply(scores[0], queries.held[k], f[0], f[1]);
    Multiply(scores[1], queries.held[k], f[2], f[3]);
  }
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    LaneScores<kHalves>* at = to + (warp * 2 + n) * 32 + Lane();
    if constexpr (kHalves == 1) {
      *at = make_float2(scores[n][0], scores[n][1]);
    } else {
      *at = make_float4(scores[n][0], scores[n][1], scores[n][2], scores[n][3]);
    }
  }
}

// What all warps have shared of a page.
template <int kHalves>
__device__ __forceinline__ void ReadScores(const LaneScores<kHalves>* from, float (&scores)[8][4]) {
#pragma unroll
  for (int n = 0; n < 8; ++n) {
    const LaneScores<kHalves> some = from[n * 32 + Lane()];
    scores[n][0] = some.x;
    scores[n][1] = some.y;
    if constexpr (kHalves == 2) {
      scores[n][2] = some.z;
      scores[n][3] = some.w;
    } else {
      scores[n][2] = scores[n][3] = 0;
    }
  }
}

// out += this warp's dimensions of the values of a tile, weighted.
template <int kDim>
__device__ __forceinline__ void AddColumns(const float (&scores)[8][4], uint32_t values, int warp,
                                           float (&out)[kColumns<kDim>][4]) {
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    uint32_t weights[2][4];
    PackWeights(scores, 2 * k, weights[0]);
    PackWeights(scores, 2 * k + 1, weights[1]);
#pragma unroll
    for (int n = 0; n < kColumns<kDim>; ++n) {
      uint32_t f[4];
      LoadRightColumn<kDim>(values, k * 32, warp * kColumns<kDim> + n, f);
      Multiply(out[n], weights[0], f[0], f[1]);
      Multiply(out[n], weights[1], f[2], f[3]);
    }
  }
}

// Writes one of a lane's rows, where it is one of the group's: its lse by the first warp, of its
// output each warp's dimensions. To be called by whole warps.
template <int kDim, int kHalf>
__device__ __forceinline__ void FinishOneRow(const AttentionView<Bf16>& a, const QueryRow& row,
                                             const RowState& state,
                                             const float (&out)[kColumns<kDim>][4]) {
  float inverse;
  const float lse = FinishRow(state, a.scale, &inverse);
  const int lane = Lane(), warp = static_cast<int>(threadIdx.x / 32);
  if (lane / 4 + 8 * kHalf >= a.group) return;
  if (warp == 0 && lane % 4 == 0) a.lse[a.HeadAt(row)] = lse;
  if (warp * kColumns<kDim> >= kDim / 8) return;
  WriteRow<kHalf>(out, inverse,
                  a.out + a.HeadAt(row) * kDim + warp * kColumns<kDim> * 8 + lane % 4 * 2);
}

// With kEarly, the pages before the last one are copied before the kernel before has ended: nobody
// has written to them in this pass.
template <int kDim, int kHalves, bool kEarly>
__global__ void __launch_bounds__(kTeam) AttendOne(const AttentionView<Bf16> a, int ring) {
  extern __shared__ __align__(1024) uint8_t shared[];
  LetNextKernelStart();
  if (!kEarly) WaitForKernelBefore();
  const AttentionTile tile = a.tile[blockIdx.x];
  if (tile.count == 0) {
    WaitForKernelBefore();
    return;
  }
  const int kv_head = blockIdx.y, lane = Lane(), warp = static_cast<int>(threadIdx.x / 32);
  auto* const score_room =
      reinterpret_cast<LaneScores<kHalves>*>(shared + ring * 2 * kTileBytes<kDim>);
  PageRings<kDim> pages(a, tile, ring, shared);
  int copied = 0;
  if (kEarly) {
    for (; copied < min(ring, pages.blocks() - 1); ++copied) pages.Copy(copied, copied);
    WaitForKernelBefore();
  }
  for (; copied < ring; ++copied) pages.Copy(copied, copied);

  const QueryRow upper = RowOf(tile, a.group, kv_head, lane / 4);
  const QueryRow lower = kHalves == 1 ? upper : RowOf(tile, a.group, kv_head, lane / 4 + 8);
  LeftRows<kDim, true> queries;
  queries.Hold(a.template Query<kDim>(upper), a.template Query<kDim>(lower));
  WaitCopiesUpTo(ring - 1);
  __syncthreads();
  ShareScores<kDim, kHalves>(queries, pages.Keys(0), warp, score_room);

  RowState states[2];
  float out[kColumns<kDim>][4] = {};
  for (int b = 0, slot = 0; b < pages.blocks(); ++b) {
    // The keys of the next block, and the values of this one.
    WaitCopiesUpTo(ring - 2);
    __syncthreads();
    pages.Copy(b + ring, slot);
    const int next_slot = slot + 1 == ring ? 0 : slot + 1;
    float scores[8][4];
    ReadScores<kHalves>(score_room + b % 2 * kPageScores, scores);
    // After the last block there are other keys in that slot, and nobody reads these scores.
    ShareScores<kDim, kHalves>(queries, pages.Keys(next_slot), warp,
                               score_room + (b + 1) % 2 * kPageScores);
    const int visible = pages.end() - b * kDevicePage;
    const bool masked = visible < kDevicePage;
    const float shrink_upper = UpdateRow<0>(scores, masked, visible, a.scale_log2, &states[0]);
    float shrink_lower = 1;
    if constexpr (kHalves == 2) {
      shrink_lower = UpdateRow<1>(scores, masked, visible, a.scale_log2, &states[1]);
    }
    if (warp * kColumns<kDim> < kDim / 8) {
      ShrinkRows(shrink_upper, shrink_lower, out);
      AddColumns<kDim>(scores, pages.Values(slot), warp, out);
    }
    slot = next_slot;
  }
  FinishOneRow<kDim, 0>(a, upper, states[0], out);
  if constexpr (kHalves == 2) FinishOneRow<kDim, 1>(a, lower, states[1], out);
}

// As many pages of the ring as shared memory has for all the blocks of a multiprocessor at once,
// 3 to 6: few sequences need more copies under way than many do.
template <int kDim, int kHalves>
void LaunchAttendOne(DeviceContext* context, const DeviceAttention& a) {
  const int64_t processors = context->properties.multiProcessorCount;
  const int64_t each = (a.tiles * a.kv_heads + processors - 1) / processors;
  const int64_t room = context->properties.sharedMemPerMultiprocessor;
  const int64_t most = context->properties.sharedMemPerBlockOptin;
  int ring = 6;
  while (ring > 3) {
    const int64_t bytes = AttendOneBytes<kDim, kHalves>(ring);
    if (bytes <= most && each * (bytes + 1024) <= room) break;
    --ring;
  }
  const dim3 grid(static_cast<unsigned>(a.tiles), a.kv_heads);
  LaunchEarly(context, {"attend", grid, dim3(kTeam), AttendOneBytes<kDim, kHalves>(ring)},
              a.earlier_keys ? AttendOne<kDim, kHalves, true> : AttendOne<kDim, kHalves, false>,
              ViewOf<Bf16>(a), ring);
}

}  // namespace

void AttendOnePosition(DeviceContext* context, const DeviceAttention& a) {
  WithHeads(context, a, [&](auto dim) {
    constexpr int kDim = decltype(dim)::value;
    if (a.heads <= 8 * a.kv_heads) {
      LaunchAttendOne<kDim, 1>(context, a);
    } else {
      LaunchAttendOne<kDim, 2>(context, a);
    }
  });
}

}  // namespace hone::cuda
