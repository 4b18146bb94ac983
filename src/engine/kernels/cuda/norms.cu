// Norms of rows. Forward, a row's sum has one order, which depends on the width alone.

#include "engine/kernels/cuda/early.cuh"
#include "engine/kernels/cuda/rows.cuh"

namespace hone::cuda {
namespace {

// A thread holds what it has of the row, at most kPacks times four numbers.
template <typename T, int kPacks>
__global__ void __launch_bounds__(kThreadsOfRow) NormHeldRows(const DeviceNorm n) {
  __shared__ float shared[32];
  LetNextKernelStart();
  auto column_of = [](int pack) {
    return (pack * kThreadsOfRow + static_cast<int>(threadIdx.x)) * 4;
  };
  Pack<float, 4> in[kPacks] = {}, w[kPacks] = {};
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    if (column_of(p) < n.width) w[p] = Load<4>(n.weight + column_of(p));
  }
  WaitForKernelBefore();
  const int64_t row = blockIdx.x;
  const float* from = n.x + (n.row_of == nullptr ? row : int64_t{n.row_of[row]}) * n.width;
  T* out = static_cast<T*>(n.out) + row * n.width;
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    if (column_of(p) < n.width) in[p] = Load<4>(from + column_of(p));
  }
  float squares = 0;
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    for (int j = 0; j < 4; ++j) squares = fmaf(in[p].value[j], in[p].value[j], squares);
  }
  squares = BlockSum(squares, shared);
  const float scale = 1.0f / sqrtf(squares / static_cast<float>(n.width) + n.eps);
  if (n.scale != nullptr && threadIdx.x == 0) n.scale[row] = scale;
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    if (column_of(p) >= n.width) break;
    Pack<T, 4> result;
    for (int j = 0; j < 4; ++j) {
      result.value[j] = FromFloat<T>(w[p].value[j] * (in[p].value[j] * scale));
    }
    Store(result, out + column_of(p));
  }
}

// The same for any width.
template <typename T, int N>
__global__ void NormRows(const DeviceNorm n) {
  __shared__ float shared[32];
  LetNextKernelStart();
  WaitForKernelBefore();
  const int64_t row = blockIdx.x;
  const float* from = n.x + (n.row_of == nullptr ? row : int64_t{n.row_of[row]}) * n.width;
  T* out = static_cast<T*>(n.out) + row * n.width;
  float squares = 0;
  for (int64_t i = threadIdx.x * N; i < n.width; i += blockDim.x * N) {
    const Pack<float, N> in = Load<N>(from + i);
    for (int j = 0; j < N; ++j) squares = fmaf(in.value[j], in.value[j], squares);
  }
  squares = BlockSum(squares, shared);
  const float scale = 1.0f / sqrtf(squares / static_cast<float>(n.width) + n.eps);
  if (n.scale != nullptr && threadIdx.x == 0) n.scale[row] = scale;
  for (int64_t i = threadIdx.x * N; i < n.width; i += blockDim.x * N) {
    const Pack<float, N> in = Load<N>(from + i), w = Load<N>(n.weight + i);
    Pack<T, N> result;
    for (int j = 0; j < N; ++j) result.value[j] = FromFloat<T>(w.value[j] * (in.value[j] * scale));
    Store(result, out + i);
  }
}

// ---- Backward.

// The factor of x in the gradient of a row: `inner` is the sum of dy * weight * x.
__device__ __forceinline__ float CommonOf(float inner, float scale, int64_t width) {
  return inner * scale * scale * scale / static_cast<float>(width);
}

template <int N>
__device__ __forceinline__ void StoreAs(const Pack<float, N>& pack, Element element, void* to,
                                        int64_t at) {
  if (element == Element::kF32) {
    Store(pack, static_cast<float*>(to) + at);
  } else {
    Pack<__nv_bfloat16, N> rounded;
    for (int j = 0; j < N; ++j) rounded.value[j] = FromFloat<__nv_bfloat16>(pack.value[j]);
    Store(rounded, static_cast<__nv_bfloat16*>(to) + at);
  }
}

// Numbers of dx, from `at` on, in float32 and rounded where that is wanted.
template <int N>
__device__ __forceinline__ void StoreGradient(const DeviceNormBackward& n, int64_t at,
                                              const Pack<float, N>& dx) {
  Store(dx, n.dx + at);
  if (n.rounded != nullptr) StoreAs(dx, n.element, n.rounded, at);
}

