#pragma once

// Numbers of either element type, and sums over a warp or a block in one fixed order.

#include <cuda_bf16.h>

#include "engine/device/device_api.h"

namespace hone::cuda {

__device__ __forceinline__ float ToFloat(float x) { return x; }
__device__ __forceinline__ float ToFloat(__nv_bfloat16 x) { return __bfloat162float(x); }
template <typename T>
__device__ __forceinline__ T FromFloat(float x);
template <>
__device__ __forceinline__ float FromFloat<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ __nv_bfloat16 FromFloat<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}

// Calls f with a null pointer of the element's type: the kernels are templates of it.
template <typename F>
void WithElement(Element element, F f) {
  if (element == Element::kF32) {
    f(static_cast<float*>(nullptr));
  } else {
    f(static_cast<__nv_bfloat16*>(nullptr));
  }
}

// Every lane gets the sum; always the same tree.
template <typename T>
__device__ __forceinline__ T WarpSum(T x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}
__device__ __forceinline__ float WarpMax(float x) {
  for (int step = 16; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}

// Of a block of whole warps, at most 32 of them; every thread gets the sum. `shared` has room for
// 32 numbers and may be used again at once.
template <typename T>
__device__ __forceinline__ T BlockSum(T x, T* shared) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  x = WarpSum(x);
  if (lane == 0) shared[warp] = x;
  __syncthreads();
  T total = WarpSum(lane < warps ? shared[lane] : T(0));
  __syncthreads();
  return total;
}

}  // namespace hone::cuda
