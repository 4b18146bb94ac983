// Attention of one position per tile: a step of drawing.
//
// With at most 8 kHalves query heads per key/value head, one warp would have all the rows and wait
// for each of its own operations. So a block has two teams of four warps. In the first, each warp
// computes the scores of 16 of a page's keys and leaves them in shared memory. In the second, each
// reads all the scores of a page, all make the same weights of them, and each adds the values of
// its own dimensions. Scores are one page ahead.

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

// Both teams meet once per page: its scores are there, and those of the page before were read. Two
// pages of scores are in use, so one team writes the next page while the other reads this one.
__device__ __forceinline__ void MeetAtScores() {
  constexpr int kBarrier = 3;  // those before it are the teams' own
  asm volatile("bar.sync %0, %1;\n" ::"n"(kBarrier), "n"(2 * kTeam) : "memory");
}

// A team's walk through the pages of a path: a ring of keys, or of values, in shared memory.
template <int kDim>
class PageRing {
 public:
  // `behind` is 0 for keys, and for values how far behind a page's keys they are.
  __device__ __forceinline__ PageRing(const AttentionView<Bf16>& a, const AttentionTile& tile,
                                      int ring, int behind, uint32_t room)
      : a_(a),
        end_(tile.position + 1),
        blocks_((end_ + kDevicePage - 1) / kDevicePage),
        ring_(ring),
        behind_(behind),
        room_(room),
        pages_(a.tables + tile.table, blocks_) {}

  // Copies the next block, where there is one, to its slot. To be called by the whole team.
  __device__ __forceinline__ void CopyNext() {
    if (copied_ < blocks_) {
      const Bf16* from = a_.template Keys<kDim>(pages_.Page(copied_), blockIdx.y) + behind_;
      CopyTile<kDim, kTeam>(At(copied_), threadIdx.x % kTeam, end_ - copied_ * kDevicePage,
                            [=](uint32_t row) { return from + row * kDim; });
    }
    CommitCopies();
    ++copied_;
  }
  // Until block b is there, b + ring_ having been asked for; all of the team's threads are.
  __device__ __forceinline__ void Wait(int team) const {
    WaitCopiesUpTo(ring_ - 1);
    TeamBarrier(team);
  }
  // The team has read a block: its slot gets the next one that has none.
  __device__ __forceinline__ void Release(int team) {
    if (copied_ < blocks_) TeamBarrier(team);
    CopyNext();
  }
  __device__ __forceinline__ uint32_t At(int block) const {
    return room_ + block % ring_ * kTileBytes<kDim>;
  }
  __device__ __forceinline__ int blocks() const { return blocks_; }
  __device__ __forceinline__ int copied() const { return copied_; }
  __device__ __forceinline__ int end() const { return end_; }  // of what is seen

 private:
  const AttentionView<Bf16>& a_;
  int end_, blocks_, ring_, behind_, copied_ = 0;
  uint32_t room_;
  PageWalk pages_;
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
  const int lane = Lane(), warp = static_cast<int>(threadIdx.x % kTeam / 32);
  if (lane / 4 + 8 * kHalf >= a.group) return;
  if (warp == 0 && lane % 4 == 0) a.lse[a.HeadAt(row)] = lse;
  if (warp * kColumns<kDim> >= kDim / 8) return;
  WriteRow<kHalf>(out, inverse,
                  a.out + a.HeadAt(row) * kDim + warp * kColumns<kDim> * 8 + lane % 4 * 2);
}

// The scores of all pages, by the first team.
template <int kDim, int kHalves>
__device__ __forceinline__ void ScorePages(const AttentionView<Bf16>& a, const AttentionTile& tile,
                                           PageRing<kDim>* keys, LaneScores<kHalves>* scores) {
  const int warp = static_cast<int>(threadIdx.x / 32), lane = Lane(), kv_head = blockIdx.y;
  LeftRows<kDim, true> queries;
  const QueryRow upper = RowOf(tile, a.group, kv_head, lane / 4);
  const QueryRow lower = kHalves == 1 ? upper : RowOf(tile, a.group, kv_head, lane / 4 + 8);
  queries.Hold(a.template Query<kDim>(upper), a.template Query<kDim>(lower));
  for (int b = 0; b < keys->blocks(); ++b) {
    keys->Wait(0);
    ShareScores<kDim, kHalves>(queries, keys->At(b), warp, scores + b % 2 * kPageScores);
    MeetAtScores();
    keys->Release(0);
  }
}

// What all pages give, by the second team.
template <int kDim, int kHalves>
__device__ __forceinline__ void AddPages(const AttentionView<Bf16>& a, const AttentionTile& tile,
                                         PageRing<kDim>* values,
                                         const LaneScores<kHalves>* from) {
  const int warp = static_cast<int>(threadIdx.x % kTeam / 32), lane = Lane(), kv_head = blockIdx.y;
  RowState states[2];
  float out[kColumns<kDim>][4] = {};
  for (int b = 0; b < values->blocks(); ++b) {
    float scores[8][4];
    MeetAtScores();
    ReadScores<kHalves>(from + b % 2 * kPageScores, scores);
    const int visible = values->end() - b * kDevicePage;
    const bool masked = visible < kDevicePage;
    const float shrink_upper = UpdateRow<0>(scores, masked, visible, a.scale_log2, &states[0]);
    float shrink_lower = 1;
    if constexpr (kHalves == 2) {
      shrink_lower = UpdateRow<1>(scores, masked, visible, a.scale_log2, &states[1]);
    }
    values->Wait(1);
    if (warp * kColumns<kDim> < kDim / 8) {
      ShrinkRows(shrink_upper, shrink_lower, out);
      AddColumns<kDim>(scores, values->At(b), warp, out);
    }
    values->Release(1);
  }
  FinishOneRow<kDim, 0>(a, RowOf(tile, a.group, kv_head, lane / 4), states[0], out);
  if constexpr (kHalves == 2) {
    FinishOneRow<kDim, 1>(a, RowOf(tile, a.group, kv_head, lane / 4 + 8), states[1], out);
  }
}

// With kEarly, the pages before the last one are copied before the kernel before has ended: nobody
// has written to them in this pass.
template <int kDim, int kHalves, bool kEarly>
__global__ void __launch_bounds__(2 * kTeam) AttendOne(const AttentionView<Bf16> a, int ring) {
  extern __shared__ __align__(1024) uint8_t shared[];
  LetNextKernelStart();
  if (!kEarly) WaitForKernelBefore();
  const AttentionTile tile = a.tile[blockIdx.x];
  if (tile.count == 0) {
    WaitForKernelBefore();
    return;
  }
  const bool scoring = threadIdx.x < kTeam;
  const uint32_t room = SharedAddress(shared), half = ring * kTileBytes<kDim>;
  auto* const scores = reinterpret_cast<LaneScores<kHalves>*>(shared + 2 * half);
  PageRing<kDim> pages(a, tile, ring, scoring ? 0 : kDevicePage * kDim,
                       scoring ? room : room + half);
  if (kEarly) {
    while (pages.copied() < min(ring, pages.blocks() - 1)) pages.CopyNext();
    WaitForKernelBefore();
  }
  while (pages.copied() < ring) pages.CopyNext();
  if (scoring) {
    ScorePages<kDim, kHalves>(a, tile, &pages, scores);
  } else {
    AddPages<kDim, kHalves>(a, tile, &pages, scores);
  }
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
  LaunchEarly(context, {"attend", grid, dim3(2 * kTeam), AttendOneBytes<kDim, kHalves>(ring)},
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