// What forward made of some numbers of x, from `at` on, where that is wanted.
template <int N>
__device__ __forceinline__ void StoreNormed(const DeviceNormBackward& n, int64_t at,
                                            const Pack<float, N>& x, const Pack<float, N>& weight,
                                            float scale) {
  if (n.normed == nullptr) return;
  Pack<float, N> normed;
  for (int j = 0; j < N; ++j) normed.value[j] = weight.value[j] * (x.value[j] * scale);
  StoreAs(normed, n.element, n.normed, at);
}

// A row's numbers of a lane: 4 of each 128.
constexpr int kQuadsWidth = 128, kMostQuads = 16;
template <int kQuads>
using LaneRow = Pack<float, 4>[kQuads];

__device__ __forceinline__ int ColumnOf(int quad) {
  return quad * kQuadsWidth + static_cast<int>(threadIdx.x % 32) * 4;
}

// The sum of dy * weight * x over a row that a warp has: in the order of NormRowsBackward, whose
// block of four warps has quads 0, 4, ..., quads 1, 5, ... and so on.
template <int kQuads>
__device__ __forceinline__ float InnerOfRow(const LaneRow<kQuads>& x, const LaneRow<kQuads>& d,
                                            const float* weight) {
  static_assert(kThreadsOfRow == 4 * 32, "four warps");
  float of_warp[4] = {};
#pragma unroll
  for (int q = 0; q < kQuads; ++q) {
    const Pack<float, 4> w = Load<4>(weight + ColumnOf(q));
    for (int j = 0; j < 4; ++j) {
      of_warp[q % 4] = fmaf(d[q].value[j] * w.value[j], x[q].value[j], of_warp[q % 4]);
    }
  }
  for (float& sum : of_warp) sum = WarpSum(sum);
  return (of_warp[0] + of_warp[2]) + (of_warp[1] + of_warp[3]);
}

constexpr int kSliceWarps = 8;   // of a block
constexpr int kQuadsAtOnce = 4;  // that are moved together

// partial[slice][column] = the sums of the block's warps, joined in their order. `room` holds some
// quads of all warps at a time.
using SliceRoom = float[kSliceWarps][kQuadsAtOnce * kQuadsWidth];
template <int kQuads>
__device__ __forceinline__ void JoinWarps(const LaneRow<kQuads>& sums, SliceRoom& room,
                                          float* partial) {
#pragma unroll
  for (int first = 0; first < kQuads; first += kQuadsAtOnce) {
    const int quads = kQuads - first < kQuadsAtOnce ? kQuads - first : kQuadsAtOnce;
#pragma unroll
    for (int q = 0; q < kQuadsAtOnce; ++q) {
      if (q < quads) Store(sums[first + q], &room[threadIdx.x / 32][ColumnOf(q)]);
    }
    __syncthreads();
    for (int column = threadIdx.x; column < quads * kQuadsWidth; column += kSliceWarps * 32) {
      float sum = room[0][column];
      for (int warp = 1; warp < kSliceWarps; ++warp) sum += room[warp][column];
      partial[first * kQuadsWidth + column] = sum;
    }
    __syncthreads();
  }
}

// A block per slice of rows, a warp per row at a time, which reads x and dy once: it holds them,
// and the sums of its rows for the gradient of the weight.
template <int kQuads>
__global__ void __launch_bounds__(kSliceWarps * 32, kQuads <= 8 ? 2 : 1)
    NormSlicesBackward(const DeviceNormBackward n) {
  __shared__ __align__(16) SliceRoom room;
  constexpr int64_t kWidth = kQuads * kQuadsWidth;
  const int64_t end = min((int64_t{blockIdx.x} + 1) * kSliceRows, n.rows);
  LaneRow<kQuads> sums = {};
  for (int64_t row = int64_t{blockIdx.x} * kSliceRows + threadIdx.x / 32; row < end;
       row += kSliceWarps) {
    const float scale = n.scale[row];
    LaneRow<kQuads> x, d;
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      x[q] = Load<4>(n.x + row * kWidth + ColumnOf(q));
      d[q] = Load<4>(n.dy + row * kWidth + ColumnOf(q));
    }
    const float common = CommonOf(InnerOfRow<kQuads>(x, d, n.weight), scale, kWidth);
    // What is added to dx takes the place of dy, and dx that of x: some quads are asked for
    // together before any is written.
#pragma unroll
    for (int first = 0; first < kQuads; first += kQuadsAtOnce) {
      const int last = first + kQuadsAtOnce < kQuads ? first + kQuadsAtOnce : kQuads;
#pragma unroll
      for (int q = first; q < last; ++q) {
        const Pack<float, 4> w = Load<4>(n.weight + ColumnOf(q));
        StoreNormed(n, row * kWidth + ColumnOf(q), x[q], w, scale);
        for (int j = 0; j < 4; ++j) {
          sums[q].value[j] += d[q].value[j] * (x[q].value[j] * scale);
          d[q].value[j] = d[q].value[j] * w.value[j] * scale - x[q].value[j] * common;
        }
        x[q] = Load<4>(n.dx + row * kWidth + ColumnOf(q));
      }
#pragma unroll
      for (int q = first; q < last; ++q) {
        for (int j = 0; j < 4; ++j) x[q].value[j] += d[q].value[j];
        StoreGradient(n, row * kWidth + ColumnOf(q), x[q]);
      }
    }
  }
  JoinWarps<kQuads>(sums, room, n.partial + blockIdx.x * kWidth);
}

