#pragma once

// What the kernels over rows share: numbers that are moved together, blocks for so much work, and
// sums over slices of rows.

#include <cuda_bf16.h>

#include <cstdint>
#include <type_traits>

#include "engine/device/device_api.h"
#include "engine/kernels/cuda/numbers.cuh"

namespace hone::cuda {

inline constexpr int kThreadsOfRow = 128;  // of a block that works on one row
inline constexpr int kFlatThreads = 256;   // of a block that works on numbers one by one

template <typename T>
using TypeOf = std::remove_pointer_t<T>;

inline unsigned BlocksFor(int64_t count, int64_t per_block) {
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

// N numbers that lie together, moved by one instruction where N of them are 16 bytes.
template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
  T value[N];
};

template <int N, typename T>
__device__ __forceinline__ Pack<T, N> Load(const T* from) {
  return *reinterpret_cast<const Pack<T, N>*>(from);
}
template <int N, typename T>
__device__ __forceinline__ void Store(const Pack<T, N>& pack, T* to) {
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

// Whether rows of `width` numbers can be moved N at a time; buffers are aligned.
inline bool Whole(int64_t width, int n) { return width % n == 0; }

__device__ __forceinline__ float Sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
// SwiGLU of one gate and its up.
template <typename T>
__device__ __forceinline__ T Gated(T gate, T up) {
  const float g = ToFloat(gate);
  return FromFloat<T>(g * Sigmoid(g) * ToFloat(up));
}

// partial[slice][column] = the sum over the slice's rows of term(row, column), in their order. A
// thread per column.
template <typename Term>
__device__ __forceinline__ void SliceSum(int64_t rows, int64_t width, float* partial, Term term) {
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= width) return;
  const int64_t begin = int64_t{blockIdx.y} * kSliceRows;
  const int64_t end = min(begin + kSliceRows, rows);
  float sum = 0;
#pragma unroll 8
  for (int64_t row = begin; row < end; ++row) sum += term(row, column);
  partial[blockIdx.y * width + column] = sum;
}
// Its blocks, of kFlatThreads.
inline dim3 SliceGrid(int64_t rows, int64_t width) {
  return dim3(BlocksFor(width, kFlatThreads), static_cast<unsigned>(SlicesOf(rows)));
}

}  // namespace hone::cuda
