#pragma once

// Hopper's own instructions, for kernels that are built for it alone: copies of tiles by the copy
// engine, barriers that count bytes, products of a warpgroup, and clusters of blocks.

#include <cuda.h>

#include <cstdint>

namespace hone::cuda {

// The number of this warp. The compiler is told that it is the same for all its threads: what
// depends on it alone stays in the registers that warps have in common, where instructions look for
// tiles. To be called by whole warps.
__device__ __forceinline__ int WarpOfBlock() {
  return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 32), 0);
}

// ---- Barriers in shared memory.

__device__ __forceinline__ void InitBarrier(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Makes barriers known to other blocks of the cluster and to the copy engine.
__device__ __forceinline__ void PublishBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
// What says "one of a warp" is to be called by all threads of a warp, and done by one of them.
#define HONE_ONE_OF_WARP "{\n.reg .pred one;\nelect.sync _|one, 0xffffffff;\n@one "

// One of a warp arrives, and lets the phase wait for so many bytes of copies.
__device__ __forceinline__ void ArriveExpecting(uint32_t barrier, uint32_t bytes) {
  asm volatile(HONE_ONE_OF_WARP
               "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n}" ::"r"(barrier),
               "r"(bytes)
               : "memory");
}
// One of a warp.
__device__ __forceinline__ void Arrive(uint32_t barrier) {
  asm volatile(HONE_ONE_OF_WARP "mbarrier.arrive.shared::cta.b64 _, [%0];\n}" ::"r"(barrier)
               : "memory");
}
__device__ __forceinline__ void WaitPhase(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra ready;\n"
      "bra again;\n"
      "ready:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// ---- Clusters.

__device__ __forceinline__ uint32_t BlockOfCluster() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
// Each thread of all blocks arrives once, and then waits once. Those who wait see the barriers that
// were published before; nothing else is promised.
__device__ __forceinline__ void ArriveCluster() {
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
__device__ __forceinline__ void WaitCluster() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
// To this place of another block's shared memory; its barrier counts the bytes.
__device__ __forceinline__ void SendTo(uint32_t block, uint32_t address, uint32_t barrier,
                                       float4 values) {
  asm volatile(
      "{\n.reg .b32 to, counted;\n"
      "mapa.shared::cluster.u32 to, %0, %2;\n"
      "mapa.shared::cluster.u32 counted, %1, %2;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [to], {%3, %4, %5, %6}, "
      "[counted];\n}" ::"r"(address),
      "r"(barrier), "r"(block), "f"(values.x), "f"(values.y), "f"(values.z), "f"(values.w)
      : "memory");
}
__device__ __forceinline__ float4 LoadShared(uint32_t address) {
  float4 values;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(values.x), "=f"(values.y), "=f"(values.z), "=f"(values.w)
               : "r"(address)
               : "memory");
  return values;
}

// ---- The copy engine: a box of a matrix to shared memory, rows of 128 bytes, swizzled. One of a
// warp starts it.

struct Corner {
  int column, row;
};
__device__ __forceinline__ void CopyBox(const CUtensorMap& map, Corner from, uint32_t to,
                                        uint32_t barrier) {
  asm volatile(
      HONE_ONE_OF_WARP
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];\n}" ::"r"(to),
      "l"(&map), "r"(from.column), "r"(from.row), "r"(barrier)
      : "memory");
}
// What a map says is looked up ahead of its first copy.
__device__ __forceinline__ void PrefetchMap(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// ---- Products of a warpgroup.

// A tile of rows of 64 bfloat16, swizzled as the copy engine does; 1,024 bytes aligned.
__device__ __forceinline__ uint64_t TileDescriptor(uint32_t address) {
  constexpr uint64_t kGroupOfRows = uint64_t{1024 / 16} << 32, kLeading = uint64_t{1} << 16;
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  return kSwizzle128 | kGroupOfRows | kLeading | (address >> 4 & 0x3fff);
}
__device__ __forceinline__ void BeginProducts() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void CommitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Until at most so many groups are under way.
template <int kPending>
__device__ __forceinline__ void WaitProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// sums [64][8 N] += a [64][16] b [8 N][16]^T, or = where `add` is 0. A thread has, of rows r and
// r + 8 of its warp's 16, two columns of each eight. One instruction, in the widths that are used:
// the numbers of its operands are text, so each width has its own.
#define HONE_SUMS(i) "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3])
#define HONE_SUMS_2 HONE_SUMS(0), HONE_SUMS(1)
#define HONE_SUMS_3 HONE_SUMS_2, HONE_SUMS(2)
#define HONE_SUMS_4 HONE_SUMS_3, HONE_SUMS(3)
#define HONE_SUMS_6 HONE_SUMS_4, HONE_SUMS(4), HONE_SUMS(5)
#define HONE_SUMS_8 HONE_SUMS_6, HONE_SUMS(6), HONE_SUMS(7)
#define HONE_SUMS_12 HONE_SUMS_8, HONE_SUMS(8), HONE_SUMS(9), HONE_SUMS(10), HONE_SUMS(11)
#define HONE_SUMS_16 HONE_SUMS_12, HONE_SUMS(12), HONE_SUMS(13), HONE_SUMS(14), HONE_SUMS(15)
#define HONE_NUMBERS_2 "%0, %1, %2, %3, %4, %5, %6, %7"
#define HONE_NUMBERS_3 HONE_NUMBERS_2 ", %8, %9, %10, %11"
#define HONE_NUMBERS_4 HONE_NUMBERS_3 ", %12, %13, %14, %15"
#define HONE_NUMBERS_6 HONE_NUMBERS_4 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define HONE_NUMBERS_8 HONE_NUMBERS_6 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define HONE_NUMBERS_12 \
  HONE_NUMBERS_8 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define HONE_NUMBERS_16 \
  HONE_NUMBERS_12 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define HONE_SUMS_18 HONE_SUMS_16, HONE_SUMS(16), HONE_SUMS(17)
#define HONE_NUMBERS_18 HONE_NUMBERS_16 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define HONE_MULTIPLY_TILES(eights, columns, a_number, b_number, add_number)                      \
  __device__ __forceinline__ void MultiplyTiles(float (&sums)[eights][4], uint64_t a, uint64_t b, \
                                                int add) {                                        \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" add_number                                  \
                 ", 0;\nwgmma.mma_async.sync.aligned.m64n" columns                                \
                 "k16.f32.bf16.bf16 {" HONE_NUMBERS_##eights "}, %" a_number ", %" b_number        \
                 ", p, 1, 1, 0, 0;\n}"                                                            \
                 : HONE_SUMS_##eights                                                             \
                 : "l"(a), "l"(b), "r"(add));                                                     \
  }
HONE_MULTIPLY_TILES(2, "16", "8", "9", "10")
HONE_MULTIPLY_TILES(3, "24", "12", "13", "14")
HONE_MULTIPLY_TILES(4, "32", "16", "17", "18")
HONE_MULTIPLY_TILES(6, "48", "24", "25", "26")
HONE_MULTIPLY_TILES(8, "64", "32", "33", "34")
HONE_MULTIPLY_TILES(12, "96", "48", "49", "50")
HONE_MULTIPLY_TILES(16, "128", "64", "65", "66")
HONE_MULTIPLY_TILES(18, "144", "72", "73", "74")
#undef HONE_MULTIPLY_TILES
#undef HONE_ONE_OF_WARP

}  // namespace hone::cuda
