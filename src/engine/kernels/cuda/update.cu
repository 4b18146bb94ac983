// What a step does to the weights: the norm of the gradient, AdamW, orthogonal steps.

#include <algorithm>

#include "engine/device/device_room.h"
#include "engine/device/moment_codes.h"
#include "engine/kernels/cuda/context.h"
#include "engine/kernels/cuda/rows.cuh"

namespace hone::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kSquareBlocks = 1024;  // always so many, so that sums have one order
// Newton-Schulz of fifth order, as engine/orthogonal.cpp.
constexpr float kLinear = 3.4445f, kCubic = -4.7750f, kQuintic = 2.0315f;
constexpr int kOrthogonalSteps = 5;

unsigned Blocks(int64_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

__global__ void SquareParts(const float* x, int64_t n, double* parts) {
  __shared__ double shared[32];
  double sum = 0;
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = first; i < n / 4; i += step) {
    const float4 four = reinterpret_cast<const float4*>(x)[i];
    sum += static_cast<double>(four.x) * four.x + static_cast<double>(four.y) * four.y;
    sum += static_cast<double>(four.z) * four.z + static_cast<double>(four.w) * four.w;
  }
  for (int64_t i = n / 4 * 4 + first; i < n; i += step) sum += static_cast<double>(x[i]) * x[i];
  sum = BlockSum(sum, shared);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

__global__ void AddSquareParts(const double* parts, double* squares) {
  __shared__ double shared[32];
  double sum = 0;
  for (int i = threadIdx.x; i < kSquareBlocks; i += blockDim.x) sum += parts[i];
  sum = BlockSum(sum, shared);
  if (threadIdx.x == 0) *squares += sum;
}

__global__ void ScaleOfNorm(const double* squares, double most, double* norm, float* scale) {
  const double length = sqrt(*squares);
  *norm = length;
  if (!isfinite(length)) {
    *scale = __int_as_float(0x7fc00000);
  } else {
    *scale = most > 0 && length > most ? static_cast<float>(most / (length + 1e-6)) : 1.0f;
  }
}

// The new value of a weight from its moments.
__device__ __forceinline__ float Moved(const DeviceAdamW& u, float value, float first,
                                       float second) {
  return value * u.decay - u.step_size * (first / (sqrtf(second) * u.second_scale + u.eps));
}

template <int N>
__global__ void AdamWNumbers(DeviceAdamW u) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i * N >= u.n) return;
  using Floats = Pack<float, N>;
  // All of it is asked for before anything is written: to write where a read is under way halves
  // the speed of the memory.
  const float scale = *u.scale;
  const Floats g = reinterpret_cast<const Floats*>(u.gradient)[i];
  Floats m = reinterpret_cast<const Floats*>(u.first)[i];
  Floats v = reinterpret_cast<const Floats*>(u.second)[i];
  Floats value = reinterpret_cast<const Floats*>(u.value)[i];
  if (!isfinite(scale)) return;
  Pack<__nv_bfloat16, N> rounded;
#pragma unroll
  for (int j = 0; j < N; ++j) {
    const float slope = g.value[j] * scale;
    m.value[j] = u.beta1 * m.value[j] + u.rest1 * slope;
    v.value[j] = u.beta2 * v.value[j] + u.rest2 * (slope * slope);
    value.value[j] = Moved(u, value.value[j], m.value[j], v.value[j]);
    rounded.value[j] = __float2bfloat16_rn(value.value[j]);
  }
  reinterpret_cast<Floats*>(u.first)[i] = m;
  reinterpret_cast<Floats*>(u.second)[i] = v;
  reinterpret_cast<Floats*>(u.value)[i] = value;
  if (u.rounded != nullptr) reinterpret_cast<Pack<__nv_bfloat16, N>*>(u.rounded)[i] = rounded;
}