// The same for any width, in two kernels: a block per row, and the gradient of the weight.
template <int N>
__global__ void NormRowsBackward(const DeviceNormBackward n) {
  __shared__ float shared[32];
  const int64_t row = blockIdx.x;
  const float *from = n.x + row * n.width, *up = n.dy + row * n.width;
  const float scale = n.scale[row];
  float inner = 0;
  for (int64_t i = threadIdx.x * N; i < n.width; i += blockDim.x * N) {
    const Pack<float, N> in = Load<N>(from + i), d = Load<N>(up + i), w = Load<N>(n.weight + i);
    for (int j = 0; j < N; ++j) inner = fmaf(d.value[j] * w.value[j], in.value[j], inner);
  }
  const float common = CommonOf(BlockSum(inner, shared), scale, n.width);
  for (int64_t i = threadIdx.x * N; i < n.width; i += blockDim.x * N) {
    const Pack<float, N> in = Load<N>(from + i), d = Load<N>(up + i), w = Load<N>(n.weight + i);
    Pack<float, N> dx = Load<N>(n.dx + row * n.width + i);
    StoreNormed(n, row * n.width + i, in, w, scale);
    for (int j = 0; j < N; ++j) {
      dx.value[j] += d.value[j] * w.value[j] * scale - in.value[j] * common;
    }
    StoreGradient(n, row * n.width + i, dx);
  }
}

__global__ void NormWeightPartials(const DeviceNormBackward n) {
  SliceSum(n.rows, n.width, n.partial, [&](int64_t row, int64_t column) {
    const int64_t at = row * n.width + column;
    return n.dy[at] * (n.x[at] * n.scale[row]);
  });
}

// The kernel of this width; false where there is none.
template <int kQuads = 1>
bool LaunchSlices(DeviceContext* context, const DeviceNormBackward& n) {
  if constexpr (kQuads <= kMostQuads) {
    if (n.width != kQuads * kQuadsWidth) return LaunchSlices<kQuads + 1>(context, n);
    const auto slices = static_cast<unsigned>(SlicesOf(n.rows));
    NormSlicesBackward<kQuads><<<slices, kSliceWarps * 32, 0, context->stream>>>(n);
    return true;
  }
  return false;
}

}  // namespace

void RmsNorm(DeviceContext* context, const DeviceNorm& n) {
  if (n.rows == 0) return;
  WithElement(n.element, [&](auto* type) {
    using T = TypeOf<decltype(type)>;
    auto kernel = Whole(n.width, 4) ? NormRows<T, 4> : NormRows<T, 1>;
    if (Whole(n.width, 4)) {
      switch ((n.width + 4 * kThreadsOfRow - 1) / (4 * kThreadsOfRow)) {
        case 1: kernel = NormHeldRows<T, 1>; break;
        case 2: kernel = NormHeldRows<T, 2>; break;
        case 3: kernel = NormHeldRows<T, 3>; break;
        case 4: kernel = NormHeldRows<T, 4>; break;
        case 5:
        case 6:
        case 7:
        case 8: kernel = NormHeldRows<T, 8>; break;
        default: break;
      }
    }
    LaunchEarly(context, {"rms_norm", dim3(BlocksFor(n.rows, 1)), dim3(kThreadsOfRow)}, kernel, n);
  });
}

void RmsNormBackward(DeviceContext* context, const DeviceNormBackward& n) {
  if (n.rows == 0) return;
  if (!LaunchSlices(context, n)) {
    if (Whole(n.width, 4)) {
      NormRowsBackward<4><<<BlocksFor(n.rows, 1), kThreadsOfRow, 0, context->stream>>>(n);
    } else {
      NormRowsBackward<1><<<BlocksFor(n.rows, 1), kThreadsOfRow, 0, context->stream>>>(n);
    }
    NormWeightPartials<<<SliceGrid(n.rows, n.width), kFlatThreads, 0, context->stream>>>(n);
  }
  Launched(context, "rms_norm_backward");
}

}  // namespace hone::cuda
