#pragma once

// What attention's kernels share: the instructions of the tensor cores and of asynchronous copies,
// tiles of rows in shared memory, and where the rows of a tile of queries stand.
//
// A tile in shared memory has rows of kDim bfloat16 numbers in chunks of 8 (16 bytes), which is
// what the instructions move. Chunks are exchanged within a row (Swizzled), so that the same chunk
// of 8 consecutive rows lies in different banks.

#include <cuda_bf16.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "engine/kernels/cuda/context.h"
#include "engine/kernels/cuda/numbers.cuh"

namespace hone::cuda {

using Bf16 = __nv_bfloat16;

// Threads that load and compute together: 4 warps, of 16 rows each.
inline constexpr int kTeam = 128;
inline constexpr int kWarpRows = 16;
inline constexpr float kLog2E = 1.4426950408889634f;

// ---- Instructions.

__device__ __forceinline__ uint32_t SharedAddress(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}

// Starts to copy 16 bytes to shared memory; zeros, and nothing is read, where `real` is false.
__device__ __forceinline__ void CopyLater16(uint32_t to, const void* from, bool real) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from),
               "r"(real ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void CopyLater4(uint32_t to, const void* from, bool real) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(to), "l"(from),
               "r"(real ? 4 : 0)
               : "memory");
}
// Ends a group of this thread's copies.
__device__ __forceinline__ void CommitCopies() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}
// Waits until at most the last kPending groups of this thread are under way.
template <int kPending>
__device__ __forceinline__ void WaitCopies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending) : "memory");
}

// Four matrices of 8 x 8 numbers; lane l gives the address of row l % 8 of matrix l / 8. Lane l
// gets of each the numbers 2 (l % 4) and the one after it of row l / 4; transposed: those two rows
// of column l / 4.
__device__ __forceinline__ void LoadMatrices(uint32_t from, uint32_t (&f)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
               : "r"(from));
}
__device__ __forceinline__ void LoadMatricesTransposed(uint32_t from, uint32_t (&f)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
               : "r"(from));
}