// Some numbers from `at` on, or as many of them as there are before the end; zeros behind it.
template <int N, typename T>
__device__ __forceinline__ Pack<T, N> LoadBefore(int64_t end, const T* from, int64_t at) {
  if (at + N <= end) return Load<N>(from + at);
  Pack<T, N> pack = {};
  for (int i = 0; i < N && at + i < end; ++i) pack.value[i] = from[at + i];
  return pack;
}
template <int N, typename T>
__device__ __forceinline__ void StoreBefore(int64_t end, const Pack<T, N>& pack, T* to,
                                            int64_t at) {
  if (at + N <= end) return Store(pack, to + at);
  for (int i = 0; i < N && at + i < end; ++i) to[at + i] = pack.value[i];
}

constexpr int kCodesOfLane = kMomentBlock / 32;

// What codes stand for where the scale is 1: to be looked up, for to divide takes long.
struct CodeTables {
  float first[256], second[256];
};

// A warp per block of moments.
__device__ __forceinline__ void UpdateBlock(const DeviceAdamW& u, const CodeTables& codes,
                                            int64_t block, float scale) {
  constexpr int N = kCodesOfLane;
  const int64_t at = block * kMomentBlock + threadIdx.x % 32 * N;
  // All of it is asked for before anything is written.
  const Pack<float, N> g = LoadBefore<N>(u.n, u.gradient, at);
  Pack<float, N> value = LoadBefore<N, float>(u.n, u.value, at);
  Pack<uint8_t, N> first = LoadBefore<N, uint8_t>(u.n, u.first_code, at);
  Pack<uint8_t, N> second = LoadBefore<N, uint8_t>(u.n, u.second_code, at);
  const float first_scale = u.first_scale[block], second_scale = u.second_scale_of[block];
  float m[N], v[N], most_first = 0, most_second = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const float slope = g.value[i] * scale;
    m[i] = u.beta1 * (codes.first[first.value[i]] * first_scale) + u.rest1 * slope;
    v[i] = u.beta2 * (codes.second[second.value[i]] * second_scale) + u.rest2 * (slope * slope);
    most_first = fmaxf(most_first, fabsf(m[i]));
    most_second = fmaxf(most_second, v[i]);
  }
  most_first = WarpMax(most_first);
  most_second = WarpMax(most_second);
  Pack<__nv_bfloat16, N> rounded;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    first.value[i] = FirstMomentCode(m[i], most_first);
    second.value[i] = SecondMomentCode(v[i], most_second);
    value.value[i] = Moved(u, value.value[i], m[i], v[i]);
    rounded.value[i] = __float2bfloat16_rn(value.value[i]);
  }
  if (threadIdx.x % 32 == 0) {
    u.first_scale[block] = most_first;
    u.second_scale_of[block] = most_second;
  }
  StoreBefore(u.n, first, u.first_code, at);
  StoreBefore(u.n, second, u.second_code, at);
  StoreBefore(u.n, value, u.value, at);
  if (u.rounded != nullptr) {
    StoreBefore(u.n, rounded, reinterpret_cast<__nv_bfloat16*>(u.rounded), at);
  }
}

__global__ void __launch_bounds__(kThreads) AdamWCodes(const DeviceAdamW u) {
  __shared__ CodeTables codes;
  for (int code = threadIdx.x; code < 256; code += kThreads) {
    codes.first[code] = FirstMomentOf(static_cast<uint8_t>(code), 1.0f);
    codes.second[code] = SecondMomentOf(static_cast<uint8_t>(code), 1.0f);
  }
  __syncthreads();
  const float scale = *u.scale;
  if (!isfinite(scale)) return;
  const int64_t blocks = (u.n + kMomentBlock - 1) / kMomentBlock;
  for (int64_t block = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32; block < blocks;
       block += int64_t{gridDim.x} * (kThreads / 32)) {
    UpdateBlock(u, codes, block, scale);
  }
}

