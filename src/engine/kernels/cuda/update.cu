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

// The largest of a block of kMomentBlock threads; all get it.
__device__ __forceinline__ float BlockMax(float x, float* shared) {
  x = WarpMax(x);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
  __syncthreads();
  const float largest =
      WarpMax(threadIdx.x % 32 < kMomentBlock / 32 ? shared[threadIdx.x % 32] : 0.0f);
  __syncthreads();
  return largest;
}

// A block of threads per block of moments.
__global__ void AdamWCodes(DeviceAdamW u) {
  __shared__ float shared[32];
  const int64_t block = blockIdx.x, i = block * kMomentBlock + threadIdx.x;
  const float scale = *u.scale;
  const bool here = i < u.n;
  float m = 0, v = 0;
  if (here) {
    const float g = u.gradient[i] * scale;
    m = u.beta1 * FirstMomentOf(u.first_code[i], u.first_scale[block]) + u.rest1 * g;
    v = u.beta2 * SecondMomentOf(u.second_code[i], u.second_scale_of[block]) + u.rest2 * (g * g);
  }
  if (!isfinite(scale)) return;  // the same for all threads
  const float most_first = BlockMax(fabsf(m), shared), most_second = BlockMax(v, shared);
  if (threadIdx.x == 0) {
    u.first_scale[block] = most_first;
    u.second_scale_of[block] = most_second;
  }
  if (!here) return;
  u.first_code[i] = FirstMomentCode(m, most_first);
  u.second_code[i] = SecondMomentCode(v, most_second);
  const float value = Moved(u, u.value[i], m, v);
  u.value[i] = value;
  if (u.rounded != nullptr) {
    reinterpret_cast<__nv_bfloat16*>(u.rounded)[i] = __float2bfloat16_rn(value);
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
    const auto blocks = static_cast<unsigned>((update.n + kMomentBlock - 1) / kMomentBlock);
    AdamWCodes<<<blocks, kMomentBlock, 0, context->stream>>>(update);
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
