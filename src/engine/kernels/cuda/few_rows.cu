// Products of few rows.
//
// A block has some columns of the output and all rows, 64 to a warpgroup; one more warp has its
// first thread start the copies of weights and rows, some steps of 64 k ahead. Weights are copied
// before the kernel before this one has ended. Blocks of a cluster share the rows: each copies a
// part of them to all. Where k is summed in parts, the cluster has blocks for each, and those of
// the first part add what the others send.
//
// An output is one chain over the k of a part, 16 at a time, as in cuBLASLt's products that do not
// split k: the same instructions in the same order.

#include "engine/kernels/cuda/few_rows.h"

#include <algorithm>

#include "engine/kernels/cuda/early.cuh"
#include "engine/kernels/cuda/hopper.cuh"
#include "engine/kernels/cuda/rows.cuh"

namespace hone::cuda {
namespace {

constexpr int kStep = 64;            // of k, in a stage: 128 bytes of a row
constexpr int kGroupRows = 64;       // of a warpgroup
constexpr int kMostStages = 16;      // of copies under way
constexpr int kBarrierBytes = 1024;  // at the beginning of shared memory
constexpr int kShortest = 512;       // of k
constexpr int kMostBlocks = 8;       // of a cluster that every GPU has

struct FewRowsView {
  int rows, columns, steps;  // of the output; of k, in one part
  int sharers, parts, stages;
  int up;  // the first row of weights of `up` where gate and up are multiplied; else 0
  int64_t out_row;
  const float* addend;  // float32; null: none
  void* out;
  float scale;
};

template <int kColumns, int kGroups>
struct Stage {
  static constexpr uint32_t kRowBytes = kGroups * kGroupRows * 128;
  static constexpr uint32_t kWeightBytes = kColumns * 128;
  static constexpr uint32_t kBytes = kRowBytes + kWeightBytes;
};

// Where a block stands.
struct Place {
  int part, sharer, tile;
  __device__ explicit Place(const FewRowsView& v) {
    const int rank = static_cast<int>(BlockOfCluster());
    part = rank / v.sharers;
    sharer = rank % v.sharers;
    tile = static_cast<int>(blockIdx.x) / (v.sharers * v.parts) * v.sharers + sharer;
  }
};

// Shared memory: barriers of full and of empty stages, then the stages.
struct Room {
  uint32_t base;
  __device__ explicit Room(uint8_t* shared) {
    base = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  }
  __device__ uint32_t Full(int stage) const { return base + stage * 8; }
  __device__ uint32_t Empty(int stage) const { return base + (kMostStages + stage) * 8; }
  template <typename S>
  __device__ uint32_t Rows(int stage) const {
    return base + kBarrierBytes + stage * S::kBytes;
  }
  template <typename S>
  __device__ uint32_t Weights(int stage) const {
    return Rows<S>(stage) + S::kRowBytes;
  }
};

// Starts the copies of all steps. One thread.
template <int kColumns, int kGroups, bool kGated>
__device__ __forceinline__ void CopySteps(const CUtensorMap& x, const CUtensorMap& weights,
                                          const FewRowsView& v, const Place& place,
                                          const Room& room) {
  using S = Stage<kColumns, kGroups>;
  const int first = place.part * v.steps;
  const int slice = kGroups * kGroupRows / v.sharers;  // rows that this block copies
  const auto all = static_cast<uint16_t>(((1u << v.sharers) - 1) << (place.part * v.sharers));
  auto copy_weights = [&](int step, int stage) {
    ArriveExpecting(room.Full(stage), S::kBytes);
    const int k = (first + step) * kStep;
    const uint32_t to = room.Weights<S>(stage);
    if constexpr (kGated) {
      CopyBox(weights, {k, place.tile * (kColumns / 2)}, to, room.Full(stage));
      CopyBox(weights, {k, v.up + place.tile * (kColumns / 2)}, to + S::kWeightBytes / 2,
              room.Full(stage));
    } else {
      CopyBox(weights, {k, place.tile * kColumns}, to, room.Full(stage));
    }
  };
  auto copy_rows = [&](int step, int stage) {
    const int k = (first + step) * kStep, row = place.sharer * slice;
    const uint32_t to = room.Rows<S>(stage) + row * 128;
    if (v.sharers == 1) {
      CopyBox(x, {k, 0}, to, room.Full(stage));
    } else {
      CopyBoxToAll(x, {k, row}, to, room.Full(stage), all);
    }
  };
  const int ahead = min(v.stages, v.steps);
  for (int step = 0; step < ahead; ++step) copy_weights(step, step);
  WaitCluster();  // all blocks have their barriers
  WaitForKernelBefore();
  for (int step = 0; step < ahead; ++step) copy_rows(step, step);
  int stage = 0;
  uint32_t parity = 0;
  for (int step = ahead; step < v.steps; ++step) {
    WaitPhase(room.Empty(stage), parity);
    copy_weights(step, stage);
    copy_rows(step, stage);
    if (++stage == v.stages) {
      stage = 0;
      parity ^= 1;
    }
  }
}

// A warpgroup's sums over the block's part of k.
template <int kColumns, int kGroups>
__device__ __forceinline__ void MultiplySteps(const FewRowsView& v, const Place& place,
                                              const Room& room, float (&sums)[kColumns / 8][4]) {
  using S = Stage<kColumns, kGroups>;
  const int group = static_cast<int>(threadIdx.x) / 128, lane = static_cast<int>(threadIdx.x) % 32;
  // Tells all that copy to this block that a stage may be written again.
  auto free_stage = [&](int stage) {
    if (lane < v.sharers) ArriveAt(room.Empty(stage), place.part * v.sharers + lane);
  };
  int stage = 0, before = 0;
  uint32_t parity = 0;
  for (int step = 0; step < v.steps; ++step) {
    WaitPhase(room.Full(stage), parity);
    BeginProducts();
    const uint64_t a = TileDescriptor(room.Rows<S>(stage) + group * kGroupRows * 128);
    const uint64_t b = TileDescriptor(room.Weights<S>(stage));
#pragma unroll
    for (int k = 0; k < kStep / 16; ++k) {
      MultiplyTiles(sums, a + k * 2, b + k * 2, step > 0 || k > 0);  // 32 bytes on, in sixteens
    }
    CommitProducts();
    WaitProducts<1>();
    if (step > 0) free_stage(before);
    before = stage;
    if (++stage == v.stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  WaitProducts<0>();
}

// Calls body(row, column, i, j): the thread has columns `column` and the next of that row in
// sums[i][j] and sums[i][j + 1].
template <int kEights, typename Body>
__device__ __forceinline__ void ForSums(const FewRowsView& v, int first_column, Body body) {
  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / 128 * kGroupRows + thread % 128 / 32 * 16 + thread % 32 / 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (row + 8 * half >= v.rows) continue;
#pragma unroll
    for (int i = 0; i < kEights; ++i) {
      const int column = first_column + 8 * i + thread % 4 * 2;
      if (column < v.columns) body(row + 8 * half, column, i, 2 * half);
    }
  }
}

template <typename Out, int kEights>
__device__ __forceinline__ void WriteSums(const FewRowsView& v, int first_column, int others,
                                          const float* sent, float (&sums)[kEights][4]) {
  const int threads = static_cast<int>(blockDim.x) - 32;
  ForSums<kEights>(v, first_column, [&](int row, int column, int i, int j) {
    float pair[2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const int64_t at = row * v.out_row + column + c;
      pair[c] = v.scale * sums[i][j + c];
      if (v.addend != nullptr) pair[c] += v.addend[at];
#pragma unroll 1
      for (int other = 0; other < others; ++other) {
        pair[c] +=
            v.scale * sent[(int64_t{other} * kEights * 4 + i * 4 + j + c) * threads + threadIdx.x];
      }
    }
    Pack<Out, 2> out;
    out.value[0] = FromFloat<Out>(pair[0]);
    out.value[1] = FromFloat<Out>(pair[1]);
    Store(out, static_cast<Out*>(v.out) + row * v.out_row + column);
  });
}

// gate in the first half of the block's columns, up in the second.
template <int kEights>
__device__ __forceinline__ void WriteGated(const FewRowsView& v, int first_column,
                                           float (&sums)[kEights][4]) {
  using T = __nv_bfloat16;
  constexpr int kHalf = kEights / 2;
  ForSums<kHalf>(v, first_column, [&](int row, int column, int i, int j) {
    Pack<T, 2> out;
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      out.value[c] = Gated(FromFloat<T>(v.scale * sums[i][j + c]),
                           FromFloat<T>(v.scale * sums[i + kHalf][j + c]));
    }
    Store(out, static_cast<T*>(v.out) + row * v.out_row + column);
  });
}

// What blocks of later parts have goes to the block of the first part that has the same columns.
template <int kEights>
__device__ __forceinline__ void SendSums(const FewRowsView& v, const Place& place, const Room& room,
                                         const float (&sums)[kEights][4]) {
  const uint32_t threads = blockDim.x - 32;
  uint32_t to = room.base + kBarrierBytes +
                ((place.part - 1) * kEights * 4 * threads + threadIdx.x) * uint32_t{sizeof(float)};
#pragma unroll
  for (int i = 0; i < kEights * 4; ++i) {
    StoreAt(to, static_cast<uint32_t>(place.sharer), sums[i / 4][i % 4]);
    to += threads * uint32_t{sizeof(float)};
  }
}

template <int kColumns, int kGroups, typename Out, bool kGated>
__global__ void __launch_bounds__(kGroups * 128 + 32)
    FewRows(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap weights,
            const FewRowsView v) {
  extern __shared__ __align__(1024) uint8_t shared[];
  const Room room(shared);
  const Place place(v);
  LetNextKernelStart();
  const bool copies = threadIdx.x >= kGroups * 128;
  if (threadIdx.x == kGroups * 128) {
    for (int i = 0; i < v.stages; ++i) {
      InitBarrier(room.Full(i), 1);
      InitBarrier(room.Empty(i), v.sharers * kGroups * 4);
    }
    PublishBarriers();
  }
  __syncwarp();
  float sums[kColumns / 8][4];
  ArriveCluster();
  if (copies) {
    if (threadIdx.x == kGroups * 128) {
      CopySteps<kColumns, kGroups, kGated>(x, weights, v, place, room);
    } else {
      WaitCluster();
    }
    __syncwarp();
  } else {
    WaitCluster();
    WaitForKernelBefore();
    MultiplySteps<kColumns, kGroups>(v, place, room, sums);
  }
  const int first_column = place.tile * (kGated ? kColumns / 2 : kColumns);
  if (v.parts > 1) {
    ArriveCluster();
    WaitCluster();
    if (!copies && place.part > 0) SendSums(v, place, room, sums);
    ArriveCluster();
    WaitCluster();
  }
  if (!copies && place.part == 0) {
    if constexpr (kGated) {
      WriteGated(v, first_column, sums);
    } else {
      const auto* sent = reinterpret_cast<const float*>(shared + kBarrierBytes);
      WriteSums<Out>(v, first_column, v.parts - 1, sent, sums);
    }
  }
  // Nobody leaves while others still tell it that stages are free.
  ArriveCluster();
  WaitCluster();
}

using EncodeMap = decltype(&cuTensorMapEncodeTiled);
EncodeMap FindEncodeMap() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                   &found);
#else
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
  return found == cudaDriverEntryPointSuccess ? reinterpret_cast<EncodeMap>(function) : nullptr;
}