__global__ void MomentumNumbers(const DeviceMomentum u) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const float scale = *u.scale;
  if (i >= u.n) return;
  const float slope = u.gradient[i] * scale;
  if (!isfinite(scale)) return;
  const float m = u.momentum * u.moment[i] + slope;
  u.moment[i] = m;
  u.step[i] = slope + u.momentum * m;
}

// x = step / (its norm + 1e-7), in bfloat16; zeros stay zeros.
__global__ void Normalized(const float* step, const double* squares, int64_t n, __nv_bfloat16* x) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] = __float2bfloat16_rn(step[i] * static_cast<float>(1 / (sqrt(*squares) + 1e-7)));
  }
}

// polynomial = linear + cubic gram + quintic gram²; `squared` holds gram².
__global__ void Polynomial(const __nv_bfloat16* gram, const float* squared, int64_t side,
                           __nv_bfloat16* polynomial) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= side * side) return;
  float value = kCubic * __bfloat162float(gram[i]) + kQuintic * squared[i];
  if (i / side == i % side) value += kLinear;
  polynomial[i] = __float2bfloat16_rn(value);
}

// `step` is what has become of o.step.
__global__ void TakeStep(const DeviceOrthogonal o, const __nv_bfloat16* step) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= o.rows * o.columns || !isfinite(*o.scale)) return;
  const float moved = o.decay * o.value[i] - o.size * __bfloat162float(step[i]);
  o.value[i] = moved;
  if (o.rounded != nullptr) {
    reinterpret_cast<__nv_bfloat16*>(o.rounded)[i] = __float2bfloat16_rn(moved);
  }
}

__global__ void MixWeights(const DeviceMix m) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= m.n) return;
  const float own = static_cast<float>(1 - m.share), theirs = static_cast<float>(m.share);
  m.value[i] = m.share == 1 ? m.others[i] : own * m.value[i] + theirs * m.others[i];
}

}  // namespace

void AddSquares(DeviceContext* context, const float* x, int64_t n, double* squares) {
  auto* parts = static_cast<double*>(context->scratch);
  SquareParts<<<kSquareBlocks, kThreads, 0, context->stream>>>(x, n, parts);
  AddSquareParts<<<1, kThreads, 0, context->stream>>>(parts, squares);
  Launched(context, "add_squares");
}

void NormScale(DeviceContext* context, const double* squares, double most, double* norm,
               float* scale) {
  ScaleOfNorm<<<1, 1, 0, context->stream>>>(squares, most, norm, scale);
  Launched(context, "norm_scale");
}

void AdamW(DeviceContext* context, const DeviceAdamW& update) {
  if (update.n == 0) return;
  if (update.first != nullptr) {
    if (update.n % 4 == 0) {
      AdamWNumbers<4><<<Blocks(update.n / 4), kThreads, 0, context->stream>>>(update);
    } else {
      AdamWNumbers<1><<<Blocks(update.n), kThreads, 0, context->stream>>>(update);
    }
  } else {
    constexpr int64_t kBlocksOfProcessor = 16;  // so that tables are made for many moments
    const int64_t most = context->properties.multiProcessorCount * kBlocksOfProcessor;
    const auto blocks =
        static_cast<unsigned>(std::min<int64_t>(Blocks(update.n / kCodesOfLane + 1), most));
    AdamWCodes<<<blocks, kThreads, 0, context->stream>>>(update);
  }
  Launched(context, "adamw");
}

void Momentum(DeviceContext* context, const DeviceMomentum& update) {
  MomentumNumbers<<<Blocks(update.n), kThreads, 0, context->stream>>>(update);
  Launched(context, "momentum");
}

namespace {

// What is between the steps of the iteration, in its room (OrthogonalRoomBytes): the step and its
// next, the Gram matrix, its square and the polynomial.
struct OrthogonalParts {
  __nv_bfloat16 *x, *next, *gram, *polynomial;
  float* squared;
  double* squares;