// sums [16][8] += a [16][16] b [16][8]. Lane l has sums of the rows l / 4 (0, 1) and l / 4 + 8
// (2, 3), columns 2 (l % 4) and the one after it.
__device__ __forceinline__ void Multiply(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0,
                                         uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Both rounded to bfloat16.
__device__ __forceinline__ uint32_t PackBf16(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;\n" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

// 2 to the x: exactly 1 for 0, and 0 for minus infinity.
__device__ __forceinline__ float Exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
  return y;
}

// A barrier of one of a block's teams.
__device__ __forceinline__ void TeamBarrier(int team) {
  asm volatile("bar.sync %0, %1;\n" ::"r"(team + 1), "n"(kTeam) : "memory");
}

// The same number, which the compiler knows nothing about: what is added to it stays an addition of
// its own, and constants go into the addresses of instructions.
__device__ __forceinline__ uint32_t Opaque(uint32_t x) {
  asm("mov.u32 %0, %0;\n" : "+r"(x));
  return x;
}

// ---- End of instructions.

__device__ __forceinline__ int Lane() { return static_cast<int>(threadIdx.x % 32); }

// What the chunks of a row are exchanged by. Rows 8 apart have the same.
template <int kDim>
__device__ __forceinline__ uint32_t TurnOf(uint32_t row) {
  constexpr int kChunks = kDim / 8;
  return kChunks % 8 == 0 ? row % 8 : kChunks % 4 == 0 ? row / 2 % 4 : row / 4 % 2;
}

// Where a chunk of a row lies in a tile, in bytes.
template <int kDim>
__device__ __forceinline__ uint32_t Swizzled(uint32_t row, uint32_t chunk) {
  return row * (kDim * 2) + (chunk ^ TurnOf<kDim>(row)) * 16;
}

template <int kDim>
inline constexpr int kTileBytes = kDevicePage* kDim * 2;

// The address of chunk `chunk` + lane_chunk of row `row` + lane_row of a tile: tile + Swizzled, in
// an order that leaves little to compute in loops over `row` and `chunk`. These are the same for
// all lanes, `row` a multiple of 8 and `chunk` of 2 (or lane_chunk 0). Tiles lie at multiples of
// their rows' size.
template <int kDim>
__device__ __forceinline__ uint32_t ChunkAddress(uint32_t tile, uint32_t row, uint32_t chunk,
                                                 uint32_t lane_row, uint32_t lane_chunk) {
  if constexpr ((kDim & (kDim - 1)) == 0) {
    return (Opaque(tile + Swizzled<kDim>(lane_row, lane_chunk)) ^ (chunk * 16)) + row * (kDim * 2);
  } else {
    const uint32_t turned = (lane_chunk ^ TurnOf<kDim>(lane_row) ^ chunk) * 16;
    return Opaque(tile + lane_row * (kDim * 2) + turned) + row * (kDim * 2);
  }
}

// Starts to copy a tile of 64 rows, by kThreads threads. from(row) is the address of a row's
// numbers; rows from `present` on become zero.
template <int kDim, int kThreads, typename From>
__device__ __forceinline__ void CopyTile(uint32_t to, uint32_t thread, int present, From from) {
  constexpr uint32_t kChunks = kDim / 8;
  // A thread copies the same chunk of every kRows-th row. Where these are 8 apart, they have the
  // same turn.
  constexpr uint32_t kFit = kThreads / kChunks, kRows = kFit < 8 ? kFit : kFit / 8 * 8;
  static_assert(kDevicePage % kRows == 0 || kRows > kDevicePage, "rows are left over");
  const uint32_t row = thread / kChunks, chunk = thread % kChunks;
  if (kRows * kChunks < kThreads && row >= kRows) return;
  const uint32_t first = to + Swizzled<kDim>(row, chunk);
#pragma unroll
  for (uint32_t i = 0; i < kDevicePage; i += kRows) {
    if (kRows > kDevicePage && row >= kDevicePage) break;
    const uint32_t at =
        kRows % 8 == 0 ? first + i * (kDim * 2) : to + Swizzled<kDim>(row + i, chunk);
    CopyLater16(at, from(row + i) + chunk * 8, static_cast<int>(row + i) < present);
  }
}

// Starts to copy a page, by a team: its keys to the tile `to`, its values to the one behind it.
// Those from `present` on become zero.
template <int kDim>
__device__ __forceinline__ void CopyPage(const Bf16* keys, int present, uint32_t to) {
  const Bf16* values = keys + kDevicePage * kDim;
  CopyTile<kDim, kTeam>(to, threadIdx.x, present, [=](uint32_t row) { return keys + row * kDim; });
  CopyTile<kDim, kTeam>(to + kTileBytes<kDim>, threadIdx.x, present,
                        [=](uint32_t row) { return values + row * kDim; });
}

// The left operand: rows `row` ... `row` + 15 and numbers 16 k ... 16 k + 15 of a tile.
template <int kDim>
__device__ __forceinline__ void LoadLeft(uint32_t tile, uint32_t row, uint32_t k,
                                         uint32_t (&f)[4]) {
  LoadMatrices(ChunkAddress<kDim>(tile, row, 2 * k, Lane() % 16, Lane() / 16), f);
}
// The right operands of two products whose columns are rows of the tile (`row` ... + 7, + 8 ... +
// 15), over the numbers 16 k ... 16 k + 15: f[0] and f[1], f[2] and f[3].
template <int kDim>
__device__ __forceinline__ void LoadRight(uint32_t tile, uint32_t row, uint32_t k,
                                          uint32_t (&f)[4]) {
  const int lane = Lane();
  LoadMatrices(ChunkAddress<kDim>(tile, row, 2 * k, lane % 8 + lane / 16 * 8, lane / 8 % 2), f);
}
// The right operands of two products over 16 rows of the tile, whose columns are the numbers 16 n
// ... + 7 and + 8 ... + 15.
template <int kDim>
__device__ __forceinline__ void LoadRightTransposed(uint32_t tile, uint32_t row, uint32_t n,
                                                    uint32_t (&f)[4]) {
  LoadMatricesTransposed(ChunkAddress<kDim>(tile, row, 2 * n, Lane() % 16, Lane() / 16), f);
}
// The right operands of two products over 32 rows of the tile, 16 each, whose columns are the
// numbers 8 n ... + 7.
template <int kDim>
__device__ __forceinline__ void LoadRightColumn(uint32_t tile, uint32_t row, uint32_t n,
                                                uint32_t (&f)[4]) {
  LoadMatricesTransposed(ChunkAddress<kDim>(tile, row, n, Lane(), 0), f);
}

// The left operand of a warp, 16 rows of kDim numbers: held in registers, or read from a tile where
// those do not suffice.
template <int kDim, bool kHeld>
struct LeftRows {
  uint32_t held[kHeld ? kDim / 16 : 1][4];
  uint32_t tile;
  int row;

  // From the addresses of this lane's two rows, Lane() / 4 and Lane() / 4 + 8 of the warp's.
  __device__ __forceinline__ void Hold(const Bf16* upper, const Bf16* lower) {
#pragma unroll
    for (int k = 0; k < kDim / 16; ++k) {
      const int at = k * 16 + Lane() % 4 * 2;
      held[k][0] = *reinterpret_cast<const uint32_t*>(upper + at);
      held[k][1] = *reinterpret_cast<const uint32_t*>(lower + at);
      held[k][2] = *reinterpret_cast<const uint32_t*>(upper + at + 8);
      held[k][3] = *reinterpret_cast<const uint32_t*>(lower + at + 8);
    }
  }
  __device__ __forceinline__ void Get(int k, uint32_t (&f)[4]) const {
    if constexpr (kHeld) {
#pragma unroll
      for (int i = 0; i < 4; ++i) f[i] = held[k][i];
    } else {
      LoadLeft<kDim>(tile, row, k, f);
    }
  }
};

// Row r of a tile: one position and one query head of the group.
struct QueryRow {
  int row;  // of the batch
  int head, position;
};
// Rows beyond the last one are the last one again: what is computed for them is finite and not
// written.
__device__ __forceinline__ QueryRow RowOf(const AttentionTile& tile, int group, int kv_head,
                                          int r) {
  r = min(r, tile.count * group - 1);
  const int t = r / group;
  return {tile.row + t, kv_head * group + r - t * group, tile.position + t};
}

// The 16 rows of a tile that a warp has, and the two of them that this lane has.
struct WarpRows {
  AttentionTile tile;
  int group, kv_head;
  int first;  // of the tile
  QueryRow upper, lower;

  __device__ __forceinline__ WarpRows(const AttentionTile& of, int heads, int head)
      : tile(of),
        group(heads),
        kv_head(head),
        first(static_cast<int>(threadIdx.x / 32) * kWarpRows),
        upper(At(first + Lane() / 4)),
        lower(At(first + Lane() / 4 + 8)) {}

  __device__ __forceinline__ QueryRow At(int r) const { return RowOf(tile, group, kv_head, r); }
  __device__ __forceinline__ int count() const { return tile.count * group; }  // of the tile
  __device__ __forceinline__ bool idle() const { return first >= count(); }
  __device__ __forceinline__ bool HasUpper() const { return first + Lane() / 4 < count(); }
  __device__ __forceinline__ bool HasLower() const { return first + Lane() / 4 + 8 < count(); }
  __device__ __forceinline__ int FirstPosition() const { return At(first).position; }
  __device__ __forceinline__ int LastPosition() const { return At(first + kWarpRows - 1).position; }
};

// Takes a warp's rows of what has a row for each of the queries': from(row) is the address of its
// numbers. Where they are not held, the whole team copies the tile's to `room`.
template <int kDim, bool kHeld, typename From>
__device__ __forceinline__ void TakeRows(const WarpRows& rows, uint32_t room, From from,
                                         LeftRows<kDim, kHeld>* to) {
  if constexpr (kHeld) {
    to->Hold(from(rows.upper), from(rows.lower));
  } else {
    to->tile = room;
    to->row = rows.first;
    CopyTile<kDim, kTeam>(room, threadIdx.x, kDevicePage,
                          [&](uint32_t r) { return from(rows.At(static_cast<int>(r))); });
  }
}

// DeviceAttention as the kernels take it.
template <typename T>
struct AttentionView {
  const AttentionTile* tile;
  const int32_t* tables;
  int heads, kv_heads, group;
  int64_t qkv_row, page_elements;
  const T* pages;  // of the layer
  const T* qkv;
  T* out;
  float* lse;
  float scale, scale_log2;  // of scores; for powers of 2

  // The keys of a page; its values are behind them.
  template <int kDim>
  __device__ __forceinline__ const T* Keys(int page, int kv_head) const {
    return pages + page * page_elements + int64_t{kv_head} * (2 * kDevicePage * kDim);
  }
  template <int kDim>
  __device__ __forceinline__ const T* Query(const QueryRow& row) const {
    return qkv + row.row * qkv_row + row.head * kDim;
  }
  // Where the row and head stand in lse; of `out` and the like it is this times kDim.
  __device__ __forceinline__ int64_t HeadAt(const QueryRow& row) const {
    return int64_t{row.row} * heads + row.head;
  }
};

template <typename T>
AttentionView<T> ViewOf(const DeviceAttention& a) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(a.head_dim));
  return {a.tile,
          a.tables,
          a.heads,
          a.kv_heads,
          a.heads / a.kv_heads,
          int64_t{a.heads + 2 * a.kv_heads} * a.head_dim,
          a.pages.PageElements(),
          static_cast<const T*>(a.pages.base) + a.layer * a.kv_heads * a.pages.HeadElements(),
          static_cast<const T*>(a.qkv),
          static_cast<T*>(a.out),
          a.lse,
          scale,
          scale * kLog2E};
}

