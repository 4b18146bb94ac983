// Products of few rows.
//
// A block has some columns of the output and all rows, 64 to a warpgroup; one more warp
// starts the copies of weights and rows, some stages of k ahead. Weights are copied
// before the kernel before this one has ended. Where k is summed in parts, a cluster has a block
// for each, and the one of the first part adds what the others send.
//
// An output is one chain over the k of a part, 16 at a time, as in cuBLASLt's products that do not
// split k: the same instructions in the same order. What a step of the chain waits for costs more
// than the step: so a stage has several steps, and all blocks should fit on the GPU at once.

#include "engine/kernels/cuda/few_rows.h"

#include <algorithm>

#include "engine/kernels/cuda/early.cuh"
#include "engine/kernels/cuda/hopper.cuh"
#include "engine/kernels/cuda/rows.cuh"

namespace hone::cuda {
namespace {

constexpr int kStep = 64;            // of k: 128 bytes of a row
constexpr int kGroupRows = 64;       // of a warpgroup
constexpr int kMostSteps = 4;        // of a stage
constexpr int kMostStages = 16;      // of copies under way
constexpr int kBarrierBytes = 1024;  // at the beginning of shared memory
constexpr int kShortest = 512;       // of k
constexpr int kMostBlocks = 8;       // of a cluster that every GPU has

struct FewRowsView {
  int rows, columns, steps;  // of the output; of k, in one part
  int stage_steps, stages, parts;
  int up;  // the first row of weights of `up` where gate and up are multiplied; else 0
  int64_t out_row;
  const float* addend;  // float32; null: none
  void* out;
  float scale;
};

// One step of k in shared memory: the rows, then the weights.
template <int kColumns, int kGroups>
struct StepRoom {
  static constexpr uint32_t kRowBytes = kGroups * kGroupRows * 128;
  static constexpr uint32_t kWeightBytes = kColumns * 128;
  static constexpr uint32_t kBytes = kRowBytes + kWeightBytes;
};

// A thread's sums, and what others send in their place: of all threads, four numbers at a time.
template <int kColumns>
using Sums = float[kColumns / 8][4];
template <int kColumns, int kGroups>
inline constexpr uint32_t kSentBytes = kColumns* kGroups* kGroupRows* sizeof(float);

// Which part of k and which columns a block has.
struct Place {
  int part, tile;
  __device__ explicit Place(const FewRowsView& v)
      : part(v.parts == 1 ? 0 : static_cast<int>(BlockOfCluster())),
        tile(static_cast<int>(blockIdx.x) / v.parts) {}
};

// Shared memory: barriers of full and of empty stages and of what is sent, the stages, and room for
// what each of the other parts sends.
template <int kColumns, int kGroups>
struct Room {
  using S = StepRoom<kColumns, kGroups>;
  uint32_t base;
  int stage_steps, stages;
  __device__ Room(const FewRowsView& v, uint8_t* shared)
      : base(static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
        stage_steps(v.stage_steps),
        stages(v.stages) {}
  __device__ uint32_t Full(int stage) const { return base + stage * 8; }
  __device__ uint32_t Empty(int stage) const { return base + (kMostStages + stage) * 8; }
  __device__ uint32_t Received() const { return base + 2 * kMostStages * 8; }
  __device__ uint32_t Rows(int stage, int step) const {
    return base + kBarrierBytes + (stage * stage_steps + step) * S::kBytes;
  }
  __device__ uint32_t Weights(int stage, int step) const {
    return Rows(stage, step) + S::kRowBytes;
  }
  // From part `part`, the four numbers from sums[i] of this thread.
  __device__ uint32_t Sent(int part, int i) const {
    return Rows(stages, 0) + (part - 1) * kSentBytes<kColumns, kGroups> +
           (i * kGroups * 128 + threadIdx.x) * 16;
  }
};

// A walk through the stages of shared memory, and how many steps of k there are in each.
struct StageWalk {
  int stage = 0, left;
  uint32_t parity = 0;
  __device__ explicit StageWalk(const FewRowsView& v) : left(v.steps) {}
  __device__ __forceinline__ int Steps(const FewRowsView& v) const {
    return min(v.stage_steps, left);
  }
  __device__ __forceinline__ void Next(const FewRowsView& v) {
    left -= v.stage_steps;
    if (++stage == v.stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// Starts the copies of all steps. One warp.
template <int kColumns, int kGroups, bool kGated>
__device__ __forceinline__ void CopySteps(const CUtensorMap& x, const CUtensorMap& weights,
                                          const FewRowsView& v, const Place& place,
                                          const Room<kColumns, kGroups>& room) {
  using S = StepRoom<kColumns, kGroups>;
  const int end = (place.part + 1) * v.steps;
  auto copy_weights = [&](const StageWalk& at) {
    const uint32_t full = room.Full(at.stage);
    ArriveExpecting(full, at.Steps(v) * S::kBytes);
    for (int step = 0; step < at.Steps(v); ++step) {
      const int k = (end - at.left + step) * kStep;
      const uint32_t to = room.Weights(at.stage, step);
      if constexpr (kGated) {
        CopyBox(weights, {k, place.tile * (kColumns / 2)}, to, full);
        CopyBox(weights, {k, v.up + place.tile * (kColumns / 2)}, to + S::kWeightBytes / 2, full);
      } else {
        CopyBox(weights, {k, place.tile * kColumns}, to, full);
      }
    }
  };
  auto copy_rows = [&](const StageWalk& at) {
    for (int step = 0; step < at.Steps(v); ++step) {
      CopyBox(x, {(end - at.left + step) * kStep, 0}, room.Rows(at.stage, step),
              room.Full(at.stage));
    }
  };
  // The first round finds all stages empty.
  StageWalk ahead(v);
  for (int i = 0; i < v.stages; ++i, ahead.Next(v)) copy_weights(ahead);
  WaitForKernelBefore();
  StageWalk at(v);
  for (int i = 0; i < v.stages; ++i, at.Next(v)) copy_rows(at);
  for (at.parity = 0; at.left > 0; at.Next(v)) {
    WaitPhase(room.Empty(at.stage), at.parity);
    copy_weights(at);
    copy_rows(at);
  }
}

// Starts the products of some steps of a stage, all of them in one go.
template <int kSteps, int kColumns, int kGroups>
__device__ __forceinline__ void MultiplyStage(const Room<kColumns, kGroups>& room, int stage,
                                              int add, Sums<kColumns>& sums) {
  const int group = WarpOfBlock() / 4;
  BeginProducts();
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const uint64_t a = TileDescriptor(room.Rows(stage, step) + group * kGroupRows * 128);
    const uint64_t b = TileDescriptor(room.Weights(stage, step));
#pragma unroll
    for (int k = 0; k < kStep / 16; ++k) {  // 32 bytes on, in sixteens
      MultiplyTiles(sums, a + k * 2, b + k * 2, step > 0 || k > 0 || add);
    }
  }
  CommitProducts();
}

// A warpgroup's sums over the block's part of k.
template <int kColumns, int kGroups>
__device__ __forceinline__ void MultiplySteps(const FewRowsView& v,
                                              const Room<kColumns, kGroups>& room,
                                              Sums<kColumns>& sums) {
  int before = -1;
  for (StageWalk at(v); at.left > 0; at.Next(v)) {
    WaitPhase(room.Full(at.stage), at.parity);
    const int add = before >= 0;
    switch (at.Steps(v)) {
      case 1: MultiplyStage<1>(room, at.stage, add, sums); break;
      case 2: MultiplyStage<2>(room, at.stage, add, sums); break;
      case 3: MultiplyStage<3>(room, at.stage, add, sums); break;
      default: MultiplyStage<kMostSteps>(room, at.stage, add, sums);
    }
    WaitProducts<1>();
    if (before >= 0) Arrive(room.Empty(before));
    before = at.stage;
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

// What the sums are added to; zeros where there is nothing.
template <int kEights>
__device__ __forceinline__ void LoadAddend(const FewRowsView& v, int first_column,
                                           float (&addend)[kEights][4]) {
#pragma unroll
  for (int i = 0; i < kEights * 4; ++i) addend[i / 4][i % 4] = 0;
  if (v.addend == nullptr) return;
  ForSums<kEights>(v, first_column, [&](int row, int column, int i, int j) {
    const Pack<float, 2> pair = Load<2>(v.addend + row * v.out_row + column);
    addend[i][j] = pair.value[0];
    addend[i][j + 1] = pair.value[1];
  });
}

// sums = addend + sums, and then the sums of the other parts in their order.
template <int kColumns, int kGroups>
__device__ __forceinline__ void JoinSums(const FewRowsView& v, const Sums<kColumns>& addend,
                                         const Room<kColumns, kGroups>& room,
                                         Sums<kColumns>& sums) {
#pragma unroll
  for (int i = 0; i < kColumns / 8; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      sums[i][j] *= v.scale;
      if (v.addend != nullptr) sums[i][j] += addend[i][j];
    }
  }
  if (v.parts == 1) return;
  WaitPhase(room.Received(), 0);
  for (int part = 1; part < v.parts; ++part) {
#pragma unroll
    for (int i = 0; i < kColumns / 8; ++i) {
      const float4 sent = LoadShared(room.Sent(part, i));
      sums[i][0] += v.scale * sent.x;
      sums[i][1] += v.scale * sent.y;
      sums[i][2] += v.scale * sent.z;
      sums[i][3] += v.scale * sent.w;
    }
  }
}

template <typename Out, int kEights>
__device__ __forceinline__ void WriteSums(const FewRowsView& v, int first_column,
                                          const float (&sums)[kEights][4]) {
  ForSums<kEights>(v, first_column, [&](int row, int column, int i, int j) {
    Pack<Out, 2> out;
    out.value[0] = FromFloat<Out>(sums[i][j]);
    out.value[1] = FromFloat<Out>(sums[i][j + 1]);
    Store(out, static_cast<Out*>(v.out) + row * v.out_row + column);
  });
}

// gate in the first half of the block's columns, up in the second.
template <int kEights>
__device__ __forceinline__ void WriteGated(const FewRowsView& v, int first_column,
                                           const float (&sums)[kEights][4]) {
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

// What the warpgroups do: multiply, exchange the sums of parts, write.
template <int kColumns, int kGroups, typename Out, bool kGated>
__device__ __forceinline__ void MultiplyAndWrite(const FewRowsView& v, const Place& place,
                                                 const Room<kColumns, kGroups>& room) {
  Sums<kColumns> sums;
  const int first_column = place.tile * (kGated ? kColumns / 2 : kColumns);
  if constexpr (kGated) {
    WaitForKernelBefore();
    MultiplySteps<kColumns, kGroups>(v, room, sums);
    WriteGated(v, first_column, sums);
  } else if (place.part == 0) {
    // Asked for now, it is there when the sums are.
    Sums<kColumns> addend;
    WaitForKernelBefore();
    LoadAddend(v, first_column, addend);
    MultiplySteps<kColumns, kGroups>(v, room, sums);
    JoinSums<kColumns, kGroups>(v, addend, room, sums);
    WriteSums<Out>(v, first_column, sums);
  } else {
    MultiplySteps<kColumns, kGroups>(v, room, sums);
    WaitCluster();  // the block that gets them has its barrier
#pragma unroll
    for (int i = 0; i < kColumns / 8; ++i) {
      SendTo(0, room.Sent(place.part, i), room.Received(),
             make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]));
    }
  }
}

template <int kColumns, int kGroups, typename Out, bool kGated>
__global__ void __launch_bounds__(kGroups * 128 + 32)
    FewRows(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap weights,
            const FewRowsView v) {
  extern __shared__ __align__(1024) uint8_t shared[];
  const Room<kColumns, kGroups> room(v, shared);
  const Place place(v);
  const bool copies = WarpOfBlock() >= kGroups * 4;
  LetNextKernelStart();
  if (threadIdx.x == kGroups * 128) {
    PrefetchMap(x);
    PrefetchMap(weights);
    for (int i = 0; i < v.stages; ++i) {
      InitBarrier(room.Full(i), 1);
      InitBarrier(room.Empty(i), kGroups * 4);
    }
    InitBarrier(room.Received(), 1);
    PublishBarriers();
  }
  __syncthreads();
  if (v.parts > 1) ArriveCluster();
  if (!copies) {
    MultiplyAndWrite<kColumns, kGroups, Out, kGated>(v, place, room);
  } else {
    if (v.parts > 1 && place.part == 0) {
      ArriveExpecting(room.Received(), (v.parts - 1) * kSentBytes<kColumns, kGroups>);
    }
    CopySteps<kColumns, kGroups, kGated>(x, weights, v, place, room);
  }
  // Those that have sent have waited.
  if (v.parts > 1 && (copies || place.part == 0)) WaitCluster();
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

// A product, how it is computed, and where swiglu of it goes; null: not gated.
struct FewRowsCall {
  const DeviceProduct& product;
  const FewRowsTiling& plan;
  int parts;
  void* activated;
};

// As many stages as shared memory has for all blocks of a multiprocessor, beside the room for what
// is sent. Less than 2 are none.
struct StageRoom {
  int stage_bytes, sent_bytes;
  int64_t blocks, stages;  // of the grid; that there are of k
};
int StagesFor(const DeviceContext& context, const StageRoom& room) {
  const int64_t each = (room.blocks + context.properties.multiProcessorCount - 1) /
                       context.properties.multiProcessorCount;
  const auto share = static_cast<int64_t>(context.properties.sharedMemPerMultiprocessor) / each;
  const auto most = static_cast<int64_t>(context.properties.sharedMemPerBlockOptin);
  const int64_t fit =
      (std::min(share - 1024, most) - kBarrierBytes - room.sent_bytes) / room.stage_bytes;
  return static_cast<int>(std::min({std::max<int64_t>(fit, 2), int64_t{kMostStages}, room.stages}));
}

template <int kColumns, int kGroups, typename Out, bool kGated>
bool LaunchFewRows(DeviceContext* context, const FewRowsCall& call) {
  using S = StepRoom<kColumns, kGroups>;
  const DeviceProduct& p = call.product;
  const int parts = call.parts, stage_steps = call.plan.stage_steps;
  CUtensorMap x, weights;
  if (!MapOf({p.a, p.m, p.k, p.a_row}, kGroups * kGroupRows, &x) ||
      !MapOf({p.b, p.n, p.k, p.b_row}, kGated ? kColumns / 2 : kColumns, &weights)) {
    return false;
  }
  FewRowsView v;
  v.rows = static_cast<int>(p.m);
  v.columns = static_cast<int>(kGated ? p.n / 2 : p.n);
  v.steps = static_cast<int>(p.k / parts / kStep);
  v.stage_steps = stage_steps;
  v.parts = parts;
  v.up = kGated ? v.columns : 0;
  v.out_row = kGated ? v.columns : p.out_row;
  v.addend = static_cast<const float*>(p.addend);
  v.out = kGated ? call.activated : p.out;
  v.scale = p.scale;
  const int64_t blocks = BlocksFor(p.n, kColumns) * int64_t{parts};
  const int stage_bytes = stage_steps * static_cast<int>(S::kBytes);
  const int sent_bytes = (parts - 1) * static_cast<int>(kSentBytes<kColumns, kGroups>);
  v.stages = StagesFor(
      *context, {stage_bytes, sent_bytes, blocks, (v.steps + stage_steps - 1) / stage_steps});
  const int bytes = kBarrierBytes + v.stages * stage_bytes + sent_bytes;
  const cudaError_t status =
      TryLaunchEarly(context,
                     {"product", dim3(static_cast<unsigned>(blocks)), dim3(kGroups * 128 + 32),
                      bytes, static_cast<unsigned>(parts)},
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

// Calls f with a number of columns as a type, those of kWidths; false for others.
constexpr int kWidths[] = {16, 24, 32, 48, 64, 96, 128, 144};
template <size_t kAt = 0, typename F>
bool WithWidth(int columns, F f) {
  if constexpr (kAt < std::size(kWidths)) {
    if (columns == kWidths[kAt]) return f(std::integral_constant<int, kWidths[kAt]>());
    return WithWidth<kAt + 1>(columns, f);
  }
  return false;
}

}  // namespace

std::vector<FewRowsTiling> FewRowsTilings(DeviceContext* context, const DeviceProductShape& shape,
                                          int parts) {
  // The kernel is for Hopper alone.
  const bool hopper = context->properties.major == 9 && context->properties.minor == 0;
  // Short sums are adapters', which are scaled: how cuBLASLt rounds then is not known.
  const bool fits = shape.k >= kShortest && shape.k % (kStep * parts) == 0 && shape.n % 8 == 0 &&
                    parts <= kMostBlocks &&
                    (shape.output == Element::kF32 || (!shape.addend && parts == 1));
  if (!hopper || !fits || shape.input != Element::kBf16) return {};
  constexpr int64_t kSmallStage = 20 << 10, kLargeStage = 54 << 10;
  const int64_t processors = context->properties.multiProcessorCount;
  std::vector<FewRowsTiling> plans;
  for (const int columns : kWidths) {
    const int64_t blocks = BlocksFor(shape.n, columns) * int64_t{parts};
    // Too few blocks to read at full speed, or so many that each does little.
    if (columns > kWidths[0] && blocks * 2 < processors) continue;
    if (columns < 64 && blocks > 2 * processors) continue;
    for (const int steps : {1, 2, kMostSteps}) {
      const int64_t bytes = steps * (kGroupRows + columns) * 128;
      if (bytes >= kSmallStage && bytes <= kLargeStage) plans.push_back({columns, steps});
    }
  }
  return plans;
}

bool RunFewRows(DeviceContext* context, const DeviceProduct& p, const FewRowsTiling& plan,
                int parts) {
  if (p.scale != 1) return false;
  const FewRowsCall call{p, plan, parts, nullptr};
  return WithWidth(plan.columns, [&](auto columns) {
    return p.output == Element::kF32
               ? LaunchForRows<columns(), float, false>(context, call)
               : LaunchForRows<columns(), __nv_bfloat16, false>(context, call);
  });
}

bool RunFewRowsGated(DeviceContext* context, const DeviceProduct& p, const FewRowsTiling& plan,
                     void* activated) {
  return WithWidth(plan.columns, [&](auto columns) {
    // Both halves of the columns begin with a whole pattern of eight rows.
    constexpr int kColumns = columns() % 16 == 0 ? columns() : 2 * columns();
    return LaunchForRows<kColumns, __nv_bfloat16, true>(context, {p, plan, 1, activated});
  });
}

}  // namespace hone::cuda