  OrthogonalParts(int64_t n, int64_t side, void* room) {
    auto* at = static_cast<char*>(room);
    auto take = [&](int64_t bytes) {
      char* part = at;
      at += AlignedRoom(bytes);
      return part;
    };
    x = reinterpret_cast<__nv_bfloat16*>(take(n * 2));
    next = reinterpret_cast<__nv_bfloat16*>(take(n * 2));
    gram = reinterpret_cast<__nv_bfloat16*>(take(side * side * 2));
    polynomial = reinterpret_cast<__nv_bfloat16*>(take(side * side * 2));
    squared = reinterpret_cast<float*>(take(side * side * 4));
    squares = reinterpret_cast<double*>(take(sizeof(double)));
  }
};

// gram = x x^T of rows, or x^T x of columns: of the shorter side. squared = gram².
void GramAndSquare(DeviceContext* context, const DeviceOrthogonal& o,
                   const OrthogonalParts& parts) {
  using Form = DeviceProduct::Form;
  const bool wide = o.rows <= o.columns;
  DeviceProduct p;
  p.form = wide ? Form::kForward : Form::kWeight;
  p.m = p.n = std::min(o.rows, o.columns);
  p.k = std::max(o.rows, o.columns);
  p.a = p.b = parts.x;
  p.a_row = p.b_row = o.columns;
  p.out = parts.gram;
  p.out_row = p.n;
  p.output = Element::kBf16;
  FreeProduct(context, p);
  p.form = Form::kForward;  // symmetric: its own transpose
  p.k = p.n;
  p.a = p.b = parts.gram;
  p.a_row = p.b_row = p.n;
  p.out = parts.squared;
  p.output = Element::kF32;
  FreeProduct(context, p);
}

// next = polynomial x, or x polynomial.
void MultiplyByPolynomial(DeviceContext* context, const DeviceOrthogonal& o,
                          const OrthogonalParts& parts) {
  const bool wide = o.rows <= o.columns;
  DeviceProduct p;
  p.form = DeviceProduct::Form::kInput;
  p.m = o.rows;
  p.n = o.columns;
  p.k = std::min(o.rows, o.columns);
  p.a = wide ? parts.polynomial : parts.x;
  p.b = wide ? parts.x : parts.polynomial;
  p.a_row = p.k;
  p.b_row = o.columns;
  p.out = parts.next;
  p.out_row = o.columns;
  p.output = Element::kBf16;
  FreeProduct(context, p);
}

}  // namespace

// Products in bfloat16, as Muon's authors do it: the iteration forgives what is rounded.
void OrthogonalStep(DeviceContext* context, const DeviceOrthogonal& o) {
  const int64_t n = o.rows * o.columns, side = std::min(o.rows, o.columns);
  OrthogonalParts parts(n, side, o.room);
  Check(context, cudaMemsetAsync(parts.squares, 0, sizeof(double), context->stream),
        "orthogonal_step");
  AddSquares(context, o.step, n, parts.squares);
  Normalized<<<Blocks(n), kThreads, 0, context->stream>>>(o.step, parts.squares, n, parts.x);
  for (int i = 0; i < kOrthogonalSteps; ++i) {
    GramAndSquare(context, o, parts);
    Polynomial<<<Blocks(side * side), kThreads, 0, context->stream>>>(parts.gram, parts.squared,
                                                                      side, parts.polynomial);
    MultiplyByPolynomial(context, o, parts);
    std::swap(parts.x, parts.next);
  }
  TakeStep<<<Blocks(n), kThreads, 0, context->stream>>>(o, parts.x);
  Launched(context, "orthogonal_step");
}

void Mix(DeviceContext* context, const DeviceMix& mix) {
  if (mix.n == 0) return;
  MixWeights<<<Blocks(mix.n), kThreads, 0, context->stream>>>(mix);
  Launched(context, "mix");
}

}  // namespace hone::cuda