// The pages of a path. A warp reads 32 entries of the table at once, so that a page need not wait
// for its entry. To be asked by whole warps, for pages 0 to `count` - 1 in order.
class PageWalk {
 public:
  __device__ __forceinline__ PageWalk(const int32_t* table, int count)
      : table_(table), count_(count), held_(0) {}
  __device__ __forceinline__ int Page(int i) {
    if (i % 32 == 0) held_ = i + Lane() < count_ ? table_[i + Lane()] : 0;
    return __shfl_sync(0xffffffffu, held_, i % 32);
  }

 private:
  const int32_t* table_;
  int count_, held_;
};

// The inner product as one chain.
template <int kDim>
__device__ __forceinline__ float Dot(const float* a, const float* b) {
  float sum = 0;
#pragma unroll 4
  for (int d = 0; d < kDim; d += 4) {
    const float4 x = *reinterpret_cast<const float4*>(a + d);
    const float4 y = *reinterpret_cast<const float4*>(b + d);
    sum = __fmaf_rn(x.x, y.x, sum);
    sum = __fmaf_rn(x.y, y.y, sum);
    sum = __fmaf_rn(x.z, y.z, sum);
    sum = __fmaf_rn(x.w, y.w, sum);
  }
  return sum;
}

// Calls f with the size of heads as a constant. False, with the context's error set, where no
// kernel has been compiled for the shape.
template <typename F>
bool WithHeads(DeviceContext* context, const DeviceAttention& a, F f) {
  std::string error;
  if (a.kv_heads < 1 || a.heads % a.kv_heads != 0 || a.heads / a.kv_heads > kDeviceTileRows) {
    error = "attention: " + std::to_string(a.heads) + " query heads for " +
            std::to_string(a.kv_heads) + " of keys are not supported; 1 to " +
            std::to_string(kDeviceTileRows) + " for each are";
  } else {
    switch (a.head_dim) {
      case 16: f(std::integral_constant<int, 16>()); break;
      case 32: f(std::integral_constant<int, 32>()); break;
      case 64: f(std::integral_constant<int, 64>()); break;
      case 96: f(std::integral_constant<int, 96>()); break;
      case 128: f(std::integral_constant<int, 128>()); break;
      case 256: f(std::integral_constant<int, 256>()); break;
      default:
        error = "attention: heads of " + std::to_string(a.head_dim) +
                " numbers are not supported; 16, 32, 64, 96, 128 and 256 are";
    }
  }
  if (error.empty()) return true;
  if (context->error.empty()) context->error = error;
  return false;
}

// How a kernel is launched, for `what` of device_api.h.
struct Launching {
  const char* what;
  dim3 grid;
  int threads, bytes;  // of a block; of its shared memory
};
template <typename... Parameters, typename... Arguments>
void LaunchShared(DeviceContext* context, const Launching& how, void (*kernel)(Parameters...),
                  Arguments... arguments) {
  const cudaError_t status =
      AllowSharedMemory(*context, reinterpret_cast<const void*>(kernel), how.bytes);
  if (status != cudaSuccess) {
    Check(context, status, how.what);
    return;
  }
  kernel<<<how.grid, how.threads, how.bytes, context->stream>>>(arguments...);
  Launched(context, how.what);
}

}  // namespace hone::cuda