// A matrix [rows][k] of bfloat16, from which boxes of some rows and kStep numbers are copied.
struct Matrix {
  const void* data;
  int64_t rows, k, row;
};
bool MapOf(const Matrix& matrix, int box_rows, CUtensorMap* map) {
  static const EncodeMap encode = FindEncodeMap();
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(matrix.k),
                              static_cast<cuuint64_t>(matrix.rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(matrix.row) * 2};
  const cuuint32_t box[] = {kStep, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  return encode != nullptr &&
         encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(matrix.data), sizes,
                strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

struct FewRowsCall {
  const DeviceProduct& product;
  const FewRowsTiling& plan;
  int parts;
  void* activated;  // null: not gated
};

// As many stages as shared memory has for all blocks of a multiprocessor.
int StagesFor(const DeviceContext& context, int64_t blocks, int stage_bytes, int64_t steps) {
  const int64_t each = (blocks + context.properties.multiProcessorCount - 1) /
                       context.properties.multiProcessorCount;
  const auto room = static_cast<int64_t>(context.properties.sharedMemPerMultiprocessor) / each;
  const auto most = static_cast<int64_t>(context.properties.sharedMemPerBlockOptin);
  const int64_t stages = (std::min(room - 1024, most) - kBarrierBytes) / stage_bytes;
  // A stage is free when the products of the next one have begun: there are two at least.
  return static_cast<int>(std::min({std::max<int64_t>(stages, 2), int64_t{kMostStages}, steps}));
}

template <int kColumns, int kGroups, typename Out, bool kGated>
bool LaunchFewRows(DeviceContext* context, const FewRowsCall& call) {
  using S = Stage<kColumns, kGroups>;
  const DeviceProduct& p = call.product;
  const int sharers = call.plan.sharers, parts = call.parts;
  CUtensorMap x, weights;
  if (!MapOf({p.a, p.m, p.k, p.a_row}, kGroups * kGroupRows / sharers, &x) ||
      !MapOf({p.b, p.n, p.k, p.b_row}, kGated ? kColumns / 2 : kColumns, &weights)) {
    return false;
  }
  FewRowsView v;
  v.rows = static_cast<int>(p.m);
  v.columns = static_cast<int>(kGated ? p.n / 2 : p.n);
  v.steps = static_cast<int>(p.k / parts / kStep);
  v.sharers = sharers;
  v.parts = parts;
  v.up = kGated ? v.columns : 0;
  v.out_row = kGated ? v.columns : p.out_row;
  v.addend = static_cast<const float*>(p.addend);
  v.out = kGated ? call.activated : p.out;
  v.scale = p.scale;
  const int64_t clusters = BlocksFor(p.n, int64_t{kColumns} * sharers);
  const auto cluster = static_cast<unsigned>(sharers * parts);
  const int64_t blocks = clusters * cluster;
  v.stages = StagesFor(*context, blocks, S::kBytes, v.steps);
  const int bytes = kBarrierBytes + std::max<int>(v.stages * static_cast<int>(S::kBytes),
                                                  (parts - 1) * kColumns * kGroups * 256);
  const cudaError_t status = TryLaunchEarly(
      context,
      {"product", dim3(static_cast<unsigned>(blocks)), dim3(kGroups * 128 + 32), bytes, cluster},
      FewRows<kColumns, kGroups, Out, kGated>, x, weights, v);
  if (status == cudaSuccess) return true;
  cudaGetLastError();  // another way will do
  return false;
}

template <int kColumns, typename Out, bool kGated>
bool LaunchForRows(DeviceContext* context, const FewRowsCall& call) {
  const int64_t rows = call.product.m;
  if (rows <= 64) return LaunchFewRows<kColumns, 1, Out, kGated>(context, call);
  return LaunchFewRows<kColumns, 2, Out, kGated>(context, call);
}

template <typename Out, bool kGated>
bool LaunchPlan(DeviceContext* context, const FewRowsCall& call) {
  switch (call.plan.columns) {
    case 16:
      if constexpr (!kGated) return LaunchForRows<16, Out, kGated>(context, call);
      return LaunchForRows<32, Out, kGated>(context, call);
    case 32: return LaunchForRows<32, Out, kGated>(context, call);
    case 64: return LaunchForRows<64, Out, kGated>(context, call);
    default: return LaunchForRows<128, Out, kGated>(context, call);
  }
}

}  // namespace

std::vector<FewRowsTiling> FewRowsTilings(DeviceContext* context, const DeviceProductShape& shape,
                                          int parts) {
  // The kernel is for Hopper alone.
  const bool hopper = context->properties.major == 9 && context->properties.minor == 0;
  // Short sums are adapters', which are scaled: how cuBLASLt rounds then is not known.
  const bool fits = shape.k >= kShortest && shape.k % (kStep * parts) == 0 && shape.n % 8 == 0 &&
                    (shape.output == Element::kF32 || (!shape.addend && parts == 1));
  if (!hopper || !fits || shape.input != Element::kBf16) return {};
  std::vector<FewRowsTiling> plans;
  for (const int columns : {16, 32, 64, 128}) {
    if (columns > 16 && columns > shape.n) continue;
    const int64_t tiles = (shape.n + columns - 1) / columns * parts;
    // Too few blocks to read at full speed, or more than fit at once by far.
    if (columns > 16 && tiles * 4 < context->properties.multiProcessorCount) continue;
    for (const int sharers : {1, 2, 4, 8}) {
      if (sharers * parts <= kMostBlocks) plans.push_back({columns, sharers});
    }
  }
  return plans;
}

bool RunFewRows(DeviceContext* context, const DeviceProduct& p, const FewRowsTiling& plan,
                int parts) {
  if (p.scale != 1) return false;
  const FewRowsCall call{p, plan, parts, nullptr};
  return p.output == Element::kF32 ? LaunchPlan<float, false>(context, call)
                                   : LaunchPlan<__nv_bfloat16, false>(context, call);
}

bool RunFewRowsGated(DeviceContext* context, const DeviceProduct& p, const FewRowsTiling& plan,
                     void* activated) {
  return LaunchPlan<__nv_bfloat16, true>(context, {p, plan, 1, activated});
}

}  // namespace hone::cuda
